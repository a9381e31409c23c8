/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of every probe, compared whole with tests/golden/<probe>.txt: the text of the kernel side's records, with a
 * line for each escape, longest value, negative value, "-" and "?".
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "dlt/bio.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/files.h"
#include "dlt/marks.h"
#include "dlt/mmap.h"
#include "dlt/open.h"
#include "dlt/pids.h"
#include "dlt/printed.h"
#include "dlt/rollup.h"
#include "dlt/sched.h"
#include "dlt/sched_switch.h"
#include "dlt/sync.h"
#include "dlt/time_align.h"
#include "dlt/vfs_rw.h"
#include "dlt/workload.h"
#include "drain/rows/decode.h"
#include "drain/rows/printed.h"
#include "kernel/syscalls.h"
#include "records.h"

/* Every byte that must be escaped, and ä and 嗨, which need not. */
#define HOSTILE "\t\n\r \x01\x7f\"#\\\xff\xc3\xa4\xe5\x97\xa8"

static uint16_t func_of(const char *name)
{
	const struct probe *p = probes[record.hdr.probe];

	for (unsigned int i = 0; i < p->n_calls; i++)
		if (!strcmp(p->calls[i].name, name))
			return (uint16_t)i;
	fail_msg("%s has no %s", p->name, name);
	return 0;
}

/* A record of the call NAME. */
static void *rec_call(unsigned int probe, const char *name)
{
	void *rec = rec_begin(probe);

	record.hdr.func = func_of(name);
	return rec;
}

static void set_comm(const char *comm)
{
	memcpy(record.hdr.comm, comm, strnlen(comm, DLT_COMM_LEN - 1) + 1);
}

/* The row of the call NAME, in flight for 3 s. */
static void still_running(unsigned int probe, const char *name, const uint64_t args[6])
{
	struct dlt_call call = { .tid = NO_SUCH_PID, .tgid = NO_SUCH_PID, .probe = (uint8_t)probe };

	rec_begin(probe);
	call.func = (uint8_t)func_of(name);
	call.shape = probes[probe]->calls[call.func].shape;
	call.start_ns = record.hdr.ts_ns - 3 * NSEC_PER_SEC;
	memcpy(call.args, args, sizeof(call.args));
	in_flight_row(&decode, &call, record.hdr.ts_ns);
}

#define ARGS(...)           \
	(const uint64_t[6]) \
	{                   \
		__VA_ARGS__ \
	}

/* --- bio -------------------------------------------------------------------------------------- */

static struct dlt_bio *bio_begin(void)
{
	struct dlt_bio *rec = rec_begin(DLT_bio);

	rec->sector = 2048;
	rec->bytes = 131072;
	rec->hdr.lat_ns = 90000;
	rec->qlat_ns = 4000;
	memcpy(rec->done_comm, "swapper/3", 10);
	memcpy(rec->disk, "nvme0n1", 8);
	rec->file_off = rec->extents = DLT_NONE;
	rec->writer_tgid = rec->writer_tid = rec->writers = DLT_NONE;
	return rec;
}

static void rows_of_bio(void **state)
{
	struct dlt_bio *rec = bio_begin();

	rec->flags = DLT_BIO_RAHEAD;
	rec_emit();

	rec = bio_begin();
	rec->type = DLT_BIO_WRITE;
	rec->flags = DLT_BIO_SYNC | DLT_BIO_META | DLT_BIO_FUA | DLT_BIO_PREFLUSH | DLT_BIO_SELF;
	rec->status = -EIO;
	set_comm("dltraced");
	rec_emit();

	rec = bio_begin(); /* a flush has no place */
	rec->type = DLT_BIO_FLUSH;
	rec->sector = DLT_NONE;
	rec->bytes = 0;
	rec->done_tgid = 17;
	memcpy(rec->done_comm, HOSTILE, DLT_COMM_LEN);
	rec_emit();

	rec = bio_begin(); /* a disk without a queue; its longest name */
	rec->type = DLT_BIO_DISCARD;
	rec->flags = DLT_BIO_BIO;
	rec->qlat_ns = DLT_NONE;
	memset(rec->disk, 'd', sizeof(rec->disk));
	rec_emit();

	rec = bio_begin(); /* still running */
	rec->type = DLT_BIO_ZERO;
	rec->status = rec->done_tgid = DLT_UNKNOWN;
	memset(rec->done_comm, 0, sizeof(rec->done_comm));
	rec_emit();

	rec = bio_begin();
	rec->type = DLT_BIO_OTHER;
	rec->hdr.lat_ns = UINT64_MAX;
	rec->hdr.tgid = rec->hdr.tid = UINT32_MAX;
	rec->sector = INT64_MAX;
	rec->bytes = UINT32_MAX;
	rec->flags = 1 << 20 | DLT_BIO_SYNC;
	memset(rec->disk, 0, sizeof(rec->disk));
	rec->kind = DLT_BIO_UNKNOWN;
	rec->extents = 2;
	rec_emit();

	learn(file_of(11), "/data/ä b");
	rec = bio_begin(); /* of a file; of one without a name in memory; of the journal, which has none */
	rec->kind = DLT_BIO_DATA;
	rec->id = id_of(11);
	rec->file_off = INT64_MAX;
	rec->extents = 1;
	rec->type = DLT_BIO_WRITE;
	rec->writer_tgid = 300;
	rec->writer_tid = 301;
	rec->writers = DLT_BIO_WRITERS;
	memcpy(rec->writer_comm, HOSTILE, DLT_COMM_LEN);
	rec_emit();
	rec = bio_begin();
	rec->kind = DLT_BIO_DIRECT;
	rec->id = id_of(99);
	rec->file_off = 0;
	rec->extents = 1;
	rec_emit();
	rec = bio_begin();
	rec->kind = DLT_BIO_JOURNAL;
	rec->extents = 1;
	rec_emit();

	expect_golden(DLT_bio);
}

