/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and writes as fio replays them, on another file system and with the pauses between them: job.fio, an I/O log of
 * version 3 for each thread (fio 3.31 and later: "MICROSECONDS FILE ACTION [OFFSET BYTES]", iolog.c there), and
 * files.sh, which makes the files that are read. A file has the number of its host and its FID as its name: a log has
 * no way to write a blank, and no name of the trace comes into a script.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "export/export.h"
#include "export/exporter.h"
#include "os/folder.h"

#define LOGS_MAX 4096U /* fio's jobs (REAL_MAX_JOBS) */
#define FILES_MAX (1U << 22)
#define LOG_BYTES 4096U /* of a log that wait to be written: a descriptor for each would be too many */
#define SPECIAL ":;#$\"\\" /* in a job file */
#define LINE_BYTES 128U
#define MOSTLY 0.5 /* of the bytes from the page cache: then the replay is about that */

/* Of a thread. */
struct fio_log {
	uint64_t pid, tid;
	unsigned int host;
	uint32_t used;
	char text[LOG_BYTES];
};

/* A regular file. */
struct fio_file {
	uint64_t fid;
	unsigned int host;
	uint64_t end; /* of what is read */
	bool regular;
};

/* What a thread has open, by a key of both. */
struct fio_open {
	bool added, open;
};

struct fio_export {
	int dirfd;
	char *path; /* of that folder */
	struct table logs, files, opens;
	uint64_t first_ns; /* when the first call began */
	uint64_t read_bytes, disk_bytes;
	uint64_t left_out; /* rows of threads and files without room */
};

enum part { TS, PID, TID, LAT, RW, RETURNED, OFFSET, DISK, FID, TYPE, PARTS };

static const char *const names[PARTS] = {
	[TS] = "TIMESTAMP",      [PID] = "PID",       [TID] = "TID",         [LAT] = "LAT_NS", [RW] = "RW",
	[RETURNED] = "RETURNED", [OFFSET] = "OFFSET", [DISK] = "DISK_BYTES", [FID] = "FID",    [TYPE] = "TYPE",
};

static int begin(struct export *export)
{
	struct fio_export *fio = export->state;

	fio->dirfd = -1;
	table_init(&fio->logs, sizeof(struct fio_log), LOGS_MAX);
	table_init(&fio->files, sizeof(struct fio_file), FILES_MAX);
	table_init(&fio->opens, sizeof(struct fio_open), FILES_MAX);
	if (!strcmp(export->o->out, "-")) {
		log_err("fio takes a folder: name it with -o");
		return -ECANCELED;
	}
	fio->dirfd = folder_open(export->o->out, 0777);
	if (fio->dirfd < 0) {
		log_err_r(fio->dirfd, "%s: the folder for fio's files cannot be made", export->o->out);
		return -ECANCELED;
	}
	fio->path = realpath(export->o->out, NULL);
	if (!fio->path)
		return -errno;
	if (!strpbrk(fio->path, SPECIAL))
		return 0;
	log_err("%s: fio's job file cannot name a folder with one of %s in its path: name another one with -o",
		fio->path, SPECIAL);
	return -ECANCELED;
}

/* --- logs --------------------------------------------------------------------------------------------------------- */

static int name_log(const struct fio_log *log, char name[64])
{
	return snprintf(name, 64, "%u-%" PRIu64 "-%" PRIu64 ".iolog", log->host, log->pid, log->tid);
}

