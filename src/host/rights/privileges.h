/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is left of root's power once the hooks are on: a table of capabilities, each with its reason,
 * and the file system seen as the workload's user sees it. Knows no probe and no file.
 */
#ifndef HOST_RIGHTS_PRIVILEGES_H
#define HOST_RIGHTS_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

struct workload_user;

struct privilege {
	const char *name; /* as capabilities(7) writes it */
	unsigned int cap;
	const char *why;
};

/* What a trace does after its start that takes more than nothing. */
struct privilege_needs {
	bool children; /* the collectors, or what --collect and --archive need: they become a user */
	bool user_work; /* --collect, --archive */
	bool files_of_others; /* --metrics-file */
};

struct privileges {
	const struct workload_user *user;
	uint32_t kept; /* a bit for each row of the table */
	bool given_up; /* by the main thread; the others do it as they start */
};

/* What is to be kept; pure but for who we are. USER lives as long as P. */
void privileges_plan(struct privileges *p, const struct workload_user *user, const struct privilege_needs *needs);
/* The Ith capability that is kept, NULL past the last. */
const struct privilege *privileges_kept(const struct privileges *p, unsigned int i);

/*
 * The calling thread, and what it starts from here on, has only what is kept, in its bounding set too;
 * its files are those of the user; no program that it executes gains anything (no_new_privs). Each
 * thread for itself: there is no such call for a process. READS_PROCESSES: it reads /proc of other
 * users' processes, and opens nothing else by a path. 0 or -errno. Fine with NULL, which does nothing.
 */
int privileges_give_up(const struct privileges *p, bool reads_processes);

/*
 * From here on the calling thread's rights to files are those of U, groups included, until
 * privileges_as_root(). Does nothing where U is who we are, or we are not root. 0 or -errno. Before
 * there are other threads.
 */
int privileges_as_user(const struct workload_user *u);
void privileges_as_root(void);

/*
 * Run FN where files are reached as who we are, not as the user, and wait for it: in a thread of its own,
 * for a thread that has given that up cannot take it back. What FN reaches is root's own, and that of
 * others only where that was among the needs.
 */
void privileges_own_files(void (*fn)(void *ctx), void *ctx);

/* For a child before its exec: no capabilities, and no program gives any back. 0 or -errno. */
int privileges_none(void);

#endif