/* --- close ------------------------------------------------------------------------------------ */

static void rows_of_close(void **state)
{
	struct dlt_close *rec;

	learn(file_of(11), "/data/img/0001.jpg");
	learn(file_of(12), "/data/" HOSTILE);
	rec = rec_call(DLT_close, "close");
	rec->id = id_of(11);
	rec->fd = 5;
	rec->last = DLT_NONE;
	rec_emit();

	rec = rec_call(DLT_close, "close");
	rec->id = id_of(12);
	rec->fd = 6;
	rec->last = DLT_NONE;
	set_comm(HOSTILE);
	rec_emit();

	rec = rec_call(DLT_close, "close");
	rec->ret = -EBADF;
	rec->fd = -1;
	rec->last = DLT_NONE;
	set_comm("-");
	rec_emit();

	rec = rec_call(DLT_close, "close_range");
	rec->fd = 3;
	rec->last = UINT32_MAX;
	set_comm("?");
	rec_emit();

	rec = rec_call(DLT_close, "close"); /* its name never came */
	rec->id = id_of(13);
	rec->fd = 7;
	rec->last = DLT_NONE;
	memset(record.hdr.comm, 'c', DLT_COMM_LEN);
	rec_emit();

	still_running(DLT_close, "close", ARGS(8));
	still_running(DLT_close, "close_range", ARGS(3, UINT32_MAX));
	expect_golden(DLT_close);
}

/* --- create_del ------------------------------------------------------------------------------- */

/* A call on PATH relative to BASE (NULL: PATH is absolute), and on PATH2 in the same way. */
static struct dlt_create_del *cd(const char *call, const char *path, const char *base, const char *path2,
				 const char *base2)
{
	struct dlt_create_del *rec = rec_call(DLT_create_del, call);

	rec->mode = rec->flags = DLT_NONE;
	rec_str(&rec->segs, 0, path);
	if (path2)
		rec_str(&rec->segs, 1, path2);
	if (base)
		rec_path(&rec->segs, 2, base);
	if (base2)
		rec_path(&rec->segs, 3, base2);
	return rec;
}

static void rows_of_create_del(void **state)
{
	struct dlt_open *open;
	struct dlt_create_del *rec;

	open = rec_call(DLT_open, "openat");
	open->file = file_of(11);
	open->flags = O_WRONLY | O_CREAT | O_EXCL;
	open->mode = 0640;
	open->created = 1;
	rec_str(&open->segs, 0, "./ckpt.tmp");
	rec_path(&open->segs, 1, "/out/ckpt.tmp");
	rec_path(&open->segs, 2, "/out");
	rec_emit();

	rec = cd("mkdirat", "a//b/./c/", "/", NULL, NULL);
	rec->mode = 01777;
	rec_emit();

	rec = cd("mknod", "/dev/x", NULL, NULL, NULL);
	rec->mode = S_IFCHR | 0600;
	rec->ret = -EPERM;
	rec_emit();

	cd("rename", "ckpt.tmp", "/out", "../out/" HOSTILE, "/out");
	rec_emit();

	rec = cd("renameat2", "/out/a", NULL, "/out/b", NULL);
	rec->ret = -ENOENT;
	rec->flags = 1;
	rec_emit();

	cd("symlink", "link", "/out", "../some/text", NULL);
	rec_emit();
	cd("symlinkat", "link2", "/out", "-", NULL);
	rec_emit();
	cd("symlinkat", "?", "/out", "?", NULL);
	rec_emit();

	rec = cd("linkat", "/out/../out/" HOSTILE, NULL, "x", "/out"); /* the renamed file's name */
	rec->flags = 0;
	rec_emit();

	rec = cd("unlinkat", "-", NULL, NULL, NULL); /* its folder could not be read */
	rec->flags = 0x200;
	rec_emit();

	cd("unlink", "/out/../out/" HOSTILE, NULL, NULL, NULL);
	rec_emit();
	cd("rmdir", "/out/../out/" HOSTILE, NULL, NULL, NULL); /* removed already */
	rec_emit();

	rec = cd("unlink", "", NULL, NULL, NULL);
	rec->ret = -ENOENT;
	rec_emit();

	still_running(DLT_create_del, "rename", ARGS(0)); /* and its memory cannot be read */
	expect_golden(DLT_create_del);
}

