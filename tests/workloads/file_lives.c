// SPDX-License-Identifier: BSD-2-Clause
/*
 * file_lives: makes, links, renames, exchanges, removes, clones and snapshots files at random, and prints which file
 * each read and write was of.
 *
 *   file_lives [-n CALLS] [-s SEED] [-u UPPER -l LOWER] DIR
 *   file_lives -p DIR		only puts files there, as they may lie on the lower layer of an overlay
 *
 * Files that an earlier -p has put into DIR are used, too. On btrfs DIR/c0 is a subvolume, and there are snapshots of
 * it. A life is one file from its creation to its end, whatever its names and its inode number are. The account of
 * lives is kept here, by what each call is known to do; the file system is not queried for it. Each pread(2) and
 * pwrite(2) has an offset that no other has, and a line on stdout, with TABs between:
 *
 *   OFFSET RW LIFE GENERATION DEV INO REALDEV:REALINO PATH...
 *
 * GENERATION is that of the inode, on an overlay of the one in UPPER; - where it is not known. DEV and INO are those of
 * fstat(2), ? where the subvolume is deleted. REAL is the file below in UPPER or LOWER; ? where these are not given or
 * the file has no name to look for; - where DIR is not on an overlay. PATHs are the paths by which the file may be
 * known: the one by which it was opened last, or the one that the descriptor has now; * is a name that nobody has given
 * it. On stderr is how often each thing was done.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FIRST_OFFSET 1000000 /* no program's loader reads at such an offset */
#define VOLUMES 5
#define NAMES 24 /* in each volume, in FOLDERS folders */
#define FOLDERS 2
#define FDS 24
#define PATHS 8
#define DEEDS_MAX 3 /* calls between two reads or writes */
#define LIVES_MAX 4000000 /* memory for all of them is allocated at the beginning */

/* The names that dltraced may give a file, such as "c0/d1/n07"; "*": any; "!c0/d1/n07": it was one, and is no longer.
 */
struct paths {
	char v[PATHS][16];
	unsigned int n;
};

static struct life {
	struct paths known;
	char generation[12]; /* "": not looked at so far */
} * lives;
static unsigned int n_lives, n_found; /* the first ones are files that were there before */

static int names[VOLUMES][NAMES]; /* the life of that name, -1: none */
static bool volumes[VOLUMES];

static struct fd {
	int fd, life; /* fd -1: free */
	char path[16];
} fds[FDS];

static const char *dir, *upper, *lower;
static int dir_fd;
static bool btrfs, stacked;
static uint64_t seed = 1;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "file_lives: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned int pick(unsigned int n)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	return (unsigned int)((z ^ z >> 27) >> 20) % n;
}

/* --- the account ---------------------------------------------------------------------------------- */

struct place {
	unsigned int volume, name;
};

static const char *path_of(struct place at)
{
	static char paths[4][16];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "c%u/d%u/n%02u", at.volume % VOLUMES, at.name % FOLDERS, at.name % NAMES);
	return path;
}

static int *life_at(struct place at)
{
	return &names[at.volume][at.name];
}

static int life_new(void)
{
	if (n_lives == LIVES_MAX)
		die("too many lives");
	lives[n_lives] = (struct life){ .known.n = 0 };
	return (int)n_lives++;
}

static void know(struct paths *p, const char *path)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (!strcmp(p->v[i], path))
			return;
	if (p->n == PATHS) { /* too many to follow */
		p->n = 0;
		path = "*";
	}
	strcpy(p->v[p->n++], path);
}

static void known_only_by(int life, const char *path)
{
	lives[life].known.n = 0;
	know(&lives[life].known, path);
}

/* Renames FROM to TO in the names of LIFE and of its descriptors. */
static void moved(int life, const char *from, const char *to)
{
	struct paths old = lives[life].known;

	lives[life].known.n = 0;
	for (unsigned int i = 0; i < old.n; i++)
		know(&lives[life].known, strcmp(old.v[i], from) ? old.v[i] : to);
	for (struct fd *f = fds; f < fds + FDS; f++)
		if (f->fd >= 0 && f->life == life && !strcmp(f->path, from))
			strcpy(f->path, to);
}

/* The name no longer leads to LIFE. If another rename makes it lead there again, dltraced does not know. */
static void left(int life, const char *path)
{
	char gone[16];

	snprintf(gone, sizeof(gone), "!%s", path);
	moved(life, path, gone);
}

/* Finds a place with a file (USED) or without one, in any volume or in that of LIKE. Returns false where there is none.
 */
static bool place_pick(struct place *at, bool used, const struct place *like)
{
	for (unsigned int tries = 0; tries < 64; tries++) {
		at->volume = like ? like->volume : pick(VOLUMES);
		at->name = pick(NAMES);
		if (volumes[at->volume] && (*life_at(*at) >= 0) == used)
			return true;
	}
	return false;
}

