/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a trace folder could not be made. Looks at the folders of its path; changes nothing. */
#include "trace/outdir.h"

#include <errno.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/util.h"

/* Cuts PATH back to what is there; *ST is its. Returns false when nothing is: the current folder has been removed. */
static bool cut_to_existing(char *path, struct stat *st)
{
	while (lstat(path, st) < 0) {
		char *slash = strrchr(path, '/');

		if (!strcmp(path, ".") || !strcmp(path, "/"))
			return false;
		if (!slash)
			strcpy(path, ".");
		else
			slash[slash == path] = '\0';
	}
	return true;
}

static bool current_folder_is_gone(const char *path)
{
	char cwd[PATH_MAX];

	return *path != '/' && !getcwd(cwd, sizeof(cwd)) && errno == ENOENT;
}

/* Whether AT is on one of the kernel's own file systems, where nobody makes files: mkdir(2) has other errors there. */
static bool is_of_kernel(const char *at)
{
	static const long kinds[] = { BPF_FS_MAGIC,       CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC, DEBUGFS_MAGIC,
				      DEVPTS_SUPER_MAGIC, PROC_SUPER_MAGIC,    SYSFS_MAGIC,        TRACEFS_MAGIC };
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && statfs(at, &fs) == 0; i++)
		if ((long)fs.f_type == kinds[i])
			return true;
	return false;
}

/* "/data belongs to alice (mode 0755)" */
static void put_owner(const char *at, const struct stat *st, char *buf, size_t size)
{
	const struct passwd *pw = getpwuid(st->st_uid);
	char real[PATH_MAX];
	char number[16];

	snprintf(number, sizeof(number), "user %u", st->st_uid);
	snprintf(buf, size, "%.1024s belongs to %.64s (mode %04o%s)", realpath(at, real) ? real : at,
		 pw ? pw->pw_name : number, st->st_mode & 07777U, st->st_mode & S_ISVTX ? ", shared by all users" : "");
}

void outdir_explain(const struct outdir *outdir, int r, const char *user, char *buf, size_t size)
{
	char at[PATH_MAX], owner[1280];
	struct stat st;
	bool exists;

	snprintf(at, sizeof(at), "%s", outdir->path);
	exists = cut_to_existing(at, &st);
	if (exists)
		put_owner(at, &st, owner, sizeof(owner));
	if (r == -ENOENT && current_folder_is_gone(outdir->path))
		snprintf(buf, size,
			 "the current folder has been removed: cd to one that is there, or give an absolute path with "
			 "-o");
	else if (exists && is_of_kernel(at))
		snprintf(buf, size, "%.1024s is the kernel's, and holds no files of users; give another folder with -o",
			 at);
	else if (r == -EROFS)
		snprintf(buf, size, "%s; give a folder that can be written with -o", strerror(-r));
	else if (exists && r == -ENOENT && S_ISLNK(st.st_mode))
		snprintf(buf, size, "is a symbolic link to a folder that does not exist; give its real path");
	else if (exists && r == -ENOTDIR && !S_ISLNK(st.st_mode))
		snprintf(buf, size, "is not a folder; give a new one with -o");
	else if (exists && r == -EPERM)
		snprintf(buf, size, "cannot become the folder of %s: %s; give a new one with -o", user, owner);
	else if (exists && r == -EACCES)
		snprintf(buf, size, "%s: %s, and %s may not write there%s; give a folder of %s with -o", strerror(-r),
			 owner, user, strcmp(user, "root") ? "" : " (a file server may give root no rights)", user);
	else if (r == -EACCES && *outdir->path != '/')
		snprintf(buf, size,
			 "%s: %s may not enter the current folder; cd to another one, or give an absolute path with -o",
			 strerror(-r), user);
	else
		snprintf(buf, size, "%s", outdir_strerror(r));
}