/* --- files ------------------------------------------------------------------------------------ */

static void learn_as(uint64_t ino, uint32_t mode, uint64_t magic, const char *fstype, uint32_t flags, const char *path)
{
	struct dlt_file file = { .id = id_of(ino), .mode = mode, .magic = magic, .flags = flags };

	memcpy(file.fstype, fstype, strnlen(fstype, sizeof(file.fstype)));
	learn(file, path);
}

static void rows_of_files(void **state)
{
	const uint32_t floating = DLT_PATH_FLOATING | DLT_PATH_UNREACHABLE | DLT_PATH_DELETED;
	struct dlt_file most = file_of(UINT64_MAX), stacked = file_of(24);
	struct dlt_close *rec;
	struct dlt_create_del *moved;

	learn(file_of(11), "/data/img/0001.jpg");
	learn(file_of(12), "/data/" HOSTILE);
	learn_as(13, S_IFDIR | 0755, 0x01021994, "tmpfs", 0, "");
	learn_as(14, S_IFCHR | 0666, 0x01021994, "devtmpfs", 0, "/dev/null");
	learn_as(15, S_IFREG | 0600, 0x6969, "nfs4", DLT_PATH_DELETED, "/mnt/gone");
	learn_as(16, S_IFREG, 0x6969, "sixteen bytes !!", DLT_PATH_UNREACHABLE, "/host/file");
	learn_as(17, S_IFREG | 0600, 0xef53, "ext4", DLT_PATH_TRUNCATED, "/deep/in/the/tree");
	learn_as(18, S_IFIFO | 0600, 0x50495045, "pipefs", floating, "/");
	learn_as(19, S_IFSOCK | 0777, 0x534f434b, "sockfs", floating, "/TCP");
	learn_as(20, 0600, 0x09041934, "anon_inodefs", floating, "/[eventpoll]");
	learn_as(21, S_IFREG | 0777, 0x01021994, "tmpfs", floating, "/memfd:a b");
	learn_as(22, S_IFREG | 0600, 0x01021994, "tmpfs", 0, "/dev/shm/sem.x");
	most.id.dev = most.id.gen = UINT32_MAX;
	most.size = UINT64_MAX;
	learn(most, "/-");

	rec = rec_call(DLT_close, "close"); /* a file whose name never came */
	rec->id = id_of(23);
	rec_emit();

	moved = cd("rename", "/data/img/0001.jpg", NULL, "/data/img/1.jpg", NULL);
	moved->flags = DLT_NONE;
	rec_emit();
	learn(file_of(11), "/data/img/1.jpg"); /* known */

	stacked.at = (struct dlt_file_at){ .real_ino = 31, .real_dev = 259 << 20 | 2, .dev = 43 };
	learn(stacked, "/merged/x");
	stacked.at.real_ino = UINT64_MAX; /* copied up */
	stacked.at.real_dev = UINT32_MAX;
	learn(stacked, "/merged/x");
	expect_golden(DLT_files);
}

/* --- mmap ------------------------------------------------------------------------------------- */

