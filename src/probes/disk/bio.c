/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bio probe: the columns, and the differences between kernels, found in their BTF. Runs in the control
 * thread, before the trace and after it.
 */
#include "probes/disk/bio.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/util.h"
#include "bio.skel.h"
#include "kernel/btf.h"
#include "kernel/ksyms.h"
#include "kernel/skel.h"
#include "trace/probe.h"

/* --- columns ---------------------------------------------------------------------------------- */

static const struct field_name type_names[] = {
	{ DLT_BIO_READ, "R" },
	{ DLT_BIO_WRITE, "W" },
	{ DLT_BIO_DISCARD, "D" },
	{ DLT_BIO_FLUSH, "F" },
	{ DLT_BIO_ZERO, "Z" },
	{ DLT_BIO_OTHER, "O" },
	{},
};

static const struct field_name flag_names[] = {
	{ DLT_BIO_SYNC, "SYNC" },     { DLT_BIO_META, "META" },
	{ DLT_BIO_FUA, "FUA" },       { DLT_BIO_PREFLUSH, "PREFLUSH" },
	{ DLT_BIO_RAHEAD, "RAHEAD" }, { DLT_BIO_SELF, "SELF" },
	{ DLT_BIO_BIO, "BIO" },       {},
};

const struct field_name bio_kind_names[] = {
	{ DLT_BIO_KIND_NONE, "-" },     { DLT_BIO_DATA, "data" },
	{ DLT_BIO_DIRECT, "direct" },   { DLT_BIO_METADATA, "meta" },
	{ DLT_BIO_JOURNAL, "journal" }, { DLT_BIO_SWAP, "swap" },
	{ DLT_BIO_SUPER, "super" },     { DLT_BIO_BELOW, "below" },
	{ DLT_BIO_UNKNOWN, "other" },   {},
};

#define AT(member) offsetof(struct dlt_bio, member)

static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC when its last byte was done, ns", AT(hdr.ts_ns)),
	{ "PID", "process that queued it; of a flush, the first that waits", FIELD_U32, AT(hdr.tgid) },
	{ "TID", "thread that queued it", FIELD_U32, AT(hdr.tid) },
	{ "COMM", "name of that thread; kworker: write-back", FIELD_COMM, AT(hdr.comm) },
	{ "DONEPID", "process running at its completion, 0: idle", FIELD_S64, AT(done_tgid) },
	{ "DONECOMM", "name of its thread", FIELD_COMM, AT(done_comm) },
	{ "DISK", "name of the whole disk", FIELD_WORD, AT(disk), .arg = DLT_DISK_LEN },
	{ "T", "R read, W write, D discard, F flush, Z write zeroes, O other", FIELD_NAME, AT(type),
	  .names = type_names },
	{ "SECTOR", "first sector of 512 bytes, - without one", FIELD_S64, AT(sector), .unit = "sectors" },
	{ "BYTES", "length when the driver got it, merged requests included", FIELD_U32, AT(bytes), .unit = "bytes" },
	{ "LAT_NS", "queued to done, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "QLAT_NS", "queued until the driver got it, ns; the rest of LAT_NS is the device's time", FIELD_S64,
	  AT(qlat_ns) },
	{ "FLAGS", "as queued; SELF: by dltraced; BIO: a disk that handles bios, not requests", FIELD_FLAGS, AT(flags),
	  .names = flag_names },
	{ "STATUS", "0 or -errno, ? if the trace ended first", FIELD_S64, AT(status) },
	{ "KIND", "data direct meta journal swap super; below: for a disk above; other", FIELD_NAME, AT(kind),
	  .names = bio_kind_names },
	FIELD_FID_OF(struct dlt_bio, id),
	{ "FOFF", "where in the file it begins, bytes", FIELD_S64, AT(file_off), .unit = "bytes" },
	{ "EXTENTS", "pieces, each contiguous in one file; KIND, FID, FOFF are of the first", FIELD_S64, AT(extents) },
	{ "WPID", "for a write: process that dirtied its first page, or wrote with direct I/O", FIELD_S64,
	  AT(writer_tgid) },
	{ "WTID", "thread that did", FIELD_S64, AT(writer_tid) },
	{ "WCOMM", "name of that thread", FIELD_COMM, AT(writer_comm) },
	{ "WN", "processes that dirtied its pages, 8: or more", FIELD_S64, AT(writers) },
	FIELD_FILE_OF(struct dlt_bio, id),
};

