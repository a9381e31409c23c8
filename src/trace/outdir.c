/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See outdir.h. Folders are made and entered one component at a time by file descriptor, so that root
 * changes the owner of no folder but one that it has just made or checked.
 */
#include "trace/outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "os/env.h"
#include "os/folder.h"
#include "os/new_file.h"
#include "trace/manifest_read.h"
#include "trace/probe.h"
#include "trace/segment.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

static const char *const job_variables[] = { "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", NULL };
static const char *const rank_variables[] = { "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", NULL };

/*
 * Files of a trace beside those of the probes and collectors. The manifest goes last: as long as
 * it is there, --force works again after a crash.
 */
static const char *const other_files[] = {
	OUTDIR_SOCKET,  OUTDIR_OWN_LOG, "manifest.json.tmp", OUTDIR_LOG,
	OUTDIR_LOG_NEW, "summary.json", "workload.out",      "manifest.json",
};

bool outdir_part(char *dst, size_t size, const char *text)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_.-";
	size_t i;

	for (i = 0; i < size - 1 && text[i]; i++) {
		bool ok = strchr(safe, text[i]) && (i || (text[i] != '.' && text[i] != '-'));

		dst[i] = ok ? text[i] : '_';
	}
	dst[i] = '\0';
	return i && strcmp(dst, text) == 0;
}

/* Returns the value of VARIABLE in ENV; NULL when unset or empty. */
static const char *env_value(char *const *env, const char *variable)
{
	const char *entry = env_find(env, variable), *equals = entry ? strchr(entry, '=') : NULL;

	return equals && equals[1] ? equals + 1 : NULL;
}

/* Returns the first of VARIABLES that is set, or OTHERWISE. */
static void name_from_env(char *dst, size_t size, char *const *env, const char *const *variables, const char *otherwise)
{
	const char *value = NULL;

	for (; *variables && !value; variables++)
		value = env_value(env, *variables);
	outdir_part(dst, size, value ? value : otherwise);
}

void outdir_names_init(struct outdir_names *names, const char *experiment, char *const *env, time_t now)
{
	char host[sizeof(names->host)] = "localhost";
	struct tm tm;

	*names = (struct outdir_names){ .experiment = experiment };
	gethostname(host, sizeof(host) - 1);
	outdir_part(names->host, sizeof(names->host), host);
	name_from_env(names->job, sizeof(names->job), env, job_variables, "nojob");
	name_from_env(names->rank, sizeof(names->rank), env, rank_variables, "0");
	gmtime_r(&now, &tm);
	strftime(names->stamp, sizeof(names->stamp), "%Y%m%d%H%M%S", &tm);
	snprintf(names->pid, sizeof(names->pid), "%d", getpid());
	names->slurm = env_value(env, job_variables[0]) != NULL;
}

/* Returns the text for %C, or NULL. */
static const char *expansion(const struct outdir_names *outdir_names, char c)
{
	const struct {
		char c;
		const char *text;
	} names[] = {
		{ '%', "%" },
		{ 'e', outdir_names->experiment },
		{ 'h', outdir_names->host },
		{ 'j', outdir_names->job },
		{ 'n', outdir_names->rank },
		{ 'p', outdir_names->pid },
		{ 't', outdir_names->stamp },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].c == c)
			return names[i].text;
	return NULL;
}

int outdir_expand(const char *pattern, const struct outdir_names *names, char *buf, size_t size)
{
	char *end = buf + size;

	if (!pattern)
		pattern = names->slurm ? "traces/%e_%j/%h" : "traces/%e_%t";
	if (!*pattern)
		return -EINVAL;
	while (*pattern) {
		const char *text = pattern;
		size_t len = strcspn(pattern, "%");

		pattern += len;
		if (len == 0) {
			text = expansion(names, pattern[1]);
			if (!text)
				return -EINVAL;
			len = strlen(text);
			pattern += 2;
		}
		if (len >= (size_t)(end - buf))
			return -ENAMETOOLONG;
		buf = mempcpy(buf, text, len);
	}
	*buf = '\0';
	return 0;
}

size_t outdir_stem(const char *path)
{
	static const char suffix[] = ".tar.gz";
	const size_t len = strlen(path), n = strlen(suffix);

	return len > n && path[len - n - 1] != '/' && !strcmp(path + len - n, suffix) ? len - n : len;
}

/* Enter NAME below AT, making it when it is missing: then it gets UID and GID. Returns its descriptor or -errno. */
static int enter_parent(int at, const char *name, uid_t uid, gid_t gid)
{
	int there = folder_enter(at, name, O_PATH);
	autoclose int fd = there == -ENOENT ? folder_make(at, name, 0755) : -1;

	if (there != -ENOENT)
		return there;
	if (fd == -EEXIST) /* another rank of the job was faster */
		return folder_enter(at, name, O_PATH);
	if (fd < 0)
		return fd;
	return fchown(fd, uid, gid) < 0 ? -errno : TAKE_FD(fd);
}

static int is_dots(void *ctx, const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..") ? -ENOTEMPTY : 0;
}