static int names_of(int life, struct place *any)
{
	int n = 0;

	for (unsigned int v = 0; v < VOLUMES; v++)
		for (unsigned int i = 0; volumes[v] && i < NAMES; i++)
			if (names[v][i] == life) {
				*any = (struct place){ v, i };
				n++;
			}
	return n;
}

/* --- the deeds: each returns whether it did something ------------------------------------------------ */

/* Each use of a descriptor may give the file its name. */
static void fd_close(struct fd *f)
{
	know(&lives[f->life].known, f->path);
	close(f->fd);
	f->fd = -1;
}

static struct fd *fd_take(int fd, int life, const char *path)
{
	struct fd *f = &fds[pick(FDS)];

	if (f->fd >= 0)
		fd_close(f);
	*f = (struct fd){ .fd = fd, .life = life };
	strcpy(f->path, path);
	return f;
}

static bool open_file(void)
{
	static const int flags[] = { O_RDONLY, O_RDONLY, O_RDWR, O_RDWR | O_TRUNC, O_RDWR | O_CREAT };
	struct place at;
	const char *path;
	int fd;

	if (!place_pick(&at, true, NULL))
		return false;
	path = path_of(at);
	fd = openat(dir_fd, path, flags[pick(5)], 0600);
	if (fd < 0)
		die(path);
	known_only_by(*life_at(at), path);
	fd_take(fd, *life_at(at), path);
	return true;
}

