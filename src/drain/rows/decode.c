/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/decode.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "dlt/vfs_rw_sums.h"
#include "drain/rows/live.h"
#include "drain/rows/metrics.h"
#include "drain/rows/stage.h"
#include "trace/files.h"
#include "trace/probe.h"
#include "trace/probe_mask.h"
#include "trace/system_files.h"

int decode_init(struct decode *decode, const struct config *cfg)
{
	memset(decode, 0, sizeof(*decode));
	for (unsigned int i = 0; i < DLT_PROBES; i++)
		decode->sinks[i].fd = -1;
	decode->cfg = cfg;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		decode->observed |= rollup_takes(probes[i]) ? PROBE_BIT(i) : 0;
	if (cfg->rollup_only) {
		decode->rollup = malloc(sizeof(*decode->rollup));
		if (!decode->rollup)
			return -ENOMEM;
		rollup_init(decode->rollup);
		decode->summed = decode->observed;
	}
	decode->ctx = (struct record_ctx){
		.clock = &decode->clock,
		.utc = &decode->utc,
		.files = files_new(),
		.threads = calloc(RECORD_THREAD_SLOTS, sizeof(*decode->ctx.threads)),
	};
	return decode->ctx.files && decode->ctx.threads ? 0 : -ENOMEM;
}

probe_mask decode_unasked(const struct config *cfg, bool log)
{
	const bool when[WHENS] = {
		[WHEN_ALWAYS] = true,
		[WHEN_ROWS] = !cfg->rollup_only,
		[WHEN_SUMS] = cfg->rollup_only || cfg->keep_bytes,
		[WHEN_LOG] = log,
	};

	return probe_mask_when(when);
}

int decode_stages(struct decode *d, const struct drain_stage *const *stages, probe_mask mask)
{
	int r = 0;

	d->stages = stages;
	for (; !r && *stages; stages++)
		if ((*stages)->open && mask >> (*stages)->probe & 1)
			r = (*stages)->open(d);
	return r;
}

void decode_life(struct decode *d, const struct dlt_pids *rec)
{
	for (const struct drain_stage *const *stage = d->stages; stage && *stage; stage++)
		if ((*stage)->life)
			(*stage)->life(d, rec);
}

/* States that hold no others are freed by free(3). */
static void states_free(struct decode *d)
{
	for (const struct drain_stage *const *stage = d->stages; stage && *stage; stage++)
		if ((*stage)->free)
			(*stage)->free(TAKE_PTR(d->state[(*stage)->probe]));
	for (unsigned int i = 0; i < DLT_PROBES; i++)
		free(TAKE_PTR(d->state[i]));
}

void decode_free(struct decode *decode)
{
	states_free(decode);
	for (unsigned int i = 0; i < DLT_PROBES; i++)
		sink_close(&decode->sinks[i]);
	files_free(decode->ctx.files);
	decode->ctx.files = NULL;
	free(decode->ctx.threads);
	decode->ctx.threads = NULL;
	if (decode->rollup)
		rollup_free(decode->rollup);
	free(decode->rollup);
	decode->rollup = NULL;
}

static bool list_matches(const struct config_list *list, const char *name)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (!fnmatch(list->items[i], name, 0))
			return true;
	return false;
}

/* Globs are slow and names are few: the verdict is cached per name. */
static bool comm_matches(struct decode *decode, const char comm[DLT_COMM_LEN])
{
	char name[DLT_COMM_LEN + 1] = {};
	uint64_t words[2];
	unsigned int at;

	memcpy(words, comm, sizeof(words));
	at = (words[0] * 31 + words[1]) * 0x9e3779b97f4a7c15ULL >> 56;
	if (!decode->comm_cache[at].keep || memcmp(decode->comm_cache[at].comm, comm, DLT_COMM_LEN)) {
		memcpy(name, comm, DLT_COMM_LEN);
		memcpy(decode->comm_cache[at].comm, comm, DLT_COMM_LEN);
		decode->comm_cache[at].keep = (!decode->cfg->comm.n || list_matches(&decode->cfg->comm, name)) &&
							      !list_matches(&decode->cfg->exclude_comm, name) ?
						      1 :
						      -1;
	}
	return decode->comm_cache[at].keep > 0;
}

static inline bool comm_kept(struct decode *d, const char comm[DLT_COMM_LEN])
{
	return (!d->cfg->comm.n && !d->cfg->exclude_comm.n) || comm_matches(d, comm);
}

