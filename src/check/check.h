/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Can this machine be traced? A list of needs, one row function each, which looks or tries and adds a row
 * (or one for each finding). Row functions log nothing, change nothing that outlives the call, and do
 * without root as far as they can.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum check_state {
	CHECK_OK,
	CHECK_NOTE, /* works, with a restriction */
	CHECK_MISSING, /* works without; the remedy describes the loss */
	CHECK_FAIL, /* cannot trace */
};

#define CHECK_ROWS_MAX 64

struct check_row {
	char need[24];
	enum check_state state;
	char found[384], remedy[384]; /* as found: the printer escapes them */
};

struct check {
	/* the question */
	const char *root; /* the folder that has /proc, /sys and /etc; "" except in tests */
	const char *out; /* -o, before expansion; NULL: the default */
	uint64_t min_free_bytes; /* UINT64_MAX: default */
	uint64_t buffer_bytes; /* all rings; 0: default */
	uint64_t answer_ns; /* the longest wait for a tool's version; 0: default */

	/* the answer */
	struct check_row rows[CHECK_ROWS_MAX];
	unsigned int n;
	bool no_proc; /* /proc is not mounted: nothing is known about processes and mounts */
	bool has_caps; /* the capabilities are there: trials make sense */
	bool has_btf;
	bool may_bpf; /* and bpf(2) takes programs from us */
	uint32_t hooks; /* those that work, 1 << enum backend */
	char by[128]; /* the backends that serve the probes; empty: no trace can be made */
	char without[128]; /* the probes that none serves */
	unsigned int tracer_files; /* descriptors of all probes; 0: not known */
};

/* Checks everything, in the order of the table in check.c. */
void check_run(struct check *c);
/* Is there no row with fail? */
bool check_possible(const struct check *c);

/* For row functions: a row with a remedy, if not NULL; one without; one formatted later. Return the state. */
enum check_state check_lacks(struct check *check, const char *need, enum check_state state, const char *remedy,
			     const char *found, ...) __attribute__((format(printf, 5, 6)));
#define check_put(c, need, state, ...) check_lacks(c, need, state, NULL, __VA_ARGS__)
enum check_state check_remedy(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reads the text of PATH below the root without blanks at the end; 0 or -errno. */
int check_read(const struct check *c, const char *path, char *buf, size_t size);
#define CHECK_VERDICT "verdict" /* the need of the last row */

/* Is WORD one of the words in LIST, between blanks or quotes? */
bool check_has_word(const char *list, const char *word);
/* Writes the command that installs PACKAGE on this distribution into BUF, and returns it. */
const char *check_install(const struct check *check, const char *package, char *buf, size_t size);

/*
 * Row functions, in their order, as later ones rely on the findings of earlier ones: kernel.c has the
 * contents of kernel files, bpf.c trials, each of which is undone at once, host.c limits, mounts and tools,
 * folder.c the place of the trace, check.c the verdict. Each returns the state of its last row.
 */
/* clang-format off */
#define CHECK_NEEDS(X) \
	X(rights) X(pid_namespace) X(btf) X(lockdown) X(bpf) X(memlock) X(ring_buffer) X(backends) X(probes) \
	X(accesses) X(samples) X(open_files) X(file_size) X(address_space) X(preemption) X(rings) X(tracefs) \
	X(cgroups) X(clock_source) X(clock_synchronised) X(collectors) X(containers) X(folder) \
	X(other_traces) X(verdict)
/* clang-format on */
#define CHECK_FUNCTION(need) check_##need,
#define CHECK_PROTOTYPE(need) enum check_state check_##need(struct check *c);
CHECK_NEEDS(CHECK_PROTOTYPE)

/* --- printing: print.c ------------------------------------------------------------------ */

/* A table of at most WIDTH columns, and the verdict as its last line; COLOUR: states by SGR sequences. */
void check_print(const struct check *check, FILE *out, unsigned int width, bool colour);
/* An array of objects; 0 or -errno. */
int check_print_json(const struct check *check, FILE *out);

#endif