/* --- the kernel's tracepoints ----------------------------------------------------------------- */

static bool type_is(const struct btf *btf, const struct btf_type *t, const char *name)
{
	return t && strcmp(btf__name_by_offset(btf, t->name_off), name) == 0;
}

static bool tp_begins_with_queue(const struct kernel_btf *kernel, const char *name)
{
	const struct btf_type *t = btf_tp_arg(kernel, name, 0);

	return t && btf_is_ptr(t) && type_is(kernel->btf, btf__type_by_id(kernel->btf, t->type), "request_queue");
}

/*
 * blk_errors[] of block/blk-core.c, by the BLK_STS_* of include/linux/blk_types.h. 14 was ZONE_RESOURCE,
 * which was never returned to callers; without it those after it are one less since 6.10 (commit
 * 63b5385e7814; e4eb37cc0f3e right after it removed required_elevator_features).
 */
static void statuses_fill(__s16 statuses[DLT_BIO_STATUSES], bool old)
{
	static const __s16 same[] = {
		0,       EOPNOTSUPP, ETIMEDOUT, ENOSPC, ENOLINK, EREMOTEIO, EBADE,
		ENODATA, EILSEQ,     ENOMEM,    EIO,    EREMCHG, EAGAIN,    EBUSY,
	};
	static const __s16 moved[] = { ETOOMANYREFS, EOVERFLOW, ENODEV, ETIME };
	size_t n = ARRAY_SIZE(same) + old;

	for (size_t i = 0; i < DLT_BIO_STATUSES; i++)
		statuses[i] = -EIO;
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		statuses[i] = (__s16)-same[i];
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		statuses[n + i] = (__s16)-moved[i];
	statuses[19] = -EINVAL;
}

/*
 * The functions that end bios. Several of them, in file systems that are modules, may have one name, and those of
 * modules that are loaded later are not known: KIND is "other" then.
 */
static const struct {
	const char *name;
	uint32_t kind;
	bool raw; /* of direct I/O on a block device itself */
} ends[] = {
	{ "bh_end_async_read", DLT_BIO_METADATA },
	{ "bh_end_async_write", DLT_BIO_METADATA },
	{ "bh_end_read", DLT_BIO_METADATA },
	{ "bh_end_write", DLT_BIO_METADATA },
	{ "bio_wait_end_io", DLT_BIO_UNKNOWN | DLT_BIO_END_WAITED, true },
	{ "blkdev_bio_end_io", DLT_BIO_DIRECT, true },
	{ "blkdev_bio_end_io_async", DLT_BIO_DIRECT, true },
	{ "blkdev_bio_end_io_simple", DLT_BIO_DIRECT, true },
	{ "btrfs_clone_write_end_io", DLT_BIO_DATA },
	{ "btrfs_end_bio", DLT_BIO_DATA },
	{ "btrfs_end_super_write", DLT_BIO_SUPER },
	{ "btrfs_orig_write_end_io", DLT_BIO_DATA },
	{ "btrfs_simple_end_io", DLT_BIO_DATA },
	{ "clone_endio", DLT_BIO_BELOW },
	{ "crypt_endio", DLT_BIO_BELOW },
	{ "dio_bio_end_aio", DLT_BIO_DIRECT },
	{ "dio_bio_end_io", DLT_BIO_DIRECT },
	{ "end_bio_bh_io_sync", DLT_BIO_METADATA | DLT_BIO_END_HEAD },
	{ "end_swap_bio_read", DLT_BIO_SWAP },
	{ "end_swap_bio_write", DLT_BIO_SWAP },
	{ "ext4_end_bio", DLT_BIO_DATA },
	{ "ext4_end_bitmap_read", DLT_BIO_METADATA },
	{ "ext4_end_buffer_io_sync", DLT_BIO_JOURNAL },
	{ "f2fs_read_end_io", DLT_BIO_DATA },
	{ "f2fs_write_end_io", DLT_BIO_DATA },
	{ "ioend_writeback_end_bio", DLT_BIO_DATA },
	{ "iomap_dio_bio_end_io", DLT_BIO_DIRECT },
	{ "iomap_read_end_io", DLT_BIO_DATA },
	{ "iomap_writepage_end_bio", DLT_BIO_DATA },
	{ "journal_end_buffer_io_sync", DLT_BIO_JOURNAL },
	{ "md_end_clone_io", DLT_BIO_BELOW },
	{ "md_end_io_acct", DLT_BIO_BELOW },
	{ "mpage_end_io", DLT_BIO_DATA },
	{ "mpage_read_end_io", DLT_BIO_DATA },
	{ "mpage_write_end_io", DLT_BIO_DATA },
	{ "raid10_end_read_request", DLT_BIO_BELOW },
	{ "raid10_end_write_request", DLT_BIO_BELOW },
	{ "raid1_end_read_request", DLT_BIO_BELOW },
	{ "raid1_end_write_request", DLT_BIO_BELOW },
	{ "raid5_align_endio", DLT_BIO_BELOW },
	{ "raid5_end_read_request", DLT_BIO_BELOW },
	{ "raid5_end_write_request", DLT_BIO_BELOW },
	{ "submit_bio_wait_endio", DLT_BIO_UNKNOWN | DLT_BIO_END_WAITED, true },
	{ "xfs_buf_bio_end_io", DLT_BIO_METADATA },
	{ "xfs_end_bio", DLT_BIO_DATA },
	{ "xlog_bio_end_io", DLT_BIO_JOURNAL },
};

