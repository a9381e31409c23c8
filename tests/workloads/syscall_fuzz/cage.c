// SPDX-License-Identifier: BSD-2-Clause
/*
 * The cage: the calls remove, overwrite and rename what they reach. So they are made where they can reach nothing but a
 * file system of their own: one mount, in its own mount namespace, without devices, /proc and network, by a user
 * without rights. Each of these is checked before the first call; if one is missing, the program ends.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NOBODY 65534
#define MARKER "/syscall_fuzz.cage"

static void refuse(bool unsafe, const char *what)
{
	if (!unsafe)
		return;
	errno = EPERM;
	die(what);
}

/* Whether there are only the files that mkfs.ext4 makes. */
static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	unsigned int n = 0;

	if (!dir)
		die(path);
	for (const struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, "lost+found");
	closedir(dir);
	return n == 0;
}

static void marker_write(const char token[16])
{
	int fd = open(MARKER, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);

	if (fd < 0 || write(fd, token, 16) != 16 || close(fd) < 0)
		die(MARKER);
}

/* Checks that the root is the file system whose mount point DIR was, and that nothing else is mounted. */
static void cage_check(const char token[16], dev_t outside, dev_t inside, int mounts)
{
	static char text[4096];
	struct statfs fs;
	char found[16];
	struct stat st;
	ssize_t n;
	int fd;

	fd = open(MARKER, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || unlink(MARKER) < 0 || read(fd, found, sizeof(found)) != sizeof(found) || close(fd) < 0)
		die(MARKER);
	refuse(memcmp(found, token, sizeof(found)) != 0, "the marker is another one");
	if (stat("/", &st) < 0 || statfs("/", &fs) < 0)
		die("/");
	refuse(st.st_dev == outside || st.st_dev != inside, "the root is not the cage");
	refuse(fs.f_type != TMPFS_MAGIC && fs.f_type != EXT4_SUPER_MAGIC, "the root is neither tmpfs nor ext4");
	n = read(mounts, text, sizeof(text) - 1);
	refuse(n <= 0 || memchr(text, '\n', (size_t)n) != text + n - 1, "more than the cage is mounted");
	refuse(!strstr(text, "nodev"), "the cage has devices");
	refuse(access("/proc", F_OK) == 0 || access("/dev", F_OK) == 0, "/proc or /dev is there");
}

static void rights_drop(void)
{
	const struct rlimit size = { 8 << 20, 8 << 20 }, files = { 1024, 1024 }, none = { 0, 0 },
			    locked = { 64 << 20, 64 << 20 };

	setrlimit(RLIMIT_MEMLOCK, &locked); /* rings and their buffers count against it before Linux 5.12 */
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		die("give up rights");
	/* processes take each other's descriptors with pidfd_getfd(2) */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		die("prctl");
	setrlimit(RLIMIT_FSIZE, &size);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &none);
	refuse(setuid(0) == 0 || access("/", W_OK) < 0, "root is not given up");
}

/* DIR: the mount point of an empty tmpfs or ext4, which becomes the root. */
void cage_enter(const char *dir)
{
	struct stat outside, parent, inside;
	char token[16];
	int mounts;

	refuse(getuid() != 0, "only root can give up rights");
	if (stat("/proc/1/root/", &outside) < 0 && stat("/", &outside) < 0)
		die("/proc/1/root");
	if (getrandom(token, sizeof(token), 0) != sizeof(token))
		die("getrandom");
	if (chdir(dir) < 0 || stat(".", &inside) < 0 || stat("..", &parent) < 0)
		die(dir);
	refuse(inside.st_dev == outside.st_dev || inside.st_dev == parent.st_dev, "DIR is no mount point");
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("namespaces");
	if (mount(NULL, ".", NULL, MS_REMOUNT | MS_BIND | MS_NODEV | MS_NOSUID | MS_NOEXEC, NULL) < 0)
		die("mount -o nodev");
	refuse(!is_empty("."), "DIR is not empty");
	if (mkdir("old", 0700) < 0 || syscall(SYS_pivot_root, ".", "old") < 0 || chdir("/") < 0)
		die("pivot_root");
	mounts = open("/old/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (mounts < 0 || umount2("/old", MNT_DETACH) < 0 || rmdir("/old") < 0)
		die("the old root");
	marker_write(token);
	cage_check(token, outside.st_dev, inside.st_dev, mounts);
	close(mounts);
	if (chown("/", NOBODY, NOBODY) < 0)
		die("chown /");
	rights_drop();
}
