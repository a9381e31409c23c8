/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that make records in rings in memory, as bpf/ does: a full or crowded ring counts a record as lost, TIMESTAMP is
 * taken after the reserve, other records come in between, a file's name is sent before its first use. The records of
 * each CPU are kept as counts and a hash, for comparison with the rows.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "dlt/bio.h"
#include "dlt/close.h"
#include "dlt/open.h"
#include "dlt/pids.h"
#include "dlt/vfs_rw.h"
#include "kernel/tracer_impl.h"
#include "records.h"
#include "ring_memory.h"

#define REPLAY_CPUS_MAX 512
#define REPLAY_FILES 8 /* for each CPU, */
#define REPLAY_FILE_READS 32 /* read in turn, this many times each */

/* The activity of a CPU's threads: reads of a few files, the same with other calls in between, or small files. */
enum replay_mode { REPLAY_READS, REPLAY_MIX, REPLAY_SMALL_FILES };

struct replay_cpu {
	struct ring_memory *ring;
	uint32_t tid; /* its number, from 1, which identifies its rows */
	uint64_t reads; /* begun */
	uint64_t steps;
	uint64_t read_hash; /* of those in the ring, in order */
	uint32_t *held; /* reserved, with other records after it */
	bool named[REPLAY_FILES];
	struct dlt_file_id small; /* the last new file */
	struct dlt_stats stats[DLT_PROBES];
};

/* A record as its probe's program writes it, without the values that differ. */
struct replay_template {
	uint32_t len;
	union {
		struct dlt_hdr hdr;
		struct dlt_vfs_rw vfs_rw;
		struct dlt_files files;
		char bytes[512];
	};
};

static struct replay_template replay_templates[DLT_PROBES];

static inline void replay_keep(unsigned int probe)
{
	struct replay_template *t = &replay_templates[probe];

	memcpy(record.hdr.comm, "pt_data_worker\0", DLT_COMM_LEN);
	assert_true(record.hdr.size <= sizeof(t->bytes));
	memcpy(t->bytes, &record, record.hdr.size);
	t->len = record.hdr.size;
}

static inline uint16_t replay_func(unsigned int probe, const char *name)
{
	const struct probe *p = probes[probe];

	for (unsigned int i = 0; i < p->n_calls; i++)
		if (!strcmp(p->calls[i].name, name))
			return (uint16_t)i;
	fail_msg("%s has no %s", p->name, name);
	return 0;
}

static inline void replay_templates_make(void)
{
	static const char path[] = "/data/imagenet/train/n01440764/img_0000.jpg";
	struct dlt_vfs_rw *rw = rec_begin(DLT_vfs_rw);
	struct dlt_files *files;
	struct dlt_open *open;
	struct dlt_close *close;
	struct dlt_bio *bio;
	struct dlt_pids *pids;

	rw->hdr.func = replay_func(DLT_vfs_rw, "pread64");
	rw->returned = 4096;
	rw->requested = 4096;
	rw->fd = 5;
	replay_keep(DLT_vfs_rw);

	files = rec_begin(DLT_files);
	files->file = file_of(1);
	rec_path(&files->segs, 0, path);
	replay_keep(DLT_files);

	open = rec_begin(DLT_open);
	open->hdr.func = replay_func(DLT_open, "openat");
	open->file = file_of(1);
	open->ret = 5;
	open->mode = DLT_NONE;
	open->vfs_lat_ns = 900;
	rec_str(&open->segs, 0, path);
	rec_path(&open->segs, 1, path);
	replay_keep(DLT_open);

	close = rec_begin(DLT_close);
	close->hdr.func = replay_func(DLT_close, "close");
	close->fd = 5;
	close->last = DLT_NONE;
	replay_keep(DLT_close);

	bio = rec_begin(DLT_bio);
	bio->sector = 2048;
	bio->bytes = 131072;
	bio->qlat_ns = 4000;
	memcpy(bio->done_comm, "swapper/3", 10);
	memcpy(bio->disk, "nvme0n1", 8);
	replay_keep(DLT_bio);

	pids = rec_begin(DLT_pids);
	pids->event = DLT_PIDS_THREAD;
	pids->ppid = 1;
	replay_keep(DLT_pids);
}

static inline struct dlt_file_id replay_file(const struct replay_cpu *c, unsigned int file)
{
	return (struct dlt_file_id){ .ino = 1 + c->tid * REPLAY_FILES + file, .dev = 259 << 20 | 2, .gen = 7 };
}

/* Returns which file the next read of C is of. */
static inline unsigned int replay_at(const struct replay_cpu *c)
{
	return c->reads / REPLAY_FILE_READS % REPLAY_FILES;
}

/* Like rec_reserve() of bpf/dlt.bpf.h. */
static inline uint32_t *replay_reserve(struct replay_cpu *c, unsigned int probe, bool rare)
{
	const struct replay_template *t = &replay_templates[probe];
	uint32_t *head = NULL;

	c->stats[probe].seen++;
	if (rare || ring_memory_waiting(c->ring) <= c->ring->bytes - c->ring->bytes / TRACER_RING_RESERVE)
		head = ring_memory_reserve(c->ring, t->len);
	if (!head) {
		c->stats[probe].lost++;
		return NULL;
	}
	memcpy(ring_memory_rec(head), t->bytes, t->len);
	((struct dlt_hdr *)ring_memory_rec(head))->tid = c->tid;
	return head;
}

static inline void replay_submit(struct replay_cpu *c, uint32_t *head, uint64_t ts_ns)
{
	struct dlt_hdr *rec = ring_memory_rec(head);

	rec->ts_ns = ts_ns;
	c->stats[rec->probe].emitted++;
	ring_memory_submit(head);
}