static void sum_up(struct decode *decode, unsigned int probe, const struct dlt_hdr *rec)
{
	uint64_t realtime_ns = clock_utc_ns(&decode->clock, rec->ts_ns);

	if (!(decode->cfg->probes >> probe & 1))
		return;
	if (!rollup_record(decode->rollup, probes[probe], rec, realtime_ns)) {
		rollup_write(decode->rollup, &decode->sinks[DLT_rollup], 0, ROLLUP_ALL);
		if (!rollup_record(decode->rollup, probes[probe], rec, realtime_ns)) {
			util_count(&decode->sinks[probe].lost,
				   1); /* no memory: the one kind of row that is lost here */
			return;
		}
	}
	util_count(&decode->counts[probe].summed, 1);
}

/* For live views: rows of operations, whether they are written, summed up or lost. */
static __attribute__((noinline)) void observe(struct decode *d, unsigned int probe, const struct dlt_hdr *rec)
{
	if (!(d->cfg->probes & d->observed & PROBE_BIT(probe)))
		return;
	if (d->metrics)
		metrics_row(d->metrics, probe, rec);
	if (d->lives)
		lives_row(d->lives, probe, rec, d->ctx.files);
}

void decode_rw_sums(struct decode *d, const struct dlt_vfs_rw_sums *rec)
{
	decode_file_used(d, &rec->hdr, &rec->id);
	if (d->metrics)
		metrics_sums(d->metrics, rec);
	if (d->lives)
		lives_sums(d->lives, rec, d->ctx.files);
	decode_row(d, DLT_vfs_rw_sums, &rec->hdr);
}

void decode_row(struct decode *decode, unsigned int probe, const struct dlt_hdr *rec)
{
	struct sink *sink = &decode->sinks[probe];

	/* here and not earlier: files that excluded threads open, make or rename are used by others later */
	if (probes[probe]->flags & PROBE_OF_TARGET && !comm_kept(decode, rec->comm)) {
		util_count(&decode->counts[probe].filtered, 1);
		return;
	}
	if (decode->cfg->probes & decode->observed & PROBE_BIT(probe))
		failed_calls_row(&decode->failed_calls, probe, rec);
	if (decode->metrics || decode->lives)
		observe(decode, probe, rec);
	if (decode->summed >> probe & 1)
		sum_up(decode, probe, rec);
	else if (sink->fd >= 0)
		sink_commit(sink, record_put_row(sink_begin(sink), probes[probe], rec, &decode->ctx), rec->ts_ns);
}

/* Makes sure that every file of a row is known: rows of files.out come before those that use their FID. */
static void files_before(struct decode *d, const struct probe *p, const struct dlt_hdr *rec)
{
	for (unsigned int i = 0; i < p->n_fields; i++)
		if (p->fields[i].kind == FIELD_FID)
			decode_file_used(d, rec, (const void *)((const char *)rec + p->fields[i].offset));
}

void decode_record(struct decode *decode, const void *data, uint32_t len)
{
	const struct dlt_hdr *rec = data;
	const struct probe *probe;

	if (len < sizeof(*rec) || rec->probe == DLT_NO_PROBE || rec->probe >= DLT_PROBES) {
		decode->counts[DLT_NO_PROBE].bad++;
		return;
	}
	probe = probes[rec->probe];
	if (rec->size < probe->rec_size || rec->size > len) {
		decode->counts[rec->probe].bad++;
		return;
	}
	decode->counts[rec->probe].records++;
	if (probe->decode) {
		probe->decode(decode, rec);
		return;
	}
	files_before(decode, probe, rec);
	decode_row(decode, rec->probe, rec);
}

static void files_row(struct decode *decode, const struct dlt_hdr *hdr, struct file_entry *entry, const char *seg,
		      size_t len)
{
	struct {
		struct dlt_files rec;
		char path[DLT_PATH_MAX];
	} row; /* only in part cleared for each file */

	row.rec = (struct dlt_files){ .hdr = *hdr, .file = entry->file };
	entry->lost_then = decode->sinks[DLT_files].lost; /* read before: this row may be the next that is lost */
	if (len > sizeof(row.path)) {
		/* it ends as the kernel's walk would: with the last component that fits */
		for (len = sizeof(row.path); len && seg[len - 1]; len--)
			;
		row.rec.file.flags |= DLT_PATH_TRUNCATED;
	}
	row.rec.hdr.size = (uint32_t)(sizeof(row.rec) + len);
	row.rec.segs.len[0] = (uint16_t)len;
	if (len)
		memcpy(row.path, seg, len);
	decode_row(decode, DLT_files, &row.rec.hdr);
}