static void rows_of_mmap(void **state)
{
	struct dlt_mmap *rec;

	learn(file_of(11), "/lib/libtorch.so");
	rec = rec_call(DLT_mmap, "mmap");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.id = id_of(11),
		.ret = 0x7f1234567000,
		.len = 8192,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE | MAP_DENYWRITE,
		.fd = 3,
		.offset = 4096,
		.old_addr = DLT_NONE,
		.old_len = DLT_NONE,
	};
	rec_emit();

	rec = rec_call(DLT_mmap, "mmap");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.ret = -ENOMEM,
		.addr = 0x10000,
		.len = UINT64_MAX,
		.flags = MAP_SHARED_VALIDATE | MAP_ANONYMOUS | MAP_SYNC | 1 << 30,
		.fd = -1,
		.old_addr = DLT_NONE,
		.old_len = DLT_NONE,
	};
	rec_emit();

	rec = rec_call(DLT_mmap, "munmap");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.addr = 0x7f1234567000,
		.len = 8192,
		.prot = DLT_NONE,
		.flags = DLT_NONE,
		.fd = DLT_NONE,
		.offset = DLT_NONE,
		.old_addr = DLT_NONE,
		.old_len = DLT_NONE,
	};
	rec_emit();

	rec = rec_call(DLT_mmap, "mremap");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.ret = 0x7f0000000000,
		.addr = DLT_NONE,
		.len = 12288,
		.prot = DLT_NONE,
		.flags = DLT_MREMAP_MAYMOVE | DLT_MREMAP_DONTUNMAP,
		.fd = DLT_NONE,
		.offset = DLT_NONE,
		.old_addr = 0x7f1234567000,
		.old_len = 8192,
	};
	rec_emit();

	rec = rec_call(DLT_mmap, "snapshot");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.id = id_of(11),
		.ret = 0x7f1234567000,
		.len = 8192,
		.prot = PROT_READ | PROT_WRITE,
		.flags = MAP_SHARED,
		.fd = DLT_NONE,
		.offset = INT64_MAX,
		.old_addr = DLT_NONE,
		.old_len = DLT_NONE,
	};
	rec->hdr.lat_ns = 0;
	rec_emit();

	rec = rec_call(DLT_mmap, "brk");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.ret = 0x555555580000,
		.addr = 0x555555580000,
		.len = 0x21000,
		.prot = DLT_NONE,
		.flags = DLT_NONE,
		.fd = DLT_NONE,
		.offset = DLT_NONE,
		.old_addr = 0x55555555f000,
		.old_len = DLT_NONE,
	};
	rec_emit();

	rec = rec_call(DLT_mmap, "madvise");
	*rec = (struct dlt_mmap){
		.hdr = rec->hdr,
		.ret = -EINVAL,
		.addr = 0x7f1234567000,
		.len = 4096,
		.prot = DLT_NONE,
		.flags = DLT_MADVISE(MADV_FREE),
		.fd = DLT_NONE,
		.offset = DLT_NONE,
		.old_addr = DLT_NONE,
		.old_len = DLT_NONE,
	};
	rec_emit();

	still_running(DLT_mmap, "mmap", ARGS(0, 4096, PROT_READ, MAP_SHARED | MAP_POPULATE, 3, 8192));
	still_running(DLT_mmap, "munmap", ARGS(0x7f1234567000, 4096));
	/* no such flags */
	still_running(DLT_mmap, "mremap", ARGS(0x7f1234567000, 4096, 8192, UINT64_MAX));
	still_running(DLT_mmap, "madvise", ARGS(0x7f1234567000, 4096, 200));
	still_running(DLT_mmap, "madvise", ARGS(0x7f1234567000, 4096, 7));
	still_running(DLT_mmap, "madvise", ARGS(0x7f1234567000, 4096, UINT64_MAX));
	still_running(DLT_mmap, "brk", ARGS(0x555555580000, 0x55555555f000));
	expect_golden(DLT_mmap);
}

/* --- open ------------------------------------------------------------------------------------- */

static struct dlt_open *opened(const char *call, const char *path, uint64_t ino, const char *realpath)
{
	struct dlt_open *rec = rec_call(DLT_open, call);

	rec->vfs_lat_ns = 900;
	rec->mode = DLT_NONE;
	rec->ret = realpath ? 5 : -ENOENT;
	rec_str(&rec->segs, 0, path);
	if (realpath) {
		rec->file = file_of(ino);
		rec_path(&rec->segs, 1, realpath);
	}
	return rec;
}

static void rows_of_open(void **state)
{
	char path[DLT_PATH_MAX];
	struct dlt_open *rec;

	opened("openat", "img/0001.jpg", 11, "/data/img/0001.jpg");
	rec_emit();

	rec = opened("open", "/data/none", 0, NULL);
	rec->vfs_lat_ns = DLT_NONE;
	rec->flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	rec_emit();

	rec = opened("openat2", HOSTILE, 12, "/data/" HOSTILE);
	rec->flags = O_WRONLY | O_CREAT | O_TRUNC | O_SYNC | O_DIRECT | 1LL << 40;
	rec->mode = 0;
	rec_emit();

	rec = opened("creat", "-", 13, "/data/-");
	rec->flags = O_WRONLY | O_CREAT | O_TRUNC;
	rec->mode = 0644;
	rec->created = 1;
	rec_emit();

	rec = opened("openat", "?", 14, "/data/#14");
	rec->file.flags = DLT_PATH_DELETED;
	rec->flags = O_TMPFILE | O_RDWR | O_DSYNC;
	rec->mode = 07777;
	rec_emit();

	rec = opened("openat", "", 0, NULL);
	rec->ret = -EFAULT;
	rec->flags = O_PATH | O_DIRECTORY | O_ACCMODE;
	rec_emit();

	rec = rec_call(DLT_open, "snapshot");
	rec->ret = 7;
	rec->hdr.lat_ns = 0;
	rec->vfs_lat_ns = rec->mode = DLT_NONE;
	rec->flags = O_APPEND | O_WRONLY;
	rec->file = file_of(15);
	rec_path(&rec->segs, 1, "/var/log/x");
	rec_emit();

	memset(path, 'x', sizeof(path));
	for (int i = 0; i < 4095; i += 256)
		path[i] = '/';
	path[4095] = '\0';
	rec = opened("open", path, 16, path); /* the longest */
	rec->ret = INT32_MAX;
	rec_emit();

	still_running(DLT_open, "openat", ARGS((uint64_t)-100, 0, O_WRONLY | O_APPEND));
	still_running(DLT_open, "creat", ARGS(0, 0644));
	expect_golden(DLT_open);
}

/* --- pids ------------------------------------------------------------------------------------- */

static struct dlt_pids *pids_begin(uint32_t event)
{
	struct dlt_pids *rec = rec_begin(DLT_pids);