#define REPLAY_HASH(hash, read) (((hash) ^ (read)) * 0x100000001b3ULL) /* FNV-1a, over whole numbers */

static inline uint32_t *replay_read(struct replay_cpu *c, const struct dlt_file_id *id)
{
	uint32_t *head;
	uint64_t nr = c->reads++;

	head = replay_reserve(c, DLT_vfs_rw, false);
	if (head) {
		struct dlt_vfs_rw *rec = ring_memory_rec(head);

		rec->id = *id;
		rec->offset = (int64_t)nr;
		c->read_hash = REPLAY_HASH(c->read_hash, nr);
	}
	return head;
}

/* Writes the file's own NAME, a last component like img_0000.jpg. */
static inline void replay_put_name(char *name, const struct dlt_file_id *id)
{
	uint64_t v = id->ino;

	for (unsigned int i = 7; i >= 4; i--, v /= 10)
		name[i] = (char)('0' + v % 10);
}

/* The name of the next read's file, if it has not been sent; as rare as in real traces. */
static inline uint32_t *replay_name(struct replay_cpu *c)
{
	unsigned int file = replay_at(c);
	uint32_t *head;

	if (c->named[file])
		return NULL;
	head = replay_reserve(c, DLT_files, true);
	if (head) {
		struct dlt_files *rec = ring_memory_rec(head);

		rec->file.id = replay_file(c, file);
		replay_put_name((char *)(rec + 1), &rec->file.id); /* it is walked from its end */
		c->named[file] = true;
	}
	return head;
}

/* In a mix: of 16 events one is an open, one a close, one a request to a disk; rarely a thread starts. */
static inline uint32_t *replay_other(struct replay_cpu *c)
{
	static const uint8_t of[16] = { [3] = DLT_open, [7] = DLT_close, [12] = DLT_bio };
	unsigned int probe = c->steps % 256 == 255 ? DLT_pids : of[c->steps % 16];
	uint32_t *head = probe ? replay_reserve(c, probe, probe == DLT_bio || probe == DLT_pids) : NULL;

	if (head && probe == DLT_open) {
		struct dlt_open *rec = ring_memory_rec(head);
		char *passed = (char *)(rec + 1), *walked = passed + rec->segs.len[0];

		rec->file.id = replay_file(c, 0);
		replay_put_name(walked - strlen("img_0000.jpg") - 1, &rec->file.id);
		replay_put_name(walked, &rec->file.id);
	}
	if (head && probe == DLT_close)
		((struct dlt_close *)ring_memory_rec(head))->id = replay_file(c, 0);
	return head;
}

static inline void replay_put_digits(char *at, unsigned int n, uint64_t v)
{
	while (n--) {
		at[n] = (char)('0' + v % 10);
		v /= 10;
	}
}

/* Opens a new file, 10 000 in a folder, ... */
static inline uint32_t *replay_open_small(struct replay_cpu *c)
{
	static const char folder[] = "n01440764/", name[] = "img_0000.jpg";
	uint64_t nr = c->steps / 4;
	uint32_t *head = replay_reserve(c, DLT_open, false);
	struct dlt_open *rec;
	char *passed, *walked;

	c->small = (struct dlt_file_id){ .ino = 1000000 + nr, .dev = 259 << 20 | 2, .gen = c->tid };
	if (!head)
		return NULL;
	rec = ring_memory_rec(head);
	rec->file.id = c->small;
	walked = (char *)(rec + 1) + rec->segs.len[0];
	passed = walked - strlen(name) - 1;
	replay_put_digits(passed + 8, 4, nr); /* at the end of the name, where they are hardest to hash */
	replay_put_digits(passed - strlen(folder) + 1, 8, nr / 10000 * REPLAY_CPUS_MAX + c->tid);
	replay_put_digits(walked + 8, 4, nr);
	replay_put_digits(walked + strlen(name) + 2, 8, nr / 10000 * REPLAY_CPUS_MAX + c->tid);
	return head;
}

/* ... reads it twice, and closes it. */
static inline uint32_t *replay_small(struct replay_cpu *c)
{
	uint32_t *head;

	if (c->steps % 4 == 0)
		return replay_open_small(c);
	if (c->steps % 4 < 3)
		return replay_read(c, &c->small);
	head = replay_reserve(c, DLT_close, false);
	if (head)
		((struct dlt_close *)ring_memory_rec(head))->id = c->small;
	return head;
}

/* Returns the next record of C, reserved; NULL: it was lost. */
static inline uint32_t *replay_event(struct replay_cpu *c, enum replay_mode mode)
{
	uint32_t *head = mode == REPLAY_SMALL_FILES ? replay_small(c) : replay_name(c);

	if (!head && mode == REPLAY_MIX)
		head = replay_other(c);
	if (!head && mode != REPLAY_SMALL_FILES) {
		struct dlt_file_id id = replay_file(c, replay_at(c));

		head = replay_read(c, &id);
	}
	c->steps++;
	return head;
}

/* N CPUs, CPU c on ring c mod R. */
static inline void replay_cpus(struct replay_cpu *cpus, unsigned int n, struct ring_memory *rings, unsigned int r)
{
	memset(cpus, 0, n * sizeof(*cpus));
	for (unsigned int i = 0; i < n; i++) {
		cpus[i].ring = &rings[i % r];
		cpus[i].tid = 1 + i;
	}
}

/* Returns the sum of all their counters. */
static inline struct dlt_stats replay_sum(const struct replay_cpu *cpus, unsigned int n, unsigned int probe)
{
	struct dlt_stats sum = {};

	for (unsigned int i = 0; i < n; i++) {
		sum.seen += cpus[i].stats[probe].seen;
		sum.emitted += cpus[i].stats[probe].emitted;
		sum.lost += cpus[i].stats[probe].lost;
	}
	return sum;
}

#endif
