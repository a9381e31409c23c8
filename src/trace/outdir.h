/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace folder: its name, and making it safely as root in places that belong to users. Control plane;
 * does not log, does not know what the files in the folder mean.
 */
#ifndef TRACE_OUTDIR_H
#define TRACE_OUTDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* The values of a name's % escapes, safe as parts of a path. */
struct outdir_names {
	const char *experiment;
	char host[65];
	char job[65]; /* of Slurm, PBS or LSF; "nojob" */
	char rank[17]; /* RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK; "0" */
	char stamp[16]; /* UTC, YYYYmmddHHMMSS */
	char pid[12]; /* ours */
	bool slurm; /* SLURM_JOB_ID is set */
};

/*
 * Copies TEXT as part of a folder's name: every byte except A-Z a-z 0-9 . _ - becomes '_', as does a
 * leading '.' or '-'; the end is cut off at SIZE. Returns false when TEXT had to be changed, or is empty.
 */
bool outdir_part(char *dst, size_t size, const char *text);

/* ENV: the environment that dltraced was called with, before sudo stripped it. */
void outdir_names_init(struct outdir_names *names, const char *experiment, char *const *env, time_t now);

/*
 * PATTERN with %h %j %n %e %t %p %% expanded; NULL: the default, traces/%e_%t or, under Slurm,
 * traces/%e_%j/%h. 0, -EINVAL (empty, or another %) or -ENAMETOOLONG.
 */
int outdir_expand(const char *pattern, const struct outdir_names *names, char *buf, size_t size);

/* Returns the length of PATH without an end of .tar.gz, by which a user requests an archive beside the folder. */
size_t outdir_stem(const char *path);

/* The workload's output; until outdir_clear(), under the second name. */
#define OUTDIR_LOG "workload.log"
#define OUTDIR_LOG_NEW "workload.log.new"
/* What dltraced itself has to say, with --background. */
#define OUTDIR_OWN_LOG "dltraced.log"
/* The socket of a running trace whose user can have none elsewhere. */
#define OUTDIR_SOCKET "control.sock"

/* Returns the name of the Ith file that collectors write; NULL past the last. */
typedef const char *outdir_file_fn(unsigned int i);

/* The folder, open and locked (flock) until it is closed. */
struct outdir {
	int fd; /* -1: none */
	int parent_fd; /* its parent, if we have made the folder, for outdir_discard(); -1: none */
	char name[NAME_MAX + 1]; /* there */
	char path[PATH_MAX]; /* absolute, no symbolic links; after a failure, the path that failed */
	bool made; /* made by us */
	bool old_trace; /* holds a trace that is to be replaced */
	struct {
		uid_t uid;
		gid_t gid;
		mode_t mode;
	} before; /* where it was there already */
};

/*
 * Make the folder PATH, and parents that are missing, owned by UID and GID, mode 0700. An existing one must
 * be empty or, with FORCE, hold a dltraced manifest; that trace stays until outdir_clear(). On failure
 * -errno, for outdir_strerror(), and nothing in an existing folder has been touched. With root's rights to
 * files (not after privileges_as_user()) no symbolic link is followed that any other user could have put
 * there.
 */
int outdir_open(struct outdir *outdir, const char *path, uid_t uid, gid_t gid, bool force);
void outdir_close(struct outdir *d);

/*
 * Take over the open folder FD, which is OUTDIR's from now on: opened, locked and cleared for a trace by its
 * owner UID, whose rights we have. 0 or -errno: it is no folder, or not this user's alone.
 */
int outdir_take(struct outdir *outdir, int fd, uid_t uid);

/*
 * A trace is certain now: remove the files that dltraced has made for the old one, leaving others, and give
 * the new log its final name. 0 or -errno.
 */
int outdir_clear(struct outdir *d, outdir_file_fn *of_collectors);

/* Can a file of a trace be called NAME? Segments, files of other versions and temporary names count. */
bool outdir_is_name(const char *name);

/* Does the folder FD hold a trace, by its manifest? */
bool outdir_holds_trace(int fd);

/* Is PATH a name of a trace's files, in a folder that holds a trace? Then no other output may replace it. */
bool outdir_owns(const char *path);

/*
 * Close it without a trace: our files are removed, and the folder too if we have made it and it is empty.
 * An existing folder is unchanged; before outdir_clear() an old trace in it too.
 */
void outdir_discard(struct outdir *outdir, outdir_file_fn *of_collectors);

/* The text for a failure of outdir_open() or outdir_take(): its meaning and what to do. */
const char *outdir_strerror(int r);

/*
 * Writes into BUF why outdir_open() failed with R for OUTDIR, for the user called USER: which folder keeps it from
 * being made, whose that folder is, and what to do.
 */
void outdir_explain(const struct outdir *outdir, int r, const char *user, char *buf, size_t size);

#endif