/* Writes a path as components from the last to the first, as the kernel walks one. */
static size_t path_to_seg(char *dst, const char *path, size_t len)
{
	size_t at = 0;

	for (size_t end = len; end;) {
		size_t start = end;

		while (start && path[start - 1] != '/')
			start--;
		memcpy(dst + at, path + start, end - start);
		at += end - start;
		dst[at++] = '\0';
		end = start ? start - 1 : 0;
	}
	return at;
}

/* Returns the segment that record_realpath() made ENTRY's path from. */
static size_t entry_seg(const struct file_entry *entry, char *seg)
{
	size_t skip = 0;

	if (entry->file.flags & DLT_PATH_FLOATING) {
		/* a name, not a path: memfd_create(2) takes slashes */
		skip = entry->path[0] == '/' ? 1 : strcspn(entry->path, ":") + 1;
		*(char *)mempcpy(seg, entry->path + skip, entry->path_len - skip) = '\0';
		return entry->path_len - skip + 1;
	}
	if (entry->file.flags & DLT_PATH_UNREACHABLE)
		skip = strcspn(entry->path, "/");
	return path_to_seg(seg, entry->path + skip, entry->path_len - skip);
}

static bool is_on(const struct dlt_file *file, uint32_t dev)
{
	if (file->at.real_ino)
		return file->at.real_dev == dev;
	return (file->at.dev ?: file->id.dev) == dev;
}

void decode_file(struct decode *decode, const struct dlt_hdr *hdr, const struct dlt_file *file, const char *seg,
		 size_t len)
{
	struct file_entry *entry = files_get(decode->ctx.files, &file->id);
	char path[RECORD_PATH_MAX];
	size_t path_len;
	bool copied_up;

	if (!entry)
		return;
	/* a path that a process uses is better than what nobody has used */
	if (file->view == DLT_VIEW_ANYWHERE && entry->path_len) {
		decode_file_used(decode, hdr, &file->id);
		return;
	}
	copied_up = entry->path_len &&
		    (entry->file.at.real_ino != file->at.real_ino || entry->file.at.real_dev != file->at.real_dev);
	entry->file = *file;
	path_len = record_realpath(path, file, seg, len);
	if (!files_name(decode->ctx.files, entry, path, path_len) && !copied_up) {
		decode_file_used(decode, hdr, &file->id);
		return;
	}
	files_row(decode, hdr, entry, seg, len);
	/*
	 * Opened by the job: inherited files, such as its log, do not count. Nor do libraries and the like: they are on
	 * the trace folder's disk on most machines, and soon in the page cache.
	 */
	if (hdr->probe == DLT_open && is_on(file, decode->own_dev) && S_ISREG(file->mode) &&
	    !system_files_has(SYSTEM_DISK, path, path_len))
		atomic_store_explicit(&decode->same_dev, true, memory_order_relaxed);
}

/*
 * Writes a row for a file whose name never arrived, and again for one whose row may be among those that
 * files.out has lost since it was written. Not inlined, so that rows without it need no stack for a path.
 */
static __attribute__((noinline)) void entry_announce(struct decode *d, const struct dlt_hdr *hdr, struct file_entry *e)
{
	char seg[RECORD_PATH_MAX];

	if (!e->path_len)
		e->file.flags |= DLT_PATH_UNREACHABLE;
	files_row(d, hdr, e, seg, e->path_len ? entry_seg(e, seg) : 0);
}

void decode_file_used(struct decode *d, const struct dlt_hdr *hdr, const struct dlt_file_id *id)
{
	struct file_entry *e = record_file(&d->ctx, id);

	if (e && e->lost_then != d->sinks[DLT_files].lost)
		entry_announce(d, hdr, e);
}

void decode_files_again(struct decode *d, uint64_t now_ns)
{
	struct dlt_hdr hdr = { .ts_ns = now_ns, .probe = DLT_files };

	for (uint32_t fid = 1; fid <= files_count(d->ctx.files); fid++)
		decode_file_used(d, &hdr, &files_at(d->ctx.files, fid)->file.id);
}

void decode_file_moved(struct decode *d, const struct dlt_hdr *hdr, struct file_entry *e, const char *path, size_t len)
{
	char seg[RECORD_PATH_MAX];

	if (files_name(d->ctx.files, e, path, len))
		files_row(d, hdr, e, seg, path_to_seg(seg, path, len));
}