static struct fd *make(struct place at)
{
	const char *path = path_of(at);
	int fd = openat(dir_fd, path, O_RDWR | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		die(path);
	*life_at(at) = life_new();
	known_only_by(*life_at(at), path);
	return fd_take(fd, *life_at(at), path);
}

static bool create_file(void)
{
	struct place at;

	return place_pick(&at, false, NULL) && make(at);
}

/* In the volume's folder, which has the nameless file. */
static bool tmpfile_link(void)
{
	struct place at;
	char link[32], folder[8];
	const char *path;
	int fd;

	if (!place_pick(&at, false, NULL))
		return false;
	snprintf(folder, sizeof(folder), "c%u/d0", at.volume % VOLUMES);
	fd = openat(dir_fd, folder, O_RDWR | O_TMPFILE, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
		return false;
	path = path_of(at);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (fd < 0 || linkat(AT_FDCWD, link, dir_fd, path, AT_SYMLINK_FOLLOW) < 0)
		die("O_TMPFILE");
	*life_at(at) = life_new();
	known_only_by(*life_at(at), "*");
	fd_take(fd, *life_at(at), "*");
	return true;
}

static bool link_file(void)
{
	struct place from, to;

	if (!place_pick(&from, true, NULL) || !place_pick(&to, false, &from))
		return false;
	if (linkat(dir_fd, path_of(from), dir_fd, path_of(to), 0) < 0)
		die("link");
	*life_at(to) = *life_at(from);
	return true;
}

/* Removes a name, and sets *AT to where it was. */
static bool take_away(struct place *at)
{
	if (!place_pick(at, true, NULL))
		return false;
	if (unlinkat(dir_fd, path_of(*at), 0) < 0)
		die("unlink");
	left(*life_at(*at), path_of(*at));
	return true;
}

static bool unlink_file(void)
{
	struct place at;

	if (!take_away(&at))
		return false;
	*life_at(at) = -1;
	return true;
}

/* Replaces a file by another one at once, which has its inode number where the file system reuses numbers. */
static bool recreate_file(void)
{
	struct place at;

	return take_away(&at) && make(at);
}

static bool rename_file(bool over, unsigned int flags)
{
	struct place from, to, any;
	int life, other;

	if (!place_pick(&from, true, NULL) || !place_pick(&to, over, &from) || *life_at(from) == *life_at(to))
		return false; /* rename does nothing to two names of one file */
	if (renameat2(dir_fd, path_of(from), dir_fd, path_of(to), flags) < 0) {
		if (flags && errno == EINVAL)
			return false;
		die("rename");
	}
	life = *life_at(from);
	other = *life_at(to);
	*life_at(from) = flags & RENAME_EXCHANGE ? other : -1;
	*life_at(to) = life;
	if (over && !flags)
		left(other, path_of(to));
	moved(life, path_of(from), path_of(to));
	/* the only name left may be the known one, although the file was opened by another */
	if (names_of(life, &any) == 1)
		know(&lives[life].known, path_of(to));
	if (flags & RENAME_EXCHANGE)
		moved(other, path_of(to), path_of(from));
	if (flags & RENAME_EXCHANGE && names_of(other, &any) == 1)
		know(&lives[other].known, path_of(from));
	return true;
}

static bool rename_free(void)
{
	return rename_file(false, 0);
}
static bool rename_over(void)
{
	return rename_file(true, 0);
}
static bool rename_exchange(void)
{
	return rename_file(true, RENAME_EXCHANGE);
}

static bool clone_file(void)
{
	struct place from, to;
	struct fd *f;
	int fd, r;

	if (!place_pick(&from, true, NULL) || !place_pick(&to, false, &from))
		return false;
	fd = openat(dir_fd, path_of(from), O_RDONLY);
	if (fd < 0)
		die("clone");
	known_only_by(*life_at(from), path_of(from));
	f = make(to);
	r = ioctl(f->fd, FICLONE, fd);
	close(fd);
	return r == 0;
}

static int folder_fd(unsigned int volume)
{
	char name[8];

	snprintf(name, sizeof(name), "c%u", volume % VOLUMES);
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY);
}

/* The copy has a life of its own of each file in the volume. */
static void volume_copy(unsigned int from, unsigned int to)
{
	for (unsigned int i = 0; i < NAMES; i++) {
		names[to][i] = -1;
		for (unsigned int j = 0; j < i; j++)
			if (names[from][i] >= 0 && names[from][j] == names[from][i])
				names[to][i] = names[to][j];
		if (names[from][i] >= 0 && names[to][i] < 0)
			names[to][i] = life_new();
	}
	volumes[to] = true;
}

static bool snapshot(void)
{
	struct btrfs_ioctl_vol_args_v2 args = {};
	unsigned int from = pick(VOLUMES), to = 1 + pick(VOLUMES - 1);

	if (!btrfs || !volumes[from] || volumes[to])
		return false;
	snprintf(args.name, sizeof(args.name), "c%u", to);
	args.fd = folder_fd(from);
	if (args.fd < 0 || ioctl(dir_fd, BTRFS_IOC_SNAP_CREATE_V2, &args) < 0)
		die("snapshot");
	close((int)args.fd);
	volume_copy(from, to);
	return true;
}

static bool volume_delete(unsigned int volume)
{
	struct btrfs_ioctl_vol_args args = {};

	snprintf(args.name, sizeof(args.name), "c%u", volume % VOLUMES);
	return ioctl(dir_fd, BTRFS_IOC_SNAP_DESTROY, &args) == 0;
}

static bool snapshot_delete(void)
{
	unsigned int volume = 1 + pick(VOLUMES - 1);

	if (!btrfs || !volumes[volume])
		return false;
	for (struct fd *f = fds; f < fds + FDS; f++) /* so that its device number becomes free */
		for (unsigned int i = 0; f->fd >= 0 && i < NAMES; i++)
			if (names[volume][i] == f->life)
				fd_close(f);
	if (!volume_delete(volume))
		die("delete a snapshot");
	volumes[volume] = false;
	for (unsigned int i = 0; i < NAMES; i++)
		names[volume][i] = -1;
	return true;
}

/* --- reads and writes ------------------------------------------------------------------------------- */

/* Below an overlay, a file has the name that it has in the overlay; it lies on the upper layer if there is one. */
static void real_put(int life)
{
	struct place at;
	struct stat st;
	char path[4096];

	if (!stacked || !upper || !names_of(life, &at)) {
		printf(stacked ? "?" : "-");
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", upper, path_of(at));
	if (stat(path, &st) < 0) {
		snprintf(path, sizeof(path), "%s/%s", lower, path_of(at));
		if (stat(path, &st) < 0)
			die(path);
	}
	printf("%u:%u:%llu", major(st.st_dev), minor(st.st_dev), (unsigned long long)st.st_ino);
}

/* A file that was on the overlay before may have come from LOWER, whose inode counts. */
static const char *generation_of(const struct fd *f)
{
	struct life *l = &lives[f->life];
	struct place at;
	char path[4096];
	int fd = -1;
	long got;

	if (l->generation[0])
		return l->generation;
	strcpy(l->generation, "-");
	if (stacked && upper && (unsigned int)f->life >= n_found && names_of(f->life, &at)) {
		snprintf(path, sizeof(path), "%s/%s", upper, path_of(at));
		fd = open(path, O_RDONLY | O_CLOEXEC);
	} else if (!stacked) {
		fd = dup(f->fd);
	}
	if (fd >= 0 && !ioctl(fd, FS_IOC_GETVERSION, &got))
		snprintf(l->generation, sizeof(l->generation), "%u", (uint32_t)got);
	if (fd >= 0)
		close(fd);
	return l->generation;
}

static bool call(long long offset)
{
	struct fd *f = &fds[pick(FDS)];
	struct stat st;
	bool writes;
	char c = 'x';

	if (f->fd < 0)
		return false;
	writes = (fcntl(f->fd, F_GETFL) & O_ACCMODE) != O_RDONLY && pick(2);
	if (writes ? pwrite(f->fd, &c, 1, offset) != 1 : pread(f->fd, &c, 1, offset) < 0)
		die(f->path);
	if (fstat(f->fd, &st) < 0)
		die("fstat");
	know(&lives[f->life].known, f->path);
	printf("%lld\t%c\t%d\t%s\t", offset, writes ? 'W' : 'R', f->life, generation_of(f));
	printf(st.st_dev ? "%u:%u" : "?", major(st.st_dev), minor(st.st_dev));
	printf("\t%llu\t", (unsigned long long)st.st_ino);
	real_put(f->life);
	for (unsigned int i = 0; i < lives[f->life].known.n; i++)
		printf("\t%s", lives[f->life].known.v[i] + (lives[f->life].known.v[i][0] == '!'));
	printf("\n");
	return true;
}

/* --- the deeds, by weight ----------------------------------------------------------------------------- */

static struct deed {
	bool (*do_it)(void);
	const char *name;
	unsigned int weight, done;
} deeds[] = {
	{ open_file, "open", 30, 0 },
	{ create_file, "create", 12, 0 },
	{ unlink_file, "unlink", 8, 0 },
	{ recreate_file, "recreate", 12, 0 },
	{ rename_free, "rename", 8, 0 },
	{ rename_over, "rename-over", 8, 0 },
	{ rename_exchange, "rename-exchange", 6, 0 },
	{ link_file, "link", 6, 0 },
	{ tmpfile_link, "tmpfile", 4, 0 },
	{ clone_file, "clone", 4, 0 },
	{ snapshot, "snapshot", 2, 0 },
	{ snapshot_delete, "snapshot-delete", 2, 0 },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static void do_one(void)
{
	unsigned int sum = 0, at;

	for (unsigned int i = 0; i < DEEDS; i++)
		sum += deeds[i].weight;
	at = pick(sum);
	for (struct deed *d = deeds;; at -= d++->weight)
		if (at < d->weight) {
			d->done += d->do_it();
			return;
		}
}

/* Makes the volume and its folders; a subvolume, where the file system has them, without earlier snapshots. */
static void volume_make(void)
{
	struct btrfs_ioctl_vol_args_v2 args = { .name = "c0" };
	struct statfs fs;

	if (fstatfs(dir_fd, &fs) < 0)
		die("statfs");
	btrfs = (uint32_t)fs.f_type == BTRFS_SUPER_MAGIC;
	stacked = (uint32_t)fs.f_type == OVERLAYFS_SUPER_MAGIC;
	if (btrfs ? ioctl(dir_fd, BTRFS_IOC_SUBVOL_CREATE_V2, &args) : mkdirat(dir_fd, "c0", 0700))
		if (errno != EEXIST)
			die("c0");
	if ((mkdirat(dir_fd, "c0/d0", 0700) < 0 || mkdirat(dir_fd, "c0/d1", 0700) < 0) && errno != EEXIST)
		die("c0/d0");
	for (unsigned int i = 1; btrfs && i < VOLUMES; i++)
		volume_delete(i);
	volumes[0] = true;
}

/* The files of an earlier run: each is one file, so of several links only one stays. */
static void files_find(void)
{
	memset(names, -1, sizeof(names));
	for (unsigned int i = 0; i < FDS; i++)
		fds[i].fd = -1;
	for (unsigned int i = 0; i < NAMES; i++) {
		const char *path = path_of((struct place){ 0, i });
		struct stat st;

		if (fstatat(dir_fd, path, &st, 0) == 0 && (st.st_nlink == 1 || unlinkat(dir_fd, path, 0) < 0))
			names[0][i] = life_new();
	}
	n_found = n_lives;
}

int main(int argc, char **argv)
{
	unsigned int calls = 1000;
	bool put = false;
	int o;

	while ((o = getopt(argc, argv, "n:s:u:l:p")) != -1) {
		if (o == 'n')
			calls = (unsigned int)atoi(optarg);
		else if (o == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (o == 'u')
			upper = optarg;
		else if (o == 'l')
			lower = optarg;
		else if (o == 'p')
			put = true;
		else
			return 2;
	}
	if (optind + 1 != argc || !upper != !lower)
		return 2;
	dir = argv[optind];
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY);
	lives = calloc(LIVES_MAX, sizeof(*lives));
	if (dir_fd < 0 || !lives)
		die(dir);
	volume_make();
	files_find();
	for (unsigned int i = 0; put && i < NAMES; i += 2)
		make((struct place){ 0, i });
	for (unsigned int n = 0; !put && n < calls;) {
		for (unsigned int i = pick(DEEDS_MAX + 1); i; i--)
			do_one();
		n += call(FIRST_OFFSET + n);
	}
	for (unsigned int i = 0; !put && i < DEEDS; i++)
		fprintf(stderr, "%s %u\n", deeds[i].name, deeds[i].done);
	return 0;
}
