/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of reports: views, in the files of their names, and the lists of them that make a report. */
#ifndef REPORT_SHOW_TABLES_TABLES_H
#define REPORT_SHOW_TABLES_TABLES_H

#include "report/show/view/view.h"

/* calls.c: of struct report */
extern const struct view view_probes, view_rollup, view_types, view_sources, view_read_sizes, view_slowest, view_waits,
	view_running, view_running_waits, view_disks, view_disk_ops;
/* accesses.c */
extern const struct view view_access_processes, view_access_files, view_access_untouched, view_access_once;
/* allocs.c */
extern const struct view view_allocs, view_allocs_by_peak, view_allocs_by_bytes, view_allocs_by_short,
	view_allocs_by_left, view_alloc_processes, view_alloc_phases;
void report_alloc_text(const void *of, FILE *out);
/* Prints what alloc.out has in a line, without its end. */
void report_alloc_brief(const struct report *report, FILE *out);
/* cache.c */
extern const struct view view_cache;
extern const struct view view_cache_epochs;
/* causes.c */
extern const struct view view_causes, view_causers;
/* datasets.c */
extern const struct view view_datasets;
/* failed.c */
extern const struct view view_failed;
/* functions.c */
extern const struct view view_functions;
/* cgroups.c */
extern const struct view view_cgroups;
/* meta.c */
extern const struct view view_meta;
/* missing.c */
extern const struct view view_missing_reasons;
/* files.c */
extern const struct view view_files_by_bytes, view_files_by_time, view_files_by_written, view_files_by_opens,
	view_files_shared, view_uses_by_bytes, view_uses_by_time, view_shm, view_classes, view_logs, view_every_file,
	view_every_log, view_every_shm, view_every_use;
/* peers.c */
extern const struct view view_network;
/* layers.c */
extern const struct view view_layers;
/* regions.c */
extern const struct view view_regions;
/* processes.c */
extern const struct view view_processes, view_every_process, view_medians, view_process_histograms, view_histograms,
	view_histogram_counts;
/* Prints view_histograms for a terminal: a table of latencies and one of sizes. */
void report_octaves_text(const void *of, FILE *out);
/* account.c */
extern const struct view view_account;
/* Prints where the time went: a line a process. */
void account_text(const struct report *report, FILE *out);
/* Prints that of one process and the loaders, their largest parts, in lines of up to WIDTH columns. */
void account_brief(const struct report *report, unsigned int width, FILE *out);
/* syscalls.c */
extern const struct view view_syscalls, view_syscalls_by_process;
/* waited.c */
extern const struct view view_path_nodes, view_path_edges;
/* what_if.c */
extern const struct view view_what_if;
/* why.c */
extern const struct view view_epochs, view_epochs_more, view_epoch_sizes, view_epoch_files, view_phase_sums;

/* steps.c */
extern const struct view view_steps, view_slowest_steps, view_overlap;

/* Values of several tables. */
/* The stack of SITE (0: not known), STACK if it is not NULL, in a cell of text; OTHERS: of all others. */
void view_stack(const char *stack, uint64_t site, bool others, struct view_cell *cell);
/* PATH; in its place, shown alone: OTHERS of a row that sums up several, or the FID where it is not known. */
void view_path(const char *path, uint64_t fid, const char *others, struct view_cell *cell);
/* The name of the process whose PID lies at C's place; its rank. */
void view_comm(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);
void view_rank(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);

/* The sections of a report; the last one has neither a view nor a function. */
extern const struct view_section report_sections[];

#endif
