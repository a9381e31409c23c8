/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace folder: its name, and making it safely as root in places that belong to users.
 * Control plane; does not log, does not know what the files in the folder mean.
 */
#ifndef OUTDIR_H
#define OUTDIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* What the % of a name stand for, safe as parts of a path. */
struct outdir_names {
	const char *experiment;
	char host[65];
	char job[65];	/* of Slurm, PBS or LSF; "nojob" */
	char rank[17];	/* RANK, SLURM_PROCID or OMPI_COMM_WORLD_RANK; "0" */
	char stamp[16]; /* UTC, YYYYmmddHHMMSS */
	char pid[12];	/* ours */
	bool slurm;	/* SLURM_JOB_ID is set */
};

/*
 * TEXT as part of a folder's name: every byte but A-Z a-z 0-9 . _ - becomes '_', as does a '.' or
 * '-' in front; what SIZE cannot hold is cut off. False: it had to be changed, or is empty.
 */
bool outdir_part(char *dst, size_t size, const char *text);

/* ENV: the environment that dltraced was called with, before sudo stripped it. */
void outdir_names_init(struct outdir_names *n, const char *experiment, char *const *env,
		       time_t now);

/*
 * PATTERN with %h %j %n %e %t %p %% expanded; NULL: the default, traces/%e_%t or, under Slurm,
 * traces/%e_%j/%h. 0, -EINVAL (empty, or another %) or -ENAMETOOLONG.
 */
int outdir_expand(const char *pattern, const struct outdir_names *n, char *buf, size_t size);

/* The folder, open and locked (flock) until it is closed. */
struct outdir {
	int fd;		     /* -1: none */
	char path[PATH_MAX]; /* absolute, no symbolic links */
};

/*
 * Make the folder PATH, and parents that are missing, owned by UID and GID, mode 0700. One that is
 * there already must be empty or, with FORCE, hold a dltraced manifest: the files that dltraced
 * makes are then removed, others stay. On failure -errno, for outdir_strerror(), and nothing in
 * an existing folder has been touched.
 */
int outdir_open(struct outdir *d, const char *path, uid_t uid, gid_t gid, bool force);
void outdir_close(struct outdir *d);

/* Close it without a trace: our files are removed, and the folder if it is then empty. */
void outdir_discard(struct outdir *d);

/* What a failure of outdir_open() means and what to do. */
const char *outdir_strerror(int r);

#endif