static int flush(struct fio_export *fio, struct fio_log *log)
{
	char name[64];
	int fd, res;

	name_log(log, name);
	fd = openat(fio->dirfd, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	res = fd < 0 ? -errno : util_write_all(fd, log->text, log->used);
	if (fd >= 0)
		close(fd);
	log->used = 0;
	return res;
}

/* Adds a line: ACTION, with OFFSET and BYTES if these are not 0. */
static int put(struct fio_export *fio, struct fio_log *log, uint64_t ns, const struct fio_file *file,
	       const char *action, uint64_t offset, uint64_t bytes)
{
	const uint64_t us = (ns - MIN(ns, fio->first_ns)) / 1000;
	int res = log->used + LINE_BYTES > LOG_BYTES ? flush(fio, log) : 0;

	log->used += (uint32_t)snprintf(log->text + log->used, LINE_BYTES, "%" PRIu64 " %u-%" PRIu64 " %s", us,
					file->host, file->fid, action);
	if (bytes)
		log->used += (uint32_t)snprintf(log->text + log->used, LINE_BYTES / 2, " %" PRIu64 " %" PRIu64, offset,
						bytes);
	log->text[log->used++] = '\n';
	return res;
}

/* Returns the log of a thread, which begins with its title; NULL: there is no room. *RES: 0 or -errno. */
static struct fio_log *log_of(struct fio_export *fio, unsigned int host, uint64_t pid, uint64_t tid, int *res)
{
	const uint64_t key[3] = { host + 1ULL, pid, tid };
	struct fio_log *log = table_get(&fio->logs, table_key((const char *)key, sizeof(key)));
	char name[64];
	int fd;

	*res = 0;
	if (!log || log->pid)
		return log;
	*log = (struct fio_log){ .pid = pid, .tid = tid, .host = host };
	name_log(log, name);
	fd = openat(fio->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		*res = -errno;
	else
		close(fd);
	log->used = (uint32_t)snprintf(log->text, LINE_BYTES, "fio version 3 iolog\n");
	return log;
}

static struct fio_open *open_of(struct fio_export *fio, const struct fio_log *log, const struct fio_file *file)
{
	const uint64_t key[4] = { log->host + 1ULL, log->pid, log->tid, file->fid };

	return table_get(&fio->opens, table_key((const char *)key, sizeof(key)));
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static struct fio_file *file_of(struct fio_export *fio, unsigned int host, uint64_t fid)
{
	const uint64_t key[2] = { host + 1ULL, fid };

	return table_get(&fio->files, table_key((const char *)key, sizeof(key)));
}

static int take_transfer(struct fio_export *fio, unsigned int host, const struct reader_field field[PARTS],
			 struct fio_file *file)
{
	const bool reads = reader_is(field[RW], "R");
	uint64_t end_ns, lat_ns, pid, tid, bytes, offset, disk = 0;
	struct fio_open *open;
	struct fio_log *log;
	int res;

	if ((!reads && !reader_is(field[RW], "W")) || !reader_u64(field[TS], &end_ns) ||
	    !reader_u64(field[LAT], &lat_ns) || !reader_u64(field[PID], &pid) || !pid ||
	    !reader_u64(field[TID], &tid) || !reader_u64(field[OFFSET], &offset) ||
	    !reader_u64(field[RETURNED], &bytes) || !bytes || bytes > INT_MAX || offset > INT64_MAX - bytes)
		return 0;
	log = log_of(fio, host, pid, tid, &res);
	open = log ? open_of(fio, log, file) : NULL;
	if (!open) {
		fio->left_out++;
		return res;
	}
	lat_ns = MIN(lat_ns, end_ns);
	fio->first_ns = fio->first_ns ?: end_ns - lat_ns;
	if (!res && !open->added)
		res = put(fio, log, end_ns - lat_ns, file, "add", 0, 0);
	if (!res && !open->open)
		res = put(fio, log, end_ns - lat_ns, file, "open", 0, 0);
	*open = (struct fio_open){ true, true };
	if (reads) {
		reader_u64(field[DISK], &disk);
		file->end = MAX(file->end, offset + bytes);
		fio->read_bytes += bytes;
		fio->disk_bytes += MIN(disk, bytes);
	}
	if (!res)
		res = put(fio, log, end_ns - lat_ns, file, reads ? "read" : "write", offset, bytes);
	return res;
}

static int take_close(struct fio_export *fio, unsigned int host, const struct reader_field field[PARTS],
		      const struct fio_file *file)
{
	uint64_t ns, pid, tid;
	struct fio_open *open;
	struct fio_log *log;
	int res;

	if (!reader_u64(field[TS], &ns) || !reader_u64(field[PID], &pid) || !pid || !reader_u64(field[TID], &tid))
		return 0;
	log = log_of(fio, host, pid, tid, &res);
	open = log && !res ? open_of(fio, log, file) : NULL;
	if (!open || !open->open)
		return res;
	open->open = false;
	return put(fio, log, ns, file, "close", 0, 0);
}

static int take_row(struct export *export, const struct export_file *in, const struct reader_row *row)
{
	struct fio_export *fio = export->state;
	const unsigned int host = export_host_index(export);
	struct reader_field field[PARTS];
	struct fio_file *file;
	uint64_t fid;

	for (unsigned int i = 0; i < PARTS; i++) {
		const unsigned int at = export_table_column(in->table, names[i]);

		field[i] = at ? export_field(in, row, at - 1) : reader_absent();
	}
	if (!reader_u64(field[FID], &fid) || !fid)
		return 0;
	file = file_of(fio, host, fid);
	if (!file) {
		fio->left_out++;
		return 0;
	}
	if (!strcmp(in->table->name, "files")) {
		file->regular = reader_is(field[TYPE], "reg");
		file->fid = fid;
		file->host = host;
		return 0;
	}
	if (!file->regular)
		return 0;
	return strcmp(in->table->name, "close") ? take_transfer(fio, host, field, file) :
						  take_close(fio, host, field, file);
}

static int take_rows(struct export *export, const struct export_file *in, const struct reader_row *rows, unsigned int n)
{
	static const char *const taken[] = { "close", "files", "vfs_rw" };
	bool takes = false;
	int res = 0;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		takes |= !strcmp(in->table->name, taken[i]);
	for (unsigned int i = 0; takes && i < n && !res; i++)
		res = take_row(export, in, &rows[i]);
	return res;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* The job has absolute names, since it is run in the folder of the files. */
static int put_job(struct export *export, struct fio_export *fio)
{
	int res = out_open_at(&export->out, fio->dirfd, "job.fio");

	if (res < 0)
		return res;
	out_text(&export->out,
		 "# In the folder to be tried: sh files.sh, then fio job.fio\n[global]\nioengine=psync\n");
	for (uint32_t i = 0; i < fio->logs.n; i++) {
		const struct fio_log *log = table_at(&fio->logs, i);
		autofree char *text = NULL;
		char name[64];

		name_log(log, name);
		text = util_fmt("[%.*s]\nread_iolog=%s/%s\n", (int)strcspn(name, "."), name, fio->path, name);
		if (!text)
			return -ENOMEM;
		out_text(&export->out, text);
		out_record(&export->out);
	}
	return out_close(&export->out);
}

/* Returns how much the files that are read need, KiB. A damaged trace may have read at any offset. */
static uint64_t kib_of_files(const struct fio_export *fio)
{
	uint64_t kib = 0;

	for (uint32_t i = 0; i < fio->files.n; i++) {
		const uint64_t end = ((const struct fio_file *)table_at(&fio->files, i))->end;

		kib += MIN(end / 1024 + 1, INT64_MAX - kib);
	}
	return kib;
}

static int put_files(struct export *export, const struct fio_export *fio)
{
	const uint64_t kib = kib_of_files(fio);
	autofree char *head = util_fmt("#!/bin/sh\n# Makes the files that are read, in the current folder.\nset -e\n"
				       "[ \"$(df -Pk . | awk 'END { print $4 }')\" -ge %" PRIu64 " ] ||\n"
				       "\t{ echo \"the files need %" PRIu64 " KiB here\" >&2; exit 1; }\n",
				       kib, kib);
	int res = head ? out_open_at(&export->out, fio->dirfd, "files.sh") : -ENOMEM;

	if (res < 0)
		return res;
	out_text(&export->out, head);
	for (uint32_t i = 0; i < fio->files.n; i++) {
		const struct fio_file *file = table_at(&fio->files, i);
		char line[LINE_BYTES];

		if (!file->end)
			continue;
		snprintf(line, sizeof(line), "head -c %" PRIu64 " /dev/urandom >%u-%" PRIu64 "\n", file->end,
			 file->host, file->fid);
		out_text(&export->out, line);
		out_record(&export->out);
	}
	return out_close(&export->out);
}

static int end(struct export *export)
{
	struct fio_export *fio = export->state;
	int res = 0;

	for (uint32_t i = 0; i < fio->logs.n && !res; i++)
		res = flush(fio, table_at(&fio->logs, i));
	if (!res)
		res = put_job(export, fio);
	if (!res)
		res = put_files(export, fio);
	if (fio->left_out)
		log_warn("fio: %" PRIu64 " rows are left out, of more threads or files than fit", fio->left_out);
	if (fio->read_bytes && (double)fio->disk_bytes < MOSTLY * (double)fio->read_bytes)
		log_warn("fio: %.0f %% of the bytes came from the page cache: how fast these reads were says nothing "
			 "about "
			 "the storage, on which the replay does all of them",
			 100 - 100 * (double)fio->disk_bytes / (double)fio->read_bytes);
	return res;
}

static void close_all(struct export *export)
{
	struct fio_export *fio = export->state;

	if (fio->dirfd >= 0)
		close(fio->dirfd);
	free(fio->path);
	table_free(&fio->logs);
	table_free(&fio->files);
	table_free(&fio->opens);
}

const struct exporter export_fio = {
	.name = "fio",
	.help = "reads and writes of files, with the pauses between them, for fio to replay on another file system; -o "
		"names a folder",
	.order = EXPORT_BY_TIME,
	.state_size = sizeof(struct fio_export),
	.own_out = true,
	.begin = begin,
	.rows = take_rows,
	.end = end,
	.close = close_all,
};