static void raw_note(struct dlt_bio_kernel *k, uint64_t addr)
{
	for (size_t i = 0; i < ARRAY_SIZE(k->end_raw); i++)
		if (!k->end_raw[i]) {
			k->end_raw[i] = addr;
			return;
		}
}

/* A kernel has 200 000 names, and this asks for some sixty: most differ in the first letter. */
static inline bool is(const char *name, const char *wanted)
{
	return name[0] == wanted[0] && !strcmp(name, wanted);
}

static void end_note(void *ctx, const char *name, uint64_t addr)
{
	struct dlt_bio_kernel *kernel = ctx;

	if (is(name, "bio_chain_endio"))
		kernel->end_chained = addr;
	if (is(name, "iomap_dio_bio_end_io"))
		kernel->end_direct = addr;
	for (size_t i = 0; i < ARRAY_SIZE(ends) && kernel->n_ends < DLT_BIO_ENDS; i++)
		if (is(name, ends[i].name)) {
			kernel->ends[kernel->n_ends++] = (struct dlt_bio_end){ addr, ends[i].kind };
			if (ends[i].raw)
				raw_note(kernel, addr);
		}
}

struct dlt_bio_kernel bio_kernel_of(const struct kernel_btf *kernel)
{
	const struct btf *btf = kernel->btf;

	struct dlt_bio_kernel k = {
		.has_io_start = btf_tp_arg(kernel, "block_io_start", 0) != NULL,
		/* removed in 5.11 and 5.10.137: commits a54895fa057c, e8a676d61c07 */
		.queue_before_rq = tp_begins_with_queue(kernel, "block_rq_issue"),
		.queue_before_bio = tp_begins_with_queue(kernel, "block_bio_queue"),
		/* until 5.16, commit 8a7d267b4a2c */
		.status_is_errno = !type_is(btf, btf_tp_arg(kernel, "block_rq_complete", 1), "blk_status_t"),
		.page_shift = (uint32_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
	};

	statuses_fill(k.status_errno,
		      btf_has_member(btf, BTF_KIND_STRUCT, "request_queue", "required_elevator_features"));
	return k;
}

static bool has_tp(const struct kernel_btf *kernel, const char *name)
{
	return kernel_btf_tp(kernel, name) >= 0;
}

/*
 * Sets of entries for who dirties pages: one for eight of the pages that may be dirty by default, a fifth of the memory
 * (vm.dirty_ratio), within limits: 256 bytes each, so 4 to 32 MiB. A power of two.
 */
static uint32_t dirtiers(const struct kernel_btf *kernel)
{
	uint64_t wanted = (uint64_t)sysconf(_SC_PHYS_PAGES) / 5 / 8;
	uint32_t n = DLT_DIRTIERS_MIN;

	if (!has_tp(kernel, "writeback_dirty_folio") && !has_tp(kernel, "writeback_dirty_page"))
		return 1;
	while (n < DLT_DIRTIERS_MAX && n < wanted)
		n *= 2;
	return n;
}

static int bio_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	struct dlt_bio_kernel look = bio_kernel_of(kernel);
	int r = SKEL_OPEN(bio, object, cfg, kernel);
	struct bio_bpf *skel;

