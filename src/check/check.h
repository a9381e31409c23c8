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

/* What row functions are written with: a row with what to do about it, if not NULL; one without; that put later. The state. */
enum check_state check_lacks(struct check *c, const char *need, enum check_state state, const char *remedy, const char *found,
			     ...) __attribute__((format(printf, 5, 6)));
#define check_put(c, need, state, ...) check_lacks(c, need, state, NULL, __VA_ARGS__)
enum check_state check_remedy(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text of PATH below the root without blanks at the end; 0 or -errno. */
int check_read(const struct check *c, const char *path, char *buf, size_t size);
/* Is WORD one of those in LIST, between blanks or quotes? */
bool check_has_word(const char *list, const char *word);
/* The command that installs PACKAGE on this distribution, into BUF, which is returned. */
const char *check_install(const struct check *c, const char *package, char *buf, size_t size);

/*
 * Row functions, in the order in which they are asked, as later ones rely on what earlier ones found: kernel.c has what
 * files of the kernel tell, bpf.c trials, each of which is undone at once, host.c limits, mounts and tools, folder.c where
 * the trace will be. Each returns the state of the row that it put last.
 */
#define CHECK_NEEDS(X)                                                                                                 \
	X(rights) X(pid_namespace) X(btf) X(lockdown) X(bpf) X(memlock) X(ring_buffer) X(backends) X(probes)           \
	X(open_files) X(file_size) X(preemption) X(rings) X(tracefs) X(cgroups) X(clock_source) X(clock_synchronised)  \
	X(collectors) X(containers) X(folder) X(other_traces)
#define CHECK_FUNCTION(need) check_##need,
#define CHECK_PROTOTYPE(need) enum check_state check_##need(struct check *c);
CHECK_NEEDS(CHECK_PROTOTYPE)

/* --- printing: print.c ------------------------------------------------------------------ */

/* A table of at most WIDTH columns; COLOUR: states by SGR sequences. */
void check_print(const struct check *c, FILE *out, unsigned int width, bool colour);
/* An array of objects; 0 or -errno. */
int check_print_json(const struct check *c, FILE *out);

#endif