	rec->hdr.tgid = rec->hdr.tid = NO_SUCH_PID;
	rec->hdr.lat_ns = 0;
	rec->event = event;
	rec->ppid = NO_SUCH_PID - 1;
	rec->status = DLT_NONE;
	rec->nspid = 17;
	rec->uid = 1000;
	return rec;
}

static void rows_of_pids(void **state)
{
	static const char args[] = "python\0-c\0print(\"\xff\")\n";
	struct dlt_pids *rec;

	pids_begin(DLT_PIDS_SNAPSHOT);
	rec_emit();

	pids_begin(DLT_PIDS_FORK);
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXEC);
	rec_bytes(&rec->segs, 0, args, sizeof(args));
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXEC); /* --no-args */
	rec->uid = rec->nspid = UINT32_MAX;
	rec_emit();

	rec = pids_begin(DLT_PIDS_THREAD);
	rec->hdr.tid++;
	rec_emit();

	rec = pids_begin(DLT_PIDS_RENAME);
	set_comm("pt_data_worker");
	rec_bytes(&rec->segs, 0, "python\0\0\0\0\0\0\0\0\0", DLT_COMM_LEN); /* as the kernel stores it */
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT); /* of a thread */
	rec->hdr.tid++;
	rec->utime_ns = 1;
	rec->cpus = 1;
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT); /* killed by SIGKILL */
	rec->status = 9;
	rec->utime_ns = rec->stime_ns = rec->maxrss_bytes = rec->majflt = UINT64_MAX;
	rec->disk_read = rec->disk_write = rec->minflt = UINT64_MAX;
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT); /* a name that looks like what follows */
	rec->status = 15;
	rec->by = DLT_PIDS_BY_OTHER;
	rec->by_pid = UINT32_MAX;
	memcpy(rec->by_comm, "x by=oom\n\"#\xff", DLT_COMM_LEN - 3);
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT);
	rec->status = 9;
	rec->by = DLT_PIDS_BY_OOM_LIMIT;
	rec->limit_bytes = UINT64_MAX;
	memset(rec->rlimits, 0xff, sizeof(rec->rlimits));
	rec->cpus = UINT32_MAX;
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT); /* it handles what asks it to end */
	rec->status = 2 << 8;
	rec->requested = UINT64_MAX;
	rec->by = DLT_PIDS_BY_JOB;
	rec->by_pid = 1;
	memcpy(rec->by_comm, "shell", 5);
	rec_emit();

	rec = pids_begin(DLT_PIDS_EXIT);
	rec->status = 9;
	rec->by = DLT_PIDS_BYS;
	rec_emit();

	rec = pids_begin(99);
	rec->status = -1;
	rec_str(&rec->segs, 0, "?");
	rec_emit();
	expect_golden(DLT_pids);
}

/* --- sync ------------------------------------------------------------------------------------- */

static struct dlt_sync *synced(const char *call, int64_t fd, int64_t offset, int64_t len)
{
	struct dlt_sync *rec = rec_call(DLT_sync, call);

	rec->fd = fd;
	rec->offset = offset;
	rec->len = len;
	return rec;
}

static void rows_of_sync(void **state)
{
	struct dlt_sync *rec;

	learn(file_of(11), "/out/ckpt.pt");
	synced("fsync", 7, DLT_NONE, DLT_NONE)->id = id_of(11);
	rec_emit();
	synced("sync", DLT_NONE, DLT_NONE, DLT_NONE);
	rec_emit();
	synced("sync_file_range", 7, INT64_MAX, 0)->id = id_of(11);
	rec_emit();
	synced("msync", DLT_NONE, DLT_NONE, 4096)->ret = -ENOMEM;
	rec_emit();
	synced("fallocate", -1, -1, -4096)->ret = -EBADF;
	rec_emit();

	rec = synced("truncate", DLT_NONE, DLT_NONE, 100); /* by a name that is known */
	rec_str(&rec->segs, 0, "./ckpt.pt");
	rec_path(&rec->segs, 2, "/out");
	rec_emit();
	rec = synced("truncate", DLT_NONE, DLT_NONE, 100);
	rec->ret = -ENOENT;
	rec_str(&rec->segs, 0, "/out/none");
	rec_emit();

	synced("fdatasync", 8, DLT_NONE, DLT_NONE)->id = id_of(12); /* its name never came */
	rec_emit();

	still_running(DLT_sync, "fsync", ARGS(7));
	still_running(DLT_sync, "syncfs", ARGS((uint64_t)-1));
	still_running(DLT_sync, "sync", ARGS(1, 2, 3));
	expect_golden(DLT_sync);
}

/* --- time_align ------------------------------------------------------------------------------- */

static void rows_of_time_align(void **state)
{
	static const uint32_t events[] = { DLT_TIME_START,  DLT_TIME_TICK, DLT_TIME_STEP,
					   DLT_TIME_ADJUST, DLT_TIME_END,  99 };
	struct dlt_time_align *rec;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		rec = rec_begin(DLT_time_align);
		rec->realtime_ns = START_REAL_NS + i;
		rec->boottime_ns = 2 * START_NS;
		rec->error_ns = events[i] == DLT_TIME_END ? UINT64_MAX : 60;
		rec->event = events[i];
		rec_emit();
	}
	expect_golden(DLT_time_align);
}