	if (r < 0)
		return r;
	ksyms_each(end_note, &look);
	skel = object->owner;
	look.dirtier_mask = cfg->plain ? 0 : dirtiers(kernel) - 1;
	bpf_program__set_autoload(skel->progs.bio_issue, !cfg->plain);
	bpf_program__set_autoload(skel->progs.bio_queue, !cfg->plain);
	bpf_program__set_autoload(skel->progs.bio_issue_plain, cfg->plain);
	bpf_program__set_autoload(skel->progs.bio_queue_plain, cfg->plain);
	bpf_program__set_autoload(skel->progs.bio_dirty_folio, !cfg->plain && has_tp(kernel, "writeback_dirty_folio"));
	bpf_program__set_autoload(skel->progs.bio_dirty_page, !cfg->plain && has_tp(kernel, "writeback_dirty_page"));
	bpf_map__set_max_entries(skel->maps.bio_dirtiers, look.dirtier_mask + 1);
	skel->rodata->kernel = look;
	bpf_program__set_autoload(skel->progs.bio_start, look.has_io_start);
	bpf_program__set_autoload(skel->progs.bio_getrq, !look.has_io_start);
	bpf_map__set_autocreate(skel->maps.queued, !look.has_io_start);
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

bool bio_unfinished(const struct dlt_bio_flight *io, uint64_t now_ns, struct dlt_bio *rec)
{
	if (!io->given)
		return false;
	*rec = io->rec;
	rec->hdr.ts_ns = now_ns;
	rec->hdr.lat_ns = now_ns - io->queued_ns;
	if (rec->flags & DLT_BIO_BIO)
		rec->qlat_ns = DLT_NONE;
	else if (io->issued_ns)
		rec->qlat_ns = (__s64)(io->issued_ns - io->queued_ns);
	else
		rec->qlat_ns = (__s64)rec->hdr.lat_ns;
	rec->done_tgid = DLT_UNKNOWN;
	rec->status = DLT_UNKNOWN;
	return true;
}

/*
 * Makes a record for each request of the loaded object OBJECT that was given to a driver and is not done at
 * NOW_NS (CLOCK_MONOTONIC), when dlt_shared.stopping is set and the programs have been detached; before
 * that as in probe.h.
 */
static void in_flight(struct probe_object *object, void (*emit)(void *ctx, const struct dlt_hdr *rec), void *ctx,
		      uint64_t now_ns, unsigned int max)
{
	const struct bio_bpf *skel = object->owner;
	int fd = bpf_map__fd(skel->maps.in_flight);
	struct dlt_bio_flight io;
	struct dlt_bio rec;
	__u64 key, *prev = NULL;

	for (; max-- && bpf_map_get_next_key(fd, prev, &key) == 0; prev = &key)
		if (bpf_map_lookup_elem(fd, &key, &io) == 0 && bio_unfinished(&io, now_ns, &rec))
			emit(ctx, &rec.hdr);
}

/* A request that no process of the owner's queued, but whose pages one of them has written, is the owner's. */
static bool is_owned(const struct dlt_hdr *rec)
{
	return rec->tgid || ((const struct dlt_bio *)rec)->writers > 0;
}

const struct probe bio_probe = {
	.name = "bio",
	.help = "disk requests of the whole machine, with the processes that queued them",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_bio),
	/* a process that opens a file sends the path that it uses, also where a request has shown the file */
	.flags = PROBE_SELECTABLE | PROBE_SHOWS_WRITES | PROBE_OWN_SCRATCH | PROBE_OWN_SEEN,
	.open = bio_open,
	.is_owned = is_owned,
	.in_flight = in_flight,
	/*
	 * its request stays in in_flight (io_put()); the program runs for all disks, so mostly it is
	 * untraced
	 */
	.skips_show = "bio_complete",
	.plain = "the columns from KIND to FILE of bio.out are empty: the file and the writer of a request are not "
		 "known",
};