/* Returns 1 when it is empty, 0 when not, or -errno. */
static int is_empty(int fd)
{
	int r = segment_each_entry(fd, is_dots, NULL);

	if (r == -ENOTEMPTY)
		return 0;
	return r < 0 ? r : 1;
}

/* A manifest that is cut off counts too: the member "tool" comes first. */
bool outdir_holds_trace(int fd)
{
	autofree struct manifest_facts *m = malloc(sizeof(*m)); /* large for a stack */
	int r = m ? manifest_read_at(m, fd) : -ENOMEM;

	return (r == 0 || r == -EBADMSG) && strcmp(m->tool, "dltraced") == 0;
}

static int remove_file(int fd, const char *name)
{
	return unlinkat(fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

bool outdir_is_name(const char *name)
{
	struct segment_name segment;

	for (unsigned int i = 0; i < ARRAY_SIZE(other_files); i++)
		if (strcmp(other_files[i], name) == 0)
			return true;
	return segment_parse(name, &segment) || segment_is_leftover(name);
}

bool outdir_owns(const char *path)
{
	const char *name;
	autofree char *folder = new_file_folder(path, &name);
	autoclose int fd = folder && outdir_is_name(name) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return fd >= 0 && outdir_holds_trace(fd);
}

/* The files to remove of a folder: those that a trace always writes, and those that OF_COLLECTORS names. */
struct removal {
	int fd;
	outdir_file_fn *of_collectors;
};

/* A segment, or a leftover of compressing one, whose name shows that it is ours. */
static bool is_segment(const char *file, outdir_file_fn *of_collectors)
{
	char base[SEGMENT_BASE_MAX + 4];
	struct segment_name name;
	char rest[NAME_MAX + 1];
	unsigned int i;

	snprintf(rest, sizeof(rest), "%s", file);
	if (segment_is_leftover(file))
		*strrchr(rest, '.') = '\0';
	if (!segment_parse(rest, &name))
		return false;
	snprintf(base, sizeof(base), "%s.out", name.base);
	for (i = 0; of_collectors(i); i++)
		if (!strcmp(of_collectors(i), base))
			return true;
	return probe_find(name.base);
}

static int remove_segment(void *ctx, const char *file)
{
	const struct removal *removal = ctx;

	return is_segment(file, removal->of_collectors) ? remove_file(removal->fd, file) : 0;
}

/* The files that a trace has written; with BUT_LOG not the new log that waits to take the old one's place. */
static int remove_trace(int fd, outdir_file_fn *of_collectors, bool but_log)
{
	struct removal removal = { fd, of_collectors };
	char name[NAME_MAX];
	int r = 0;

	for (unsigned int i = 1; r == 0 && i < DLT_PROBES; i++) {
		snprintf(name, sizeof(name), "%s.out", probes[i]->name);
		r = remove_file(fd, name);
	}
	for (unsigned int i = 0; r == 0 && of_collectors(i); i++)
		r = remove_file(fd, of_collectors(i));
	if (r == 0)
		r = segment_each_entry(fd, remove_segment, &removal);
	for (unsigned int i = 0; r == 0 && i < ARRAY_SIZE(other_files); i++)
		if (!but_log || strcmp(other_files[i], OUTDIR_LOG_NEW))
			r = remove_file(fd, other_files[i]);
	return r;
}

/*
 * May the folder become the trace folder of UID? If so, hand it over. A sticky folder (/tmp) belongs to
 * everyone; a folder of a third user is a trap or a mistake.
 */
static int adopt(struct outdir *outdir, uid_t uid, gid_t gid, bool force)
{
	struct stat st;
	int r;

	if (fstat(outdir->fd, &st) < 0)
		return -errno;
	/* a folder of root becomes another user's only where root has reached it without that user's links */
	if ((st.st_uid != uid && (st.st_uid != geteuid() || !folder_roots_rights())) || (st.st_mode & S_ISVTX))
		return -EPERM;
	/* Where it cannot be locked at all (NFS requires a file open for writing), go on without. */
	if (flock(outdir->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return -EBUSY;
	outdir->before.uid = st.st_uid;
	outdir->before.gid = st.st_gid;
	outdir->before.mode = st.st_mode & 07777;
	r = is_empty(outdir->fd);
	outdir->old_trace = r == 0;
	if (r == 0) {
		if (!outdir_holds_trace(outdir->fd))
			r = -ENOTEMPTY;
		else if (!force)
			r = -EEXIST;
		else
			r = remove_file(outdir->fd, OUTDIR_LOG_NEW);
	}
	if (r < 0)
		return r;
	if ((st.st_uid != uid || (outdir->made && st.st_gid != gid)) && fchown(outdir->fd, uid, gid) < 0)
		return -errno;
	return fchmod(outdir->fd, 0700) < 0 ? -errno : 0;
}

/* A part of a path ends at END; the next is "..". */
static bool goes_up(const char *end)
{
	const char *next = end + strspn(end, "/");

	return next > end && !strncmp(next, "..", 2) && (!next[2] || next[2] == '/');
}

/*
 * Takes NAME/.. out of PATH where NAME is not there: it would be made for nothing. Where it is there it may be a link,
 * and what is above that somewhere else.
 */
static void fold_missing(char *path)
{
	struct stat st;

	for (char *part = path + strspn(path, "/"), *end; *part; part = end + strspn(end, "/")) {
		char after;
		bool missing;

		end = part + strcspn(part, "/");
		if (!goes_up(end) || (end - part == 2 && !strncmp(part, "..", 2)))
			continue;
		after = *end;
		*end = '\0';
		missing = lstat(path, &st) < 0 && errno == ENOENT;
		*end = after;
		if (!missing)
			continue;
		end += strspn(end, "/") + 2;
		end += strspn(end, "/");
		memmove(part, end, strlen(end) + 1);
		end = path; /* what was before it may be such a one, too */
	}
}

int outdir_open(struct outdir *outdir, const char *path, uid_t uid, gid_t gid, bool force)
{
	autoclose int at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	autofree char *parts = strdup(path);
	char *rest = parts, *part, *next;
	int r;

	*outdir = (struct outdir){ .fd = -1, .parent_fd = -1 };
	snprintf(outdir->path, sizeof(outdir->path), "%s", path);
	if (at < 0)
		return -errno;
	if (!parts)
		return -ENOMEM;
	fold_missing(parts);
	snprintf(outdir->path, sizeof(outdir->path), "%s", parts);
	part = strtok_r(rest, "/", &rest);
	while (part && (next = strtok_r(NULL, "/", &rest))) {
		r = enter_parent(at, part, uid, gid);
		if (r < 0) {
			/* this component is what failed, not those below it */
			outdir->path[MIN((size_t)(part - parts) + strlen(part), sizeof(outdir->path) - 1)] = '\0';
			return r;
		}
		close(at);
		at = r;
		part = next;
	}
	if (!part)
		part = ".";
	outdir->made = mkdirat(at, part, 0700) == 0;
	if (!outdir->made && errno != EEXIST)
		return -errno;
	outdir->fd = openat(at, part, DIR_FLAGS | O_NOFOLLOW);
	r = outdir->fd < 0 ? -errno : adopt(outdir, uid, gid, force);
	if (r == 0)
		r = util_fd_path(outdir->fd, outdir->path);
	if (r < 0) {
		outdir_close(outdir);
		if (outdir->made)
			unlinkat(at, part, AT_REMOVEDIR);
	} else if (outdir->made &&
		   snprintf(outdir->name, sizeof(outdir->name), "%s", part) < (int)sizeof(outdir->name)) {
		outdir->parent_fd = TAKE_FD(at);
	}
	return r;
}

int outdir_take(struct outdir *outdir, int fd, uid_t uid)
{
	struct stat st;
	int r;

	*outdir = (struct outdir){ .fd = fd, .parent_fd = -1 };
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode) || fcntl(fd, F_GETFL) & O_PATH)
		return -ENOTDIR;
	if (st.st_uid != uid || st.st_mode & 077)
		return -EPERM;
	r = is_empty(fd);
	outdir->old_trace = r == 0 && outdir_holds_trace(fd);
	return r < 0 ? r : util_fd_path(fd, outdir->path);
}

int outdir_clear(struct outdir *d, outdir_file_fn *of_collectors)
{
	int r = d->old_trace ? remove_trace(d->fd, of_collectors, true) : 0;

	d->old_trace = false;
	if (r == 0 && renameat(d->fd, OUTDIR_LOG_NEW, d->fd, OUTDIR_LOG) < 0 && errno != ENOENT)
		r = -errno;
	return r;
}

/* Best effort: the first failure has been reported already. */
static void give_back(const struct outdir *d)
{
	if (fchown(d->fd, d->before.uid, d->before.gid) == 0)
		(void)!fchmod(d->fd, d->before.mode);
}

void outdir_discard(struct outdir *outdir, outdir_file_fn *of_collectors)
{
	if (outdir->fd < 0)
		return;
	if (outdir->old_trace)
		remove_file(outdir->fd, OUTDIR_LOG_NEW);
	else
		remove_trace(outdir->fd, of_collectors, false);
	if (!outdir->made)
		give_back(outdir);
	if (outdir->parent_fd >= 0) /* stays when something else is in it */
		unlinkat(outdir->parent_fd, outdir->name, AT_REMOVEDIR);
	outdir_close(outdir);
}

void outdir_close(struct outdir *d)
{
	util_close(&d->fd);
	util_close(&d->parent_fd);
}

const char *outdir_strerror(int r)
{
	static const struct {
		int r;
		const char *text;
	} texts[] = {
		{ -EAGAIN, "something else took this name while the folder was made; give one with -o where no other "
			   "user may write" },
		{ -EBUSY, "another dltraced is writing there" },
		{ -EEXIST, "holds a trace already; --force replaces it" },
		{ -ENOSPC, "No space left on device; free some, or give a folder on another disk with -o" },
		{ -ENOTDIR, "is not a folder, or is a symbolic link, which is not followed; give its real path" },
		{ -ENOTEMPTY, "is not empty and holds no trace; give a new folder with -o" },
		{ -EPERM, "cannot become the user's own: it is shared or somebody else's" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].r == r)
			return texts[i].text;
	return strerror(-r);
}
