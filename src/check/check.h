/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can this machine be traced? A list of needs, one row function each, which looks or tries and
 * puts a row (or a row for each of what it found). Row functions log nothing, change nothing that
 * outlives the call, and do without root as far as they can.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum check_state {
	CHECK_OK,
	CHECK_NOTE,    /* works, but */
	CHECK_MISSING, /* works without; the remedy says what is lost */
	CHECK_FAIL,    /* cannot trace */
};

#define CHECK_ROWS_MAX 64

struct check_row {
	char need[24];
	enum check_state state;
	char found[384], remedy[384]; /* as found: escaped by who prints them */
};

struct check {
	/* the question */
	const char *root;	 /* what /proc, /sys and /etc are below; "" but in tests */
	const char *out;	 /* -o, before expansion; NULL: the default */
	uint64_t min_free_bytes; /* UINT64_MAX: default */
	uint64_t buffer_bytes;	 /* all rings; 0: default */

	/* the answer */
	struct check_row rows[CHECK_ROWS_MAX];
	unsigned int n;
	bool has_caps;		   /* the capabilities are there: trials make sense */
	bool may_bpf;		   /* and bpf(2) takes programs from us */
	unsigned int tracer_files; /* descriptors that all probes took; 0: not known */
};

/* Ask everything, in the order of the table in check.c. */
void check_run(struct check *c);
/* No row says fail. */
bool check_possible(const struct check *c);

/* What row functions are written with: a row, and what to do about it. */
void check_put(struct check *c, const char *need, enum check_state state, const char *found, ...)
	__attribute__((format(printf, 4, 5)));
void check_remedy(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text of PATH below the root without blanks at the end; 0 or -errno. */
int check_read(const struct check *c, const char *path, char *buf, size_t size);
/* The command that installs PACKAGE on this distribution, into BUF, which is returned. */
const char *check_install(const struct check *c, const char *package, char *buf, size_t size);

/* --- row functions ---------------------------------------------------------------------------- */

/* kernel.c: what files of the kernel tell */
void check_rights(struct check *c);
void check_pid_namespace(struct check *c);
void check_btf(struct check *c);
void check_lockdown(struct check *c);
void check_preemption(struct check *c);
void check_clock_source(struct check *c);
void check_clock_synchronised(struct check *c);

/* bpf.c: trials; each is undone at once */
void check_bpf(struct check *c);
void check_memlock(struct check *c);
void check_ring_buffer(struct check *c);
void check_backends(struct check *c);
void check_probes(struct check *c);
void check_rings(struct check *c);

/* host.c: limits, mounts, tools */
void check_open_files(struct check *c);
void check_file_size(struct check *c);
void check_tracefs(struct check *c);
void check_cgroups(struct check *c);
void check_collectors(struct check *c);
void check_containers(struct check *c);
void check_other_traces(struct check *c);

/* folder.c: where the trace will be */
void check_folder(struct check *c);

/* --- printing: print.c ------------------------------------------------------------------ */

/* A table of at most WIDTH columns; COLOUR: states by SGR sequences. */
void check_print(const struct check *c, FILE *out, unsigned int width, bool colour);
/* An array of objects; 0 or -errno. */
int check_print_json(const struct check *c, FILE *out);

#endif
