/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --metrics-file: counts that are kept besides the rows. The drain adds, the control plane reads at any
 * time (relaxed, as a sink's counts) and prints them in the text format of Prometheus.
 */
#ifndef DRAIN_ROWS_METRICS_H
#define DRAIN_ROWS_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "dlt/bio.h"
#include "dlt/dlt.h"
#include "trace/probe_mask.h"

struct counts;
struct dlt_vfs_rw_sums;
struct failed_calls;

#define METRICS_BOUNDS 25 /* 1 us to 100 s, in steps of 2 to 2.5 */
#define METRICS_DISKS_MAX 64 /* the last stands for all later ones */
#define METRICS_OPS (DLT_BIO_OTHER + 1)

/* How many took at most so long: not cumulative here. hist.h would need 30 KB for each. */
struct metrics_hist {
	uint64_t n[METRICS_BOUNDS + 1];
	uint64_t sum_ns;
};

struct metrics_disk {
	char name[DLT_DISK_LEN];
	struct metrics_hist lat[METRICS_OPS]; /* queued to done */
	uint64_t bytes[METRICS_OPS];
};

/* All zero is nothing counted. */
struct metrics {
	struct metrics_hist calls[DLT_PROBES];
	uint64_t read_bytes, written_bytes; /* by rows of vfs_rw, and its calls without rows */
	uint64_t fetched_bytes; /* DISK_BYTES of them */
	struct metrics_disk disks[METRICS_DISKS_MAX];
	unsigned int n_disks; /* released: those below are named */
};

/* Drain: one row of PROBE. Rows of files and mappings from before the trace are not calls. */
void metrics_row(struct metrics *m, unsigned int probe, const struct dlt_hdr *rec);
/* Likewise calls of vfs_rw that have no rows. The latency of each is the middle of its bucket. */
void metrics_sums(struct metrics *m, const struct dlt_vfs_rw_sums *rec);

/* The state of a trace at one moment. */
struct metrics_now {
	const char *trace, *experiment, *folder; /* names, unescaped */
	const struct counts *counts;
	probe_mask probes; /* mask: series are there from the start, of those with rows too */
	const struct metrics *rows;
	const struct failed_calls *failed;
	bool tracing, paused; /* paused: below --min-free */
	uint64_t start_ns; /* of tracing, since the epoch; 0: it has not begun */
	uint64_t end_ns; /* likewise; 0: it goes on */
	uint64_t processes; /* of the target, alive */
	uint64_t buffer_bytes, buffer_used_bytes, buffer_fullest_bytes, ring_bytes;
	uint64_t free_bytes, least_bytes;
	uint64_t cpu_user_ns, cpu_system_ns, resident_bytes; /* our own */
};

/* Prints all of it in Prometheus' text format, version 0.0.4, in the order of the table in docs/metrics.md. */
void metrics_put(FILE *out, const struct metrics_now *now);

#endif