/* --- sched, sched_switch ------------------------------------------------------------------------ */

/* A row of a CPU; or, with CALL, of a call. */
static struct dlt_sched *sched_begin(uint32_t kind, int64_t cpu, uint32_t call)
{
	struct dlt_sched *rec = rec_begin(DLT_sched);
	bool of_cpu = call == DLT_SCHED_NO_CALL;

	rec->hdr.lat_ns = NSEC_PER_SEC;
	rec->kind = kind;
	rec->cpu = of_cpu ? cpu : DLT_NONE;
	rec->call = call;
	for (unsigned int i = 0; i < DLT_SCHED_SUMS; i++)
		rec->sums[i] = 10 + i;
	for (unsigned int i = DLT_SCHED_RUN; i <= DLT_SCHED_RUNQ; i++)
		rec->sums[i] = of_cpu ? rec->sums[i] : DLT_NONE;
	for (unsigned int i = DLT_SCHED_DISK; i <= DLT_SCHED_SLEEP; i++)
		rec->sums[i] = of_cpu ? DLT_NONE : rec->sums[i];
	rec->max_ns = of_cpu ? DLT_NONE : 9;
	rec->by = of_cpu ? DLT_BY_NOTHING : DLT_BY_TIMER;
	rec->by_tgid = rec->by_tid = DLT_NONE32;
	return rec;
}

static void rows_of_sched(void **state)
{
	struct dlt_sched *rec;

	sched_begin(DLT_SCHED_TARGET, 1, DLT_SCHED_NO_CALL);
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, SYS_futex);
	set_comm(HOSTILE);
	rec_emit();
	rec = sched_begin(DLT_SCHED_TARGET, 1, SYS_futex);
	rec->by = DLT_BY_THREAD;
	rec->by_tgid = 100;
	rec->by_tid = 102;
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, DLT_SCHED_FAULT);
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, DLT_SCHED_WORKER);
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, DLT_SCHED_COMPAT);
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, DLT_SCHED_STOPPED);
	rec_emit();
	sched_begin(DLT_SCHED_TARGET, 1, 511); /* newer than these headers */
	rec_emit();
	sched_begin(DLT_SCHED_KERNEL, 0, DLT_SCHED_NO_CALL);
	set_comm("kworker/0:1-eve");
	rec_emit();
	sched_begin(DLT_SCHED_SELF, 255, DLT_SCHED_NO_CALL);
	set_comm("dltraced");
	rec_emit();
	rec = sched_begin(DLT_SCHED_OTHER, 0, DLT_SCHED_NO_CALL);
	rec->hdr.tgid = rec->hdr.tid = 0;
	memset(rec->hdr.comm, 0, sizeof(rec->hdr.comm));
	rec_emit();
	rec = sched_begin(DLT_SCHED_IDLE, 0, DLT_SCHED_NO_CALL);
	rec->hdr.tgid = rec->hdr.tid = 0;
	rec->hdr.lat_ns = UINT64_MAX;
	rec->sums[DLT_SCHED_RUN] = INT64_MAX;
	set_comm("swapper/0");
	rec_emit();
	expect_golden(DLT_sched);
}

static void rows_of_sched_switch(void **state)
{
	struct dlt_sched_switch *rec;

	for (uint32_t i = DLT_STATE_R; i <= DLT_STATE_X; i++) {
		rec = rec_begin(DLT_sched_switch);
		rec->state = i;
		rec->cpu = i;
		rec->run_ns = i ? 1000 * i : DLT_NONE;
		rec->wait_ns = i ? i : DLT_NONE;
		if (i % 2) {
			rec->next_tgid = 200;
			rec->next_tid = 201;
			memcpy(rec->next_comm, HOSTILE, DLT_COMM_LEN);
		} else {
			strcpy(rec->next_comm, "swapper/0");
		}
		rec_emit();
	}
	rec = rec_begin(DLT_sched_switch); /* beside another user's */
	rec->hdr.tgid = rec->hdr.tid = 0;
	memset(rec->hdr.comm, 0, sizeof(rec->hdr.comm));
	rec->run_ns = rec->wait_ns = INT64_MAX;
	rec->cpu = rec->next_tgid = rec->next_tid = UINT32_MAX;
	rec_emit();
	expect_golden(DLT_sched_switch);
}

/* --- vfs_rw ----------------------------------------------------------------------------------- */

static struct dlt_vfs_rw *moved(const char *call, uint32_t dir, int64_t returned)
{
	struct dlt_vfs_rw *rec = rec_call(DLT_vfs_rw, call);

	rec->id = id_of(11);
	rec->dir = dir;
	rec->requested = 131072;
	rec->returned = returned;
	rec->fd = 5;
	return rec;
}

