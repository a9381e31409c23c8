/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * manifest.json: where a trace comes from and how whole it is. The session fills the struct; the
 * file is replaced as a whole each time, so that a reader never meets half of one. Control plane.
 * manifest_read.c reads back what reports need.
 */
#ifndef SESSION_MANIFEST_H
#define SESSION_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/json.h"
#include "drain/counts.h"

struct config;
struct left_running;
struct privileges;
struct workload_user;

/* One instant on both clocks; zeroes: not yet. */
struct manifest_time {
	uint64_t mono_ns, utc_ns;
};

/* One file of a probe. Calls made: where each is one row, rows + summed + filtered + lost. */
struct manifest_probe_row {
	const char *name, *backend;
	const char *hooks; /* of the backend; NULL: left out */
	const char *why; /* no better backend, or none at all; NULL: left out */
	struct probe_counts counts;
};

struct manifest_collector_row {
	const char *name, *file, *state;
	uint64_t rows, bytes, lost, dropped, dropped_bytes;
};

/* A closed segment that is there. */
struct manifest_segment_row {
	char file[80];
	uint64_t rows, bytes, stored_bytes;
	uint64_t first_ns, last_ns; /* TIMESTAMP; 0: no row */
};

/* How the trace is stored. */
struct manifest_storage {
	const char *compress; /* NULL: not */
	uint64_t rotate_bytes, rotate_ns, keep_bytes; /* 0: not asked for */
	bool rollup_only;
	uint64_t compressed_from_bytes, compressed_bytes, compress_cpu_us;
	uint64_t dropped_segments, dropped_unsummed_rows;
};

struct manifest {
	/* what manifest_begin() takes down */
	char *const *cmdline;	/* dltraced's own */
	char *const *environ;	/* the workload's */
	const char *cwd;	/* the workload's too; absolute */
	const struct config *cfg; /* experiment, workload and target */

	const struct workload_user *owner; /* whose rights to files the working directory is read with; NULL: ours */

	/* what may change until the end */
	struct manifest_time start, end;
	struct {
		pid_t pid; /* 0: none */
		const char *user;
		struct manifest_time start, end;
		bool status_unknown; /* whose child it was, has not said */
		int status;    /* raw, of waitpid; from END on */
		int exit_code; /* what dltraced returns for it */
	} workload;
	struct {
		bool kept; /* --log */
		uint64_t written_bytes, lost_bytes, unsure_bytes;
	} workload_log;
	uint64_t not_on_disk_bytes; /* of the trace, at its end */
	const struct left_running *left; /* behind the end; NULL: not known */
	const struct manifest_probe_row *probes;
	unsigned int n_probes;
	const struct manifest_collector_row *collectors;
	unsigned int n_collectors;
	const struct manifest_segment_row *segments;
	size_t n_segments;
	struct manifest_storage storage;
	const struct privileges *privileges; /* NULL: not known yet */
	const char *uring_hooks, *uring_why; /* of io_uring: what its requests are seen by, or why they are not */
	unsigned int n_rings;
	uint64_t ring_bytes, ring_reserve_bytes; /* of each */
	uint64_t skipped_runs;	 /* of the system call hooks, by the kernel: calls may be missing */
	uint64_t compat_calls;	 /* 32-bit calls: seen, not decoded */
	uint64_t written_bytes;	 /* by us, to all files of the trace */

	struct json head; /* ours */
};

/* Take down what holds from the start on, this machine and its clock among it. 0 or -ENOMEM. */
int manifest_begin(struct manifest *m);

/*
 * What manifest.json says now, as text, which is the caller's to free; COMPLETE: the trace has ended and its files are
 * whole. 0 or -ENOMEM.
 */
int manifest_text(const struct manifest *m, bool complete, char **text_ret, size_t *len_ret);
/*
 * Put it into the folder DIRFD, in place of any that is there, which may take its time. It belongs to whom the folder
 * belongs. 0 or -errno: then the old one stands.
 */
int manifest_put(int dirfd, const char *text, size_t len);

void manifest_free(struct manifest *m);

/* A member of the open object: what is traced, as CFG says. */
void manifest_put_target(struct json *j, const struct config *cfg);

/* Does a manifest show ENTRY (NAME=VALUE)? */
bool manifest_shows(const char *entry);

/* Members of the open object: those of ENV that say how a job is set up, secrets hidden. */
void manifest_put_environ(struct json *j, char *const *env);

#endif
