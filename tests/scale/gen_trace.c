/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen_trace: the trace folder of a training job that nobody ran, of any size, the same for the same options.
 *
 *   gen_trace [-a ALLOCATIONS] [-r ROWS] [-g GPUS] [-w WORKERS] [-c CPUS] [-d DISKS] [-f FILES] [-s SECONDS] DIR
 *
 * ROWS (1000000) of calls and requests; a trainer for each GPU (16), WORKERS (128) data loaders among them,
 * three epochs that read, each with a checkpoint behind it, in SECONDS (600); all collectors, sched.out,
 * marks; ALLOCATIONS (0) and frees in alloc.out, with sites.out. The last line says how many rows there are and
 * of how many bytes. Shares no code with dltraced.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SEC 1000000000ULL
#define BEGIN_NS (1000 * SEC) /* CLOCK_MONOTONIC */
#define BEGIN_UTC 1795305600ULL /* 2026-11-22T00:00:00Z */
#define BUFFER (1U << 20)
#define ROW_MAX 2048
#define EPOCHS 3
#define FIRST_PID 1000

static struct {
	uint64_t rows, gpus, workers, cpus, disks, files, seconds, allocs;
} o = { 1000000, 16, 128, 32, 4, 20000, 600, 0 };

static int dirfd;

static void die(const char *what)
{
	fprintf(stderr, "gen_trace: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* --- files ---------------------------------------------------------------------------------------- */

enum {
	BIO,
	CLOSE,
	CREATE_DEL,
	MMAP,
	OPEN,
	SYNC,
	VFS_RW,
	SCHED,
	PIDS,
	FILES,
	TIME_ALIGN,
	MARKS,
	ALLOC,
	SITES,
	CPU,
	DISK,
	GPU,
	GPU_DEV,
	N_OUTS
};

#define OUT(n, c, p)                                      \
	{                                                 \
		.name = (n), .columns = (c), .probe = (p) \
	}
static struct out {
	const char *name, *columns;
	bool probe; /* is among `probes' of the manifest */
	int fd;
	size_t len;
	uint64_t rows, bytes;
	char *buf;
} outs[N_OUTS] = {
	[BIO] = OUT("bio",
		    "PID TID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT_NS QLAT_NS FLAGS STATUS "
		    "KIND FID FOFF EXTENTS WPID WTID WCOMM WN FILE",
		    true),
	[CLOSE] = OUT("close", "PID TID COMM FUNC LAT_NS RET FD LAST FID FILE", true),
	[CREATE_DEL] = OUT("create_del", "PID TID COMM FUNC LAT_NS RET MODE FLAGS FID PATH PATH2", true),
	[MMAP] = OUT("mmap", "PID TID COMM FUNC LAT_NS RET ADDR LEN PROT FLAGS FD OFFSET OLD_ADDR OLD_LEN FID FILE",
		     true),
	[OPEN] = OUT("open", "PID TID COMM FUNC LAT_NS VFS_LAT_NS RET FLAGS MODE FID FILE PATH REALPATH", true),
	[SYNC] = OUT("sync", "PID TID COMM FUNC LAT_NS RET FD OFFSET LEN FID FILE", true),
	[VFS_RW] = OUT("vfs_rw", "PID TID COMM RW FUNC LAT_NS REQUESTED RETURNED OFFSET DISK_BYTES FD FLAGS FID FILE",
		       true),
	[SCHED] = OUT(
		"sched",
		"PID TID COMM KIND CPU CALL SPAN_NS COUNT PREEMPTED RUN_NS RUNQ_NS DISK_NS BLOCKED_NS SLEEP_NS MAX_NS",
		true),
	[PIDS] = OUT("pids", "PID TID PPID COMM EVENT STATUS NSPID UID CGROUP RANK ARGS", true),
	[FILES] = OUT("files", "FID DEV INO TYPE FSTYPE SIZE STATE REALPATH", true),
	[TIME_ALIGN] = OUT("time_align", "REALTIME_NS BOOTTIME_NS ERROR_NS EVENT", true),
	[MARKS] = OUT("marks", "PID TEXT", true),
	[ALLOC] = OUT("alloc", "PID TID COMM FUNC ADDR SIZE OLD_ADDR OLD_SIZE LIFE_NS ALLOC_TID SITE OLD_SITE", true),
	[SITES] = OUT("sites", "FIRST_PID SITE KIND FRAMES BUILD_ID", true),
	[CPU] = OUT("cpu", "CLOCK CPU %usr %nice %sys %iowait %irq %soft %steal %guest %gnice %idle", false),
	[DISK] = OUT("disk", "Device r/s rMB/s w/s wMB/s aqu-sz %util", false),
	[GPU] = OUT("gpu", "gpu pid type sm mem fb command", false),
	[GPU_DEV] = OUT("gpu_dev", "gpu pwr gtemp sm mem fb", false),
};

static void flush(struct out *f)
{
	for (size_t at = 0; at < f->len;) {
		ssize_t n = write(f->fd, f->buf + at, f->len - at);

		if (n < 0)
			die(f->name);
		at += (size_t)n;
	}
	f->bytes += f->len;
	f->len = 0;
}

static void put(struct out *f, const char *s, size_t len)
{
	memcpy(f->buf + f->len, s, len);
	f->len += len;
}

static void put_number(struct out *f, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + v % 10);
	while (v /= 10);
	put(f, digits + at, sizeof(digits) - at);
}

static void open_all(void)
{
	for (int i = 0; i < N_OUTS; i++) {
		struct out *f = &outs[i];
		char name[64];

		if (((i == GPU || i == GPU_DEV) && !o.gpus) || ((i == ALLOC || i == SITES) && !o.allocs))
			continue;
		snprintf(name, sizeof(name), "%s.out", f->name);
		f->fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		f->buf = malloc(BUFFER + ROW_MAX);
		if (f->fd < 0 || !f->buf)
			die(name);
		f->len = (size_t)sprintf(f->buf, "# dltraced %s 1\nTIMESTAMP\tTIME\t", f->name);
		for (const char *c = f->columns; *c; c++)
			f->buf[f->len++] = *c == ' ' ? '\t' : *c;
		f->buf[f->len++] = '\n';
	}
}

static uint64_t utc_s(uint64_t ns)
{
	return BEGIN_UTC + (ns - BEGIN_NS) / SEC;
}

/* TIMESTAMP and TIME. */
static void begin_row(struct out *f, uint64_t ns)
{
	static uint64_t last_s;
	static char date[32];
	time_t s = (time_t)utc_s(ns);
	uint64_t fraction = (ns - BEGIN_NS) % SEC;
	char digits[9];

	if (last_s != (uint64_t)s) {
		struct tm tm;

		last_s = (uint64_t)s;
		strftime(date, sizeof(date), "\t%Y-%m-%dT%H:%M:%S.", gmtime_r(&s, &tm));
	}
	put_number(f, ns);
	put(f, date, 21);
	for (int i = 8; i >= 0; i--, fraction /= 10)
		digits[i] = (char)('0' + fraction % 10);
	put(f, digits, 9);
	put(f, "Z", 1);
}

static void text(struct out *f, const char *s)
{
	f->buf[f->len++] = '\t';
	put(f, s, strlen(s));
}

static void number(struct out *f, uint64_t v)
{
	f->buf[f->len++] = '\t';
	put_number(f, v);
}

static void hundredths(struct out *f, uint64_t v)
{
	number(f, v / 100);
	f->buf[f->len++] = '.';
	f->buf[f->len++] = (char)('0' + v / 10 % 10);
	f->buf[f->len++] = (char)('0' + v % 10);
}

static void end_row(struct out *f)
{
	f->buf[f->len++] = '\n';
	f->rows++;
	if (f->len >= BUFFER)
		flush(f);
}

/* --- the job -------------------------------------------------------------------------------------- */

struct proc {
	uint64_t pid, ppid, free_ns; /* free_ns: when its last call ended */
	const char *comm;
	char rank[24], file[32];
	uint64_t fid, fd;
};

static struct proc *procs; /* trainers, then loaders */
static uint64_t n_trainers, n_procs;

static uint64_t dice(void)
{
	static uint64_t s = 88172645463325252ULL;

	s ^= s << 13;
	s ^= s >> 7;
	s ^= s << 17;
	return s >> 11;
}

/* Mostly about TYPICAL, sometimes 200 times as much, and never before P's last call ended. */
static uint64_t latency(struct proc *p, uint64_t now_ns, uint64_t typical)
{
	uint64_t ns = typical / 2 + dice() % typical, free_ns = now_ns - p->free_ns;

	if (dice() % 200 == 0)
		ns *= 200;
	p->free_ns = now_ns;
	return ns < free_ns ? ns : free_ns ? free_ns - 1 : 0;
}

enum stage { INIT, READING, EVAL, CHECKPOINT };

/* Returns what the job does at NS; *EPOCH is the number of the epoch, from 0. */
static enum stage stage_at(uint64_t ns, unsigned int *epoch)
{
	uint64_t span = o.seconds * SEC, x = (ns - BEGIN_NS) * 100000 / span, in;

	*epoch = 0;
	if (x < 7000)
		return INIT;
	*epoch = (unsigned int)((x - 7000) / 31000);
	in = (x - 7000) % 31000;
	return in < 26000 ? READING : in < 28000 ? EVAL : CHECKPOINT;
}

static struct out *call(int which, uint64_t ns, const struct proc *p)
{
	struct out *f = &outs[which];

	begin_row(f, ns);
	number(f, p->pid);
	number(f, p->pid);
	text(f, p->comm);
	return f;
}

static void do_open(uint64_t ns, struct proc *p)
{
	struct out *f = call(OPEN, ns, p);
	char path[64];

	p->fid = 1 + dice() % o.files;
	p->fd = 5 + dice() % 20;
	snprintf(p->file, sizeof(p->file), "sample.%06" PRIu64, p->fid);
	snprintf(path, sizeof(path), "/data/train/%s", p->file);
	text(f, "openat");
	number(f, latency(p, ns, 12000));
	number(f, 2500);
	number(f, p->fd);
	text(f, "RDONLY|CLOEXEC");
	text(f, "-");
	number(f, p->fid);
	text(f, p->file);
	text(f, path);
	text(f, path);
	end_row(f);
}

static void do_close(uint64_t ns, struct proc *p)
{
	struct out *f = call(CLOSE, ns, p);

	text(f, "close");
	number(f, latency(p, ns, 900));
	number(f, 0);
	number(f, p->fd);
	text(f, "-");
	number(f, p->fid);
	text(f, p->file);
	end_row(f);
}

static void do_mmap(uint64_t ns, struct proc *p)
{
	struct out *f = call(MMAP, ns, p);

	text(f, "mmap");
	number(f, latency(p, ns, 3000));
	text(f, "0x7f1200000000");
	text(f, "0x0");
	number(f, 65536);
	text(f, "READ");
	text(f, "PRIVATE");
	number(f, p->fd);
	number(f, 0);
	text(f, "-");
	text(f, "-");
	number(f, p->fid);
	text(f, p->file);
	end_row(f);
}

static void do_rw(uint64_t ns, struct proc *p, bool write)
{
	uint64_t bytes = write ? 1048576 : 4096ULL << dice() % 6, cached = dice() % 10 < 7;
	struct out *f = call(VFS_RW, ns, p);

	text(f, write ? "W" : "R");
	text(f, write ? "write" : "read");
	number(f, latency(p, ns, write ? 400000 : cached ? 6000 : 250000));
	number(f, bytes);
	number(f, bytes);
	number(f, bytes * (dice() % 16));
	number(f, write || cached ? 0 : bytes);
	number(f, p->fd);
	text(f, "-");
	number(f, write ? o.files + 1 : p->fid);
	text(f, write ? "checkpoint.pt" : p->file);
	end_row(f);
}

static void do_bio(uint64_t ns, struct proc *p, bool write)
{
	uint64_t queue = 2000 + dice() % 20000;
	struct out *f = call(BIO, ns, p);
	char disk[32];

	snprintf(disk, sizeof(disk), "nvme%" PRIu64 "n1", dice() % 3 ? 0 : dice() % o.disks);
	number(f, 0);
	text(f, "swapper/0");
	text(f, disk);
	text(f, write ? "W" : "R");
	number(f, dice() % 1000000000);
	number(f, 4096ULL << dice() % 7);
	number(f, queue + 60000 + (dice() % 100 ? dice() % 90000 : dice() % 9000000));
	number(f, queue);
	text(f, write ? "SYNC" : "RAHEAD");
	number(f, 0);
	text(f, "data");
	number(f, write ? o.files + 1 : p->fid);
	number(f, 4096 * (dice() % 4096));
	number(f, 1);
	if (write) {
		number(f, p->pid);
		number(f, p->pid);
		text(f, p->comm);
		number(f, 1);
	} else {
		for (int i = 0; i < 4; i++)
			text(f, "-");
	}
	text(f, write ? "checkpoint.pt" : p->file);
	end_row(f);
}

static void do_sync(uint64_t ns, struct proc *p)
{
	struct out *f = call(SYNC, ns, p);

	text(f, "fsync");
	number(f, latency(p, ns, 9000000));
	number(f, 0);
	number(f, p->fd);
	text(f, "-");
	text(f, "-");
	number(f, o.files + 1);
	text(f, "checkpoint.pt");
	end_row(f);
}

static void do_create(uint64_t ns, struct proc *p)
{
	struct out *f = call(CREATE_DEL, ns, p);
	bool create = dice() % 2;

	text(f, create ? "create" : "unlink");
	number(f, latency(p, ns, 40000));
	number(f, 0);
	text(f, create ? "0644" : "-");
	text(f, "-");
	number(f, o.files + 1);
	text(f, "/out/checkpoint.pt");
	text(f, "-");
	end_row(f);
}

static void event(uint64_t ns)
{
	unsigned int epoch;
	enum stage stage = stage_at(ns, &epoch);
	uint64_t kind = dice() % 100;
	struct proc *trainer = &procs[dice() % n_trainers];
	struct proc *p = o.workers && stage == READING ? &procs[n_trainers + dice() % o.workers] : trainer;

	if (!p->fid || kind < 8)
		do_open(ns, p);
	else if (kind < 16)
		do_close(ns, p);
	else if (kind < (stage == INIT ? 40 : 18))
		do_mmap(ns, p);
	else if (stage == CHECKPOINT && kind < 22)
		do_sync(ns, trainer);
	else if (stage == CHECKPOINT && kind < 26)
		do_create(ns, trainer);
	else if (kind < 88)
		do_rw(ns, p, stage == CHECKPOINT);
	else
		do_bio(ns, p, stage == CHECKPOINT);
}

/* --- each second ---------------------------------------------------------------------------------- */

static void sched_row(uint64_t ns, uint64_t pid, const char *comm, const char *kind, uint64_t cpu, uint64_t run,
		      uint64_t runq)
{
	struct out *f = &outs[SCHED];

	begin_row(f, ns);
	number(f, pid);
	number(f, pid);
	text(f, comm);
	text(f, kind);
	number(f, cpu);
	text(f, "-");
	number(f, SEC);
	number(f, 100 + run / 10000000);
	number(f, run / 100000000);
	number(f, run);
	number(f, runq);
	text(f, "-\t-\t-\t-");
	end_row(f);
}

static void sched_call(uint64_t ns, const struct proc *p, const char *name, uint64_t disk, uint64_t sleep)
{
	struct out *f = &outs[SCHED];

	begin_row(f, ns);
	number(f, p->pid);
	number(f, p->pid);
	text(f, p->comm);
	text(f, "target");
	text(f, "-");
	text(f, name);
	number(f, SEC);
	number(f, 50);
	text(f, "-\t-\t-");
	number(f, disk);
	number(f, 0);
	number(f, sleep);
	number(f, (disk + sleep) / 20);
	end_row(f);
}

/* Each process stays on its CPU, which is idle for the rest of the second. */
static void sched(uint64_t ns, enum stage stage)
{
	uint64_t per_cpu = (n_procs + o.cpus - 1) / o.cpus;
	char idle[32];

	for (uint64_t cpu = 0; cpu < o.cpus; cpu++) {
		uint64_t left = SEC;

		for (uint64_t i = cpu; i < n_procs; i += o.cpus) {
			bool loads = i >= n_trainers, busy = loads == (stage == READING);
			uint64_t run = SEC / (per_cpu + 1) * (busy ? 60 + dice() % 40 : 5 + dice() % 5) / 100,
				 runq = run / 8;
			uint64_t disk = loads && busy ? (SEC - run - runq) / 2 : 0;

			left -= run;
			sched_row(ns, procs[i].pid, procs[i].comm, "target", cpu, run, runq);
			sched_call(ns, &procs[i], loads ? "read" : "futex", disk, SEC - run - runq - disk);
		}
		snprintf(idle, sizeof(idle), "swapper/%" PRIu64, cpu);
		sched_row(ns, 0, "-", "other", cpu, left / 10, 0);
		sched_row(ns, 0, idle, "idle", cpu, left - left / 10, 0);
	}
}

static void cpu_row(uint64_t ns, const char *name, uint64_t busy)
{
	uint64_t wait = (100 - busy) / 3;
	struct out *f = &outs[CPU];

	begin_row(f, ns);
	text(f, "00:00:00");
	text(f, name);
	hundredths(f, busy * 80);
	text(f, "0.00");
	hundredths(f, busy * 20);
	hundredths(f, wait * 100);
	text(f, "0.00\t0.00\t0.00\t0.00\t0.00");
	hundredths(f, (100 - busy - wait) * 100);
	end_row(f);
}

static void gpu_rows(uint64_t ns, uint64_t g, uint64_t sm)
{
	struct out *f = &outs[GPU];

	begin_row(f, ns);
	number(f, g);
	number(f, procs[g].pid);
	text(f, "C");
	number(f, sm);
	number(f, sm / 2);
	number(f, 61000);
	text(f, "python");
	end_row(f);
	f = &outs[GPU_DEV];
	begin_row(f, ns);
	number(f, g);
	number(f, 90 + sm * 5);
	number(f, 50);
	number(f, sm);
	number(f, sm / 2);
	number(f, ns < BEGIN_NS + o.seconds * SEC / 20 ? 500 : 61000 + g);
	end_row(f);
}

static void disk_row(uint64_t ns, uint64_t d, uint64_t util)
{
	struct out *f = &outs[DISK];
	char name[32];

	snprintf(name, sizeof(name), "nvme%" PRIu64 "n1", d);
	begin_row(f, ns);
	text(f, name);
	hundredths(f, util * 10000);
	hundredths(f, util * 900);
	hundredths(f, util * 10);
	hundredths(f, util);
	hundredths(f, util * 12);
	hundredths(f, util * 100);
	end_row(f);
}

static void second(uint64_t ns, uint64_t n)
{
	unsigned int epoch;
	enum stage stage = stage_at(ns - 1, &epoch);
	struct out *f = &outs[TIME_ALIGN];
	char name[24];

	begin_row(f, ns);
	number(f, utc_s(ns) * SEC);
	number(f, ns);
	number(f, 200 + dice() % 100);
	text(f, n == o.seconds ? "end" : "tick");
	end_row(f);
	sched(ns, stage);
	cpu_row(ns, "all", stage == READING ? 50 + dice() % 20 : 10 + dice() % 10);
	for (uint64_t c = 0; c < o.cpus && (n % 10 == 0 || o.seconds < 30 || o.cpus <= 128); c++) {
		snprintf(name, sizeof(name), "%" PRIu64, c);
		cpu_row(ns, name, stage == READING ? 20 + (c * 7 + dice() % 20) % 80 : dice() % 20);
	}
	for (uint64_t g = 0; g < o.gpus; g++)
		gpu_rows(ns, g, stage == READING || stage == EVAL ? 60 + dice() % 40 : 0);
	for (uint64_t d = 0; d < o.disks; d++)
		disk_row(ns, d, stage == READING ? 40 + dice() % 50 : 5);
}

/* --- rows at the begin and at the end -------------------------------------------------------------- */

static void put_proc(uint64_t ns, const struct proc *p, const char *event, const char *status, const char *args)
{
	struct out *f = &outs[PIDS];

	begin_row(f, ns);
	number(f, p->pid);
	number(f, p->pid);
	number(f, p->ppid);
	text(f, p->comm);
	text(f, event);
	text(f, status);
	number(f, p->pid);
	number(f, 1000);
	text(f, "/");
	text(f, p->rank);
	text(f, args);
	end_row(f);
}

static void put_procs(void)
{
	static struct proc root = { .pid = FIRST_PID - 1, .ppid = 1, .comm = "torchrun", .rank = "-" };

	put_proc(BEGIN_NS, &root, "exec", "-", "torchrun\\000train.py");
	for (uint64_t i = 0; i < n_procs; i++) {
		struct proc *p = &procs[i];
		bool trains = i < n_trainers;
		uint64_t trainer = trains ? i : (i - n_trainers) % n_trainers;

		*p = (struct proc){
			.pid = FIRST_PID + i,
			.ppid = trains ? root.pid : FIRST_PID + trainer,
			.free_ns = BEGIN_NS,
			.comm = trains ? "python" : "pt_data_worker",
		};
		snprintf(p->rank, sizeof(p->rank), "%" PRIu64, trainer);
		put_proc(BEGIN_NS + i + 1, p, "fork", "-", "-");
	}
}

static void put_ends(void)
{
	for (uint64_t i = n_procs; i-- > 0;)
		put_proc(BEGIN_NS + o.seconds * SEC - i - 1, &procs[i], "exit", "0", "-");
}

static void put_file(uint64_t fid, const char *path, uint64_t bytes)
{
	struct out *f = &outs[FILES];

	begin_row(f, BEGIN_NS + fid);
	number(f, fid);
	text(f, "259:2");
	number(f, 1000 + fid);
	text(f, "reg");
	text(f, "ext4");
	number(f, bytes);
	text(f, "ok");
	text(f, path);
	end_row(f);
}

static void put_files(void)
{
	char path[64];

	for (uint64_t fid = 1; fid <= o.files; fid++) {
		snprintf(path, sizeof(path), "/data/train/sample.%06" PRIu64, fid);
		put_file(fid, path, 2097152);
	}
	put_file(o.files + 1, "/out/checkpoint.pt", 1 << 30);
}

/* Like `dltraced mark': an epoch and a checkpoint have a begin and an end. */
static void put_mark(uint64_t part, const char *name)
{
	struct out *f = &outs[MARKS];

	begin_row(f, BEGIN_NS + o.seconds * SEC / 100000 * part);
	number(f, FIRST_PID);
	text(f, name);
	end_row(f);
}

static void put_marks(void)
{
	put_mark(0, "init_start");
	put_mark(7000, "init_stop");
	for (unsigned int e = 0; e < EPOCHS; e++) {
		uint64_t from = 7000 + e * 31000;

		put_mark(from, "epoch_start");
		put_mark(from + 26000, "epoch_stop");
		put_mark(from + 26000, "eval_start");
		put_mark(from + 28000, "eval_stop");
		put_mark(from + 28000, "checkpoint_start");
		put_mark(from + 31000, "checkpoint_stop");
	}
}

/* --- memory --------------------------------------------------------------------------------------- */

#define STACKS 12
#define LIVE_MAX 4096

/* Blocks in use, of all processes. */
static struct block {
	const struct proc *p;
	uint64_t addr, size, ns, tid, site;
} live[LIVE_MAX];
static uint64_t n_live;

/* A row about B; AT_NS is its allocation's or, with FUNC free or end, when it went. */
static void put_alloc(uint64_t at_ns, uint64_t tid, const char *func, const struct block *b)
{
	struct out *f = &outs[ALLOC];
	const bool gone = at_ns != b->ns;
	char addr[32];

	snprintf(addr, sizeof(addr), "0x%" PRIx64, b->addr);
	begin_row(f, at_ns);
	number(f, b->p->pid);
	number(f, tid);
	text(f, b->p->comm);
	text(f, func);
	text(f, addr);
	number(f, b->size);
	text(f, "-");
	text(f, "-");
	if (gone) {
		number(f, at_ns - b->ns);
		number(f, b->tid);
	} else {
		text(f, "-");
		text(f, "-");
	}
	number(f, b->site);
	text(f, "-");
	end_row(f);
}

static void put_site(uint64_t site, const char *kind, const char *frames, const char *id)
{
	struct out *f = &outs[SITES];

	begin_row(f, BEGIN_NS + site);
	number(f, FIRST_PID);
	number(f, site);
	text(f, kind);
	text(f, frames);
	text(f, id);
	end_row(f);
}

static void put_sites(void)
{
	char frames[128];

	put_site(1, "module", "/opt/torch/lib/libtorch_cpu.so", "5ca1ab1e");
	for (uint64_t i = 2; i < 2 + STACKS; i++) {
		snprintf(frames, sizeof(frames), "1+0x%" PRIx64 ";1+0x10f0;-+0x7f1200000000", 0x40000 + i * 0x120);
		put_site(i, "native", frames, "-");
	}
}

/* A row at NS: an allocation, or where many blocks are in use, mostly a free; a quarter by another thread. */
static void allocate(uint64_t ns)
{
	struct proc *p = &procs[dice() % n_procs];
	const uint64_t tid = p->pid + (dice() % 4 ? 0 : 500), most = o.allocs < 4 * LIVE_MAX ? o.allocs / 4 : LIVE_MAX;
	struct block *b = n_live ? &live[dice() % n_live] : NULL;

	if (b && (n_live >= most || dice() % 3 == 0)) {
		put_alloc(ns, b->p->pid + (dice() % 4 ? 0 : 500), "free", b);
		*b = live[--n_live];
		return;
	}
	b = &live[n_live++];
	*b = (struct block){ p, 0x7f0000000000 + ns % (1ULL << 40), 4096 << dice() % 9, ns, tid, 2 + dice() % STACKS };
	put_alloc(ns, tid, "malloc", b);
}

static void put_allocs(void)
{
	const uint64_t end_ns = BEGIN_NS + o.seconds * SEC - 1;

	put_sites();
	for (uint64_t i = 0; i < o.allocs; i++)
		allocate(BEGIN_NS + (uint64_t)((unsigned __int128)o.seconds * SEC * (i + 1) / (o.allocs + 2)));
	while (n_live--)
		put_alloc(end_ns, live[n_live].p->pid, "end", &live[n_live]);
}

static void put_manifest(void)
{
	int fd = openat(dirfd, "manifest.json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	FILE *m = fd < 0 ? NULL : fdopen(fd, "w");
	const char *comma = "";
	char end[32];
	struct tm tm;
	time_t s = (time_t)(BEGIN_UTC + o.seconds);

	if (!m)
		die("manifest.json");
	strftime(end, sizeof(end), "%Y-%m-%dT%H:%M:%S", gmtime_r(&s, &tm));
	fprintf(m,
		"{\n  \"tool\": \"dltraced\", \"version\": \"0.1.0\", \"schema\": 1, \"complete\": true,\n"
		"  \"host\": \"node1\", \"kernel\": \"Linux 6.8.0-48-generic x86_64\",\n"
		"  \"cmdline\": [\"dltraced\", \"start\"],\n"
		"  \"workload\": {\"argv\": [\"torchrun\", \"train.py\"], \"pid\": %d, \"status\": 0, \"user\": \"ada\"},\n"
		"  \"start\": {\"monotonic_ns\": %llu, \"utc\": \"2026-11-22T00:00:00.000000000Z\"},\n"
		"  \"end\": {\"monotonic_ns\": %llu, \"utc\": \"%s.000000000Z\"},\n  \"probes\": [",
		FIRST_PID - 1, BEGIN_NS, BEGIN_NS + o.seconds * SEC, end);
	for (int i = 0; i < N_OUTS; i++) {
		if (!outs[i].probe || !outs[i].fd)
			continue;
		fprintf(m,
			"%s\n    {\"name\": \"%s\", \"backend\": \"tracepoint\", \"rows\": %" PRIu64 ", \"lost\": 0}",
			comma, outs[i].name, outs[i].rows);
		comma = ",";
	}
	fputs("\n  ],\n  \"collectors\": [", m);
	comma = "";
	for (int i = 0; i < N_OUTS; i++) {
		if (outs[i].probe)
			continue;
		fprintf(m, "%s\n    {\"name\": \"%s\", \"state\": \"%s\", \"rows\": %" PRIu64 "}", comma, outs[i].name,
			outs[i].buf ? "stopped" : "not found", outs[i].rows);
		comma = ",";
	}
	fputs("\n  ],\n", m);
	if (o.allocs)
		fputs("  \"alloc\": {\"min_bytes\": 4096, \"sites\": \"native\", \"small_calls\": 1234, \"small_bytes\": 98765},\n",
		      m);
	fputs("  \"self\": {\"pid\": 7, \"cpu_user_us\": 1000, \"cpu_system_us\": 2500}\n}\n", m);
	if (fclose(m) != 0)
		die("manifest.json");
}

/* --- all of it ------------------------------------------------------------------------------------ */

static void generate(void)
{
	uint64_t seconds = 0;
	unsigned __int128 span = o.seconds * SEC;

	put_procs();
	put_files();
	put_marks();
	begin_row(&outs[TIME_ALIGN], BEGIN_NS);
	number(&outs[TIME_ALIGN], BEGIN_UTC * SEC);
	number(&outs[TIME_ALIGN], BEGIN_NS);
	number(&outs[TIME_ALIGN], 240);
	text(&outs[TIME_ALIGN], "start");
	end_row(&outs[TIME_ALIGN]);
	for (uint64_t i = 0; i < o.rows; i++) {
		uint64_t ns = BEGIN_NS + (uint64_t)(span * (i + 1) / (o.rows + 1));

		for (; seconds < o.seconds && ns >= BEGIN_NS + (seconds + 1) * SEC; seconds++)
			second(BEGIN_NS + (seconds + 1) * SEC, seconds + 1);
		event(ns);
	}
	for (; seconds < o.seconds; seconds++)
		second(BEGIN_NS + (seconds + 1) * SEC, seconds + 1);
	put_ends();
	if (o.allocs)
		put_allocs();
}

int main(int argc, char **argv)
{
	static const struct {
		char c;
		uint64_t *value;
	} options[] = {
		{ 'r', &o.rows },  { 'g', &o.gpus },  { 'w', &o.workers }, { 'c', &o.cpus },
		{ 'd', &o.disks }, { 'f', &o.files }, { 's', &o.seconds }, { 'a', &o.allocs },
	};
	uint64_t rows = 0, bytes = 0;
	int c;

	while ((c = getopt(argc, argv, "r:g:w:c:d:f:s:a:")) != -1)
		for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
			if (options[i].c == c)
				*options[i].value = strtoull(optarg, NULL, 10);
	if (optind + 1 != argc || !o.cpus || !o.disks || !o.files || !o.seconds) {
		fprintf(stderr,
			"usage: gen_trace [-a ALLOCATIONS] [-r ROWS] [-g GPUS] [-w WORKERS] [-c CPUS] [-d DISKS] [-f FILES] [-s SECONDS] DIR\n");
		return 2;
	}
	if (mkdir(argv[optind], 0777) < 0 && errno != EEXIST)
		die(argv[optind]);
	dirfd = open(argv[optind], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n_trainers = o.gpus ? o.gpus : 1;
	n_procs = n_trainers + o.workers;
	procs = calloc(n_procs, sizeof(*procs));
	if (dirfd < 0 || !procs)
		die(argv[optind]);
	open_all();
	generate();
	for (int i = 0; i < N_OUTS; i++) {
		if (!outs[i].buf)
			continue;
		flush(&outs[i]);
		if (close(outs[i].fd) < 0)
			die(outs[i].name);
		free(outs[i].buf);
		rows += outs[i].rows;
		bytes += outs[i].bytes;
	}
	put_manifest();
	free(procs);
	printf("%" PRIu64 " rows, %" PRIu64 " bytes\n", rows, bytes);
	return 0;
}