static void rows_of_vfs_rw(void **state)
{
	struct dlt_vfs_rw_pair *pair;
	struct dlt_vfs_rw *rec;

	learn(file_of(11), "/data/img/0001.jpg");
	learn_as(12, S_IFIFO | 0600, 0x50495045, "pipefs", DLT_PATH_FLOATING, "/");
	moved("read", DLT_RW_R, 65536)->disk_bytes = 131072;
	rec_emit();

	rec = moved("pwritev2", DLT_RW_W, INT64_MAX);
	rec->requested = UINT64_MAX;
	rec->offset = INT64_MAX;
	rec->f_flags = O_DIRECT | O_APPEND | O_SYNC | DLT_RW_NOWAIT | O_RDWR;
	rec_emit();

	rec = moved("write", DLT_RW_W, -EAGAIN); /* a pipe; not accounted */
	rec->id = id_of(12);
	rec->offset = rec->disk_bytes = DLT_NONE;
	rec->f_flags = O_DSYNC | O_NONBLOCK;
	rec_emit();

	rec = moved("read", DLT_RW_R, -EBADF);
	memset(&rec->id, 0, sizeof(rec->id));
	rec->fd = -1;
	rec->offset = DLT_NONE;
	rec_emit();

	moved("preadv", DLT_RW_R, -512)->requested = DLT_NO_SIZE; /* restarted */
	rec_emit();

	moved("io_submit:fsync", DLT_RW_NEITHER, 0)->requested = 0;
	rec_emit();

	rec = moved("io_submit:other", 99, 0);
	rec->hdr.func = UINT16_MAX;
	rec_emit();

	pair = (struct dlt_vfs_rw_pair *)moved("sendfile", DLT_RW_R, 4096);
	pair->to = pair->from;
	pair->to.id = id_of(12);
	pair->to.dir = DLT_RW_W;
	pair->to.fd = 6;
	pair->to.offset = DLT_NONE;
	pair->from.hdr.size = sizeof(*pair);
	rec_emit();

	still_running(DLT_vfs_rw, "read", ARGS(5, 0, 4096));
	still_running(DLT_vfs_rw, "writev", ARGS(5, 0, 3));
	still_running(DLT_vfs_rw, "pread64", ARGS(5, 0, 4096, 1 << 20));
	still_running(DLT_vfs_rw, "preadv2", ARGS(5, 0, 3, (uint64_t)-1)); /* the file's own */
	still_running(DLT_vfs_rw, "splice", ARGS(5, 0, 6, 0, 4096));
	still_running(DLT_vfs_rw, "io_submit", ARGS(0x7f0000000000, 1));
	expect_golden(DLT_vfs_rw);
}

/* The length includes the second half, but it has no header: the first half is a row, the second is counted. */
static void half_a_pair_is_no_row(void **state)
{
	struct dlt_vfs_rw_pair *pair = (struct dlt_vfs_rw_pair *)moved("sendfile", DLT_RW_R, 4096);

	pair->from.hdr.size = sizeof(*pair);
	pair->to.hdr.probe = 255;
	rec_emit();
	assert_int_equal(decode.counts[DLT_vfs_rw].bad, 1);
	assert_int_equal(decode.counts[DLT_vfs_rw].records, 1);
}

/* --- rollup ----------------------------------------------------------------------------------- */

static void rows_of_rollup(void **state)
{
	struct dlt_rollup *rec = rec_begin(DLT_rollup);

	*rec = (struct dlt_rollup){
		.hdr = rec->hdr,
		.minute = "2026-11-21T01:02:00Z",
		.file = "vfs_rw",
		.rw = "R",
		.pid = 4194304,
		.rows = UINT64_MAX,
		.failed = 1,
		.bytes = 4096,
		.lat_ns = 3000,
		.max_lat_ns = 2000,
		.segment = 7,
	};
	rec_emit();
	rec = rec_begin(DLT_rollup);
	*rec = (struct dlt_rollup){
		.hdr = rec->hdr,
		.minute = "2026-11-21T01:02:00Z",
		.file = "cpu",
		.pid = DLT_NONE,
		.segment = DLT_NONE,
	};
	memset(rec->hdr.comm, 0, sizeof(rec->hdr.comm));
	rec_emit();
	expect_golden(DLT_rollup);
}

/* --- workload --------------------------------------------------------------------------------- */

static void rows_of_workload(void **state)
{
	static const char *const lines[] = { "epoch 1 loss 0.5", "", "-", "?", HOSTILE };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct dlt_workload *rec = rec_begin(DLT_workload);

		rec_str(&rec->segs, 0, lines[i]);
		rec_emit();
	}
	expect_golden(DLT_workload);
}

/* --- printed ---------------------------------------------------------------------------------- */

static void rows_of_printed(void **state)
{
	static const char *const texts[] = {
		"epoch 1: loss 0.5\n",
		"of no phase\n",
		"\033[1mEpoch 2/3\033[0m\n",
		"epoch 3: \t\x01\x7f\"#\\\xff\xc3\xa4\xe5\x97\xa8\n",
	};

	assert_int_equal(printed_stage.open(&decode), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct dlt_printed *rec = rec_begin(DLT_printed);

		rec->fd = 1 + i % 2;
		rec->bytes = (uint32_t)strlen(texts[i]);
		memcpy(rec + 1, texts[i], rec->bytes);
		record.hdr.size += rec->bytes;
		rec_emit();
	}
	printed_stage.end(&decode, 0);
	expect_golden(DLT_printed);
}

