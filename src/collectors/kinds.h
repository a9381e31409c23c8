/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each collector's tool: its command line, how to stop it, and the form of its text. Const data for
 * collectors.c and process.c (which run the tools) and rows.c (which reads their lines).
 */
#ifndef COLLECTORS_KINDS_H
#define COLLECTORS_KINDS_H

#include <stdbool.h>

#define COLLECTOR_SCHEMA 1

struct collector_kind {
	const char *name; /* as in --collectors */
	const char *file;
	const char *help;
	const char *argv[8]; /* the interval in whole seconds is appended */
	const char *own_argv[4]; /* where the tool is not installed: ourselves, printing its columns (sample.h) */
	bool own; /* there is no tool: ARGV is ourselves, and after the interval comes the target */
	unsigned int max_interval_s; /* the tool's longest interval; 0: any */
	int stop_signal;
	const char *loss; /* the data that the trace lacks without the tool */
	const char *remedy; /* how to get the tool */
	const char *vendor; /* of the PCI devices that it is about; NULL: of no device */

	/* the tool's text */
	const char *header_word; /* found in its header lines alone */
	bool header_hash; /* its header lines begin with '#' */
	const char *first_column; /* name for a clock without a heading, else NULL */
	bool rows_are_dated; /* they begin with a date or a time */
	const char *whole_machine; /* second word of a sample's first row; the others may be thinned */
	bool last_is_text; /* the last column may hold blanks */
};

#define COLLECTOR_KINDS 5
extern const struct collector_kind collector_kinds[COLLECTOR_KINDS];

/* The file of kind I, NULL past the end: outdir_file_fn. */
const char *collectors_file(unsigned int i);
/* Whether the machine below ROOT ("": this one) has a PCI device of VENDOR ("0x10de"), or a node of its driver. */
bool collectors_vendor_there(const char *root, const char *vendor);
/*
 * Returns the kinds in LIST ("cpu,gpu", "none", NULL: all), a bit each; or -EINVAL, with *BAD at the first
 * unknown name.
 */
int collectors_parse(const char *list, const char **bad);

#endif
