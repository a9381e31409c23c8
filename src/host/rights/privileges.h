/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of root's power that stays once the hooks are on: a table of capabilities, each with its reason,
 * and file access as the workload's user. Knows no probe and no file.
 */
#ifndef HOST_RIGHTS_PRIVILEGES_H
#define HOST_RIGHTS_PRIVILEGES_H

#include <stdbool.h>
#include <stdint.h>

struct workload_user;

struct privilege {
	const char *name; /* spelled as in capabilities(7) */
	unsigned int cap;
	const char *why;
};

/* Tasks of a trace after its start that need privileges. */
struct privilege_needs {
	bool children; /* the collectors, or --collect and archives: these become a user */
	bool user_work; /* --collect, archives */
	bool files_of_others; /* --metrics-file */
	bool quota; /* the folder's owner has one */
};

struct privileges {
	const struct workload_user *user;
	uint32_t kept; /* a bit for each row of the table */
	bool given_up; /* by the main thread; the others do it when they start */
};

/* Decides what to keep; pure except for our own ids. USER must live as long as PRIVILEGES. */
void privileges_plan(struct privileges *privileges, const struct workload_user *user,
		     const struct privilege_needs *needs);
/* Returns the Ith capability that is kept, NULL past the last. */
const struct privilege *privileges_kept(const struct privileges *p, unsigned int i);

/*
 * The calling thread, and its children from here on, keep only these, in the bounding set too; file access
 * is the user's; no program that it executes gains anything (no_new_privs). Each thread calls it for
 * itself: there is no such call for a process. READS_PROCESSES: it reads /proc of other users' processes,
 * and opens nothing else by a path. 0 or -errno. Fine with NULL, which does nothing.
 */
int privileges_give_up(const struct privileges *privileges, bool reads_processes);

/*
 * From here on the calling thread's rights to files are those of USER, groups and quotas included, until
 * privileges_as_root(). Does nothing where USER is ourselves, or we are not root. 0 or -errno. Call it before
 * there are other threads.
 */
int privileges_as_user(const struct workload_user *user);
void privileges_as_root(void);

/*
 * Run FN with our own file access, not the user's, and wait for it: in a thread of its own, because a
 * thread that has given that up cannot take it back. FN reaches root's own files, and those of others only
 * if that was among the needs.
 */
void privileges_own_files(void (*fn)(void *ctx), void *ctx);

/* For a child before its exec: no capabilities, and no program restores any. 0 or -errno. */
int privileges_none(void);

#endif