/* --- marks ------------------------------------------------------------------------------------ */

static void rows_of_marks(void **state)
{
	static const char *const texts[] = { "epoch 1", "-", HOSTILE };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct dlt_marks *rec = rec_begin(DLT_marks);

		rec_str(&rec->segs, 0, texts[i]);
		rec_emit();
	}
	expect_golden(DLT_marks);
}

/* --- the sample trace ------------------------------------------------------------------------- */

static bool has_name(const struct field_name *names, const char *word)
{
	for (; names->name; names++)
		if (!strcmp(names->name, word))
			return true;
	return false;
}

static bool has_call(const struct probe *p, const char *word)
{
	for (unsigned int i = 0; i < p->n_calls; i++)
		if (!strcmp(p->calls[i].name, word))
			return true;
	return false;
}

static bool is_number(const char *s)
{
	s += *s == '-';
	return *s && strspn(s, "0123456789") == strlen(s);
}

static bool is_hex(const char *s)
{
	return !strncmp(s, "0x", 2) && s[2] && strspn(s + 2, "0123456789abcdef") == strlen(s + 2);
}

/* Whether TEXT has words joined by '|', with a rest in hex that has no name. */
static bool are_flags(const struct field *f, const char *text)
{
	autofree char *copy = strdup(text);
	char *rest = copy;

	for (char *word; (word = strsep(&rest, "|"));)
		if (!has_name(f->names, word) && (rest || !is_hex(word)))
			return false;
	return true;
}

/* Whether P could have written TEXT in the column of F. */
static bool could_be(const struct probe *p, const struct field *f, const char *text)
{
	bool none = !strcmp(text, "-") || !strcmp(text, "?");

	switch (f->kind) {
	case FIELD_TS:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		return is_number(text) && *text != '-';
	case FIELD_S32:
		return is_number(text);
	case FIELD_S64:
		return is_number(text) || none;
	case FIELD_ADDR:
		return is_hex(text) || !strcmp(text, "0") || (*text == '-' && is_number(text)) || none;
	case FIELD_FLAGS:
		return are_flags(f, text) || !strcmp(text, "0") || none;
	case FIELD_BITS:
		return !strcmp(text, "-") || (are_flags(f, text) && !strstr(text, "0x"));
	case FIELD_NAME:
		return has_name(f->names, text);
	case FIELD_FUNC:
		return has_call(probe_of_calls(p, f), text);
	default:
		return *text;
	}
}

static void expect_rows_of(const struct probe *p, char *rows)
{
	for (char *line; (line = strsep(&rows, "\n")) && *line;) {
		for (unsigned int i = 0; i < p->n_fields; i++) {
			const char *text = strsep(&line, "\t");

			if (!text || !could_be(p, &p->fields[i], text))
				fail_msg("%s: %s is never %s", p->name, p->fields[i].name, text ?: "missing");
		}
		assert_null(line);
	}
}

/* tests/golden/trace-small was written by hand, and our readers must accept it. */
static void the_sample_trace_could_be_ours(void **state)
{
	autofree char *manifest = NULL;

	assert_int_equal(util_read_file("tests/golden/trace-small/manifest.json", 1 << 20, &manifest, NULL), 0);
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		autofree char *path = util_fmt("tests/golden/trace-small/%s.out", probes[i]->name);
		autofree char *entry = util_fmt("{\"name\": \"%s\", ", probes[i]->name);
		autofree char *text = NULL;
		char header[4096];

		if (!strstr(manifest, entry) && access(path, F_OK) < 0)
			continue; /* the sample was made without this probe */
		assert_int_equal(util_read_file(path, 1 << 20, &text, NULL), 0);
		*record_put_header(header, probes[i]) = '\0';
		if (strncmp(text, header, strlen(header)))
			fail_msg("%s: another header", path);
		expect_rows_of(probes[i], text + strlen(header));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_of_bio),           WITH_DECODER(rows_of_close),
		WITH_DECODER(rows_of_create_del),    WITH_DECODER(rows_of_files),
		WITH_DECODER(rows_of_mmap),          WITH_DECODER(rows_of_open),
		WITH_DECODER(rows_of_pids),          WITH_DECODER(rows_of_printed),
		WITH_DECODER(rows_of_rollup),        WITH_DECODER(rows_of_sched),
		WITH_DECODER(rows_of_sched_switch),  WITH_DECODER(rows_of_sync),
		WITH_DECODER(rows_of_time_align),    WITH_DECODER(rows_of_vfs_rw),
		WITH_DECODER(half_a_pair_is_no_row), WITH_DECODER(rows_of_marks),
		WITH_DECODER(rows_of_workload),      cmocka_unit_test(the_sample_trace_could_be_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
