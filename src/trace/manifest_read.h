/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The few facts of a trace's manifest.json that the offline side needs. Tolerant: unknown members are
 * skipped, missing ones stay empty, long ones are cut.
 */
#ifndef TRACE_MANIFEST_READ_H
#define TRACE_MANIFEST_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "dlt/pids.h"
#include "trace/loss.h"
#include "trace/usage.h"
#include "trace/window.h"

#define MANIFEST_PROBES_MAX 64
#define MANIFEST_LIMITS_MAX 64
#define MANIFEST_COLLECTORS_MAX 16

struct manifest_probe {
	char name[32], backend[32];
	char why[512]; /* not traced, where BACKEND is "none" */
	uint64_t lost_by[LOSSES]; /* of LOST, where the trace counts its reasons */
	uint64_t calls, rows, lost, late, unmatched, unseen, unread, lines, refused, overwritten, filtered, bytes,
		dropped, dropped_bytes, summed, brief, unsure;
};

struct manifest_collector {
	char name[32], state[128];
	uint64_t rows, lost, dropped, bytes, dropped_bytes;
};

/* What alloc.out does not have. */
struct manifest_alloc {
	uint64_t min_bytes, small_calls, small_bytes;
	uint64_t unread_threads, uncovered_processes, unkept_blocks, refused_pages, skipped, siteless;
};

/* Strings are decoded JSON: they may contain anything but NUL. */
struct manifest_facts {
	char tool[32], version[32], host[256], kernel[256];
	char cmdline[4096], argv[4096]; /* dltraced's and the workload's command lines, quoted for sh */
	char user[256];
	char containers[256]; /* the containers of the target: names, ids, `new' */
	uint64_t schema;
	bool complete;
	bool dry; /* nothing was traced: scripts/recipes/matrix ran it */
	bool has_usage;
	uint64_t usage[USAGES]; /* of the workload */
	bool has_status;
	int status; /* of the workload: waitpid's raw number */
	uint64_t workload_pid;
	uint64_t workload_end_ns; /* CLOCK_MONOTONIC; 0: it still runs, or there is none */
	uint64_t left_running, left_running_cpu_us; /* processes of the job that outlived the trace */
	char left_comms[160]; /* of some of them, each once */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; 0: not known */
	uint64_t cut_begin_ns; /* a part of another trace, from this time on; rows that others refer to (PROBE_WHOLE)
				  begin before; 0: a whole one */
	struct window
		window; /* the part that is looked at, which the manifest itself does not know: manifest_narrow() */
	bool rollup_only; /* sums in place of rows */
	uint64_t unsummed_rows; /* dropped by --keep, and missing in rollup.out */
	uint64_t compat_calls; /* 32-bit: seen, but no rows */
	uint64_t skipped_runs; /* of hooks, by the kernel */
	char uring_why[512]; /* why io_uring requests have no rows; "": they have */
	uint64_t self_user_us, self_system_us; /* CPU time of dltraced itself */
	uint64_t self_pid;
	uint64_t page_bytes; /* of the machine; 0: not known */
	uint64_t cpus; /* likewise, those that are online */
	struct manifest_allowed {
		uint64_t n_cpus; /* of these, by its first process when it began; 0: not known */
		uint64_t rlimits[DLT_RLIMITS]; /* soft ones; 0: none, or not known */
		uint64_t shm_bytes, shm_used_bytes; /* of its /dev/shm; 0: not known */
		char cpus[128], cpus_by[16]; /* a list; who has taken the others: docs/traces/manifest.md */
		struct manifest_limit {
			char cgroup[256], file[48], value[64]; /* "/a/b", "cpu.max", "50000 100000" */
		} limits[MANIFEST_LIMITS_MAX]; /* of its cgroup, then of those above it, by hierarchy */
		unsigned int n_limits;
	} allowed; /* to the job */
	struct manifest_alloc alloc;
	bool clock_synchronised, clock_synchronised_at_end; /* by NTP or the like */
	uint64_t clock_maxerror_us, clock_maxerror_at_end_us; /* of UTC then, by the kernel's account */
	char boot_id[40];
	char start_utc[40], end_utc[40];
	char tz[64], localtime[128], utc_offset_s[16]; /* of the host's clock: TZ, the link, a number */
	struct manifest_probe probes[MANIFEST_PROBES_MAX];
	unsigned int n_probes;
	struct manifest_collector collectors[MANIFEST_COLLECTORS_MAX];
	unsigned int n_collectors;
};

/* Parse TEXT. Returns 0, or -EBADMSG when it is not whole: *M has what came before. */
int manifest_parse(struct manifest_facts *m, const char *text);

/* Read it from the trace folder DIRFD; 0, -ENOENT, -EBADMSG or -errno. */
int manifest_read_at(struct manifest_facts *m, int dirfd);

/*
 * Narrows the start and the end of FACTS, the manifest of a whole trace, to WINDOW, as they are in a trace of this part
 * alone. Returns 0, or -ERANGE if the trace has no such time.
 */
int manifest_narrow(struct manifest_facts *facts, const struct window *window);
/* Returns which part of a job's trace FACTS are of: after manifest_narrow(), or of a cut. All zero: the whole trace. */
struct window manifest_part(const struct manifest_facts *facts);
/* Forgets what FACTS of a part have of the whole: what the job used, dltraced's own time, and an end outside. */
void manifest_forget_whole(struct manifest_facts *facts);

/* By --best-effort, or because the hooks were refused at the end of --delay. */
bool manifest_is_untraced(const struct manifest_probe *p);

/* NULL when the manifest does not name it. */
const struct manifest_probe *manifest_probe(const struct manifest_facts *m, const char *name);

#endif
