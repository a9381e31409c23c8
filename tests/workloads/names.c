// SPDX-License-Identifier: BSD-2-Clause
/*
 * names: uses files whose names and kinds a tracer easily gets wrong, and prints what it did.
 *
 *   names DIR >EXPECTATION
 *
 * Blanks, newlines, escape sequences, 255 bytes of UTF-8, invalid UTF-8, names that look like a trace's own syntax, a
 * tree 200 deep whose last path has 4095 bytes and one beyond it, deleted files, memfd, pipes, sockets, eventfd, /proc,
 * /sys, /dev/shm.
 *
 * The expectation has a line for each operation: KIND PATH PATH2 READ WRITTEN, with TABs between.
 *   KIND   for an operation on names only, the call (mkdir, rmdir, rename, unlink, symlink, mknod); for an
 *          open that fails, the expected error (ENAMETOOLONG, ENOENT, ENOTDIR); else the kind of file that
 *          was opened, read and written
 *   PATH   hex of the full path; for files without one, of readlink(/proc/self/fd/N)
 *   PATH2  hex of a rename's target, of a symlink's text, or of the file that an opened symlink led to;
 *          for files that were opened relative to a folder, the name as it was passed
 *          (`-`: none, or empty)
 *   READ, WRITTEN  bytes
 * DIR is left empty.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "die.h"

#define DEPTH 200
#define LONGEST (PATH_MAX - 1)
#define CREATE (O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
#define X5(s) s s s s s
#define X85(s) X5(X5(s) X5(s) X5(s) s s)

static const char *const names[] = {
	" ", " blanks  around ", "tab\tin", "new\nline", "\n", "carriage\rreturn", "\x01\x02\x1f", "del\x7f",
	/* names that would control a terminal if they were not escaped */
	"\033[31mred\033[0m", "\033]0;title\007", "\b\b\b",
	/* names that look like text of the trace itself */
	"-", "?", "--", "#", "# dltraced open 1", "\"", "\"quoted\"", "it's", "\\", "\\011", "\\055", "a\\",
	"row\n1\t2\t3", "%s%n", "$(id)`id`;&|<>*",
	/* valid UTF-8: 2, 3, 4 bytes, combining mark, right-to-left override, first and last */
	"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "e\xcc\x81",
	"\xe2\x80\xae"
	"exe",
	"\xc2\x80", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xf4\x8f\xbf\xbf", X85("\xe2\x82\xac"), /* 255 bytes */
	/* invalid UTF-8: stray, cut, overlong, surrogate, above U+10FFFF */
	"\x80", "\xff\xfe", "cut\xc3", "cut\xe2\x82", "cut\xf0\x9f\x98", "\xc3\xc3\xa9", "\xc0\xaf", "\xe0\x80\xaf",
	"\xf0\x80\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80",
	X85("\xff\xff\xff"), /* 255 bytes, four times as many when escaped */
};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

static const char *dir;

static void hex(const char *s)
{
	if (!s || !*s)
		putchar('-');
	for (; s && *s; s++)
		printf("%02x", (unsigned char)*s);
}

static void expect(const char *kind, const char *path, const char *path2, size_t read, size_t written)
{
	printf("%s\t", kind);
	hex(path);
	putchar('\t');
	hex(path2);
	printf("\t%zu\t%zu\n", read, written);
}

static const char *join(char *path, const char *folder, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		die("%s/...", folder);
	}
	return path;
}

static int must(int ret, const char *what)
{
	if (ret < 0)
		die("%s", what);
	return ret;
}

static size_t put(int fd, size_t len)
{
	static const char data[4096] = "written by names\n";

	if (write(fd, data, len) != (ssize_t)len)
		die("write %zu bytes", len);
	return len;
}

static size_t get(int fd)
{
	char buf[8192];
	ssize_t n = read(fd, buf, sizeof(buf));

	if (n < 0)
		die("read");
	return (size_t)n;
}

/* Writes len bytes, reads them back, closes. */
static void use_file(int fd, const char *kind, const char *path, const char *path2, size_t len)
{
	size_t written = put(fd, len);

	must((int)lseek(fd, 0, SEEK_SET), "lseek");
	expect(kind, path, path2, get(fd), written);
	close(fd);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The lengths differ, so that no row can be mistaken for another's. */
static void name_life(const char *name, size_t len)
{
	char path[PATH_MAX], path2[PATH_MAX], folder[PATH_MAX];

	join(path, dir, name);
	join(path2, join(folder, dir, "moved"), name);
	use_file(must(open(path, CREATE, 0600), path), "reg", path, NULL, len);
	must(rename(path, path2), "rename");
	expect("rename", path, path2, 0, 0);
	must(unlink(path2), "unlink");
	expect("unlink", path2, NULL, 0, 0);
	must(mkdir(path, 0700), "mkdir");
	expect("mkdir", path, NULL, 0, 0);
	must(rmdir(path), "rmdir");
	expect("rmdir", path, NULL, 0, 0);
}

static void all_names(void)
{
	char folder[PATH_MAX];

	must(mkdir(join(folder, dir, "moved"), 0700), "mkdir moved");
	for (size_t i = 0; i < NR_NAMES; i++)
		name_life(names[i], 100 + i);
	must(rmdir(folder), "rmdir moved");
}

static void symlinks(void)
{
	static const char target[] = "target\tof\nlink";
	char link[PATH_MAX], path[PATH_MAX];

	join(link, dir, "-");
	join(path, dir, target);
	must(symlink(target, link), "symlink");
	expect("symlink", link, target, 0, 0);
	use_file(must(open(link, O_RDWR | O_CREAT | O_CLOEXEC, 0600), link), "follow", link, path, 300);
	must(unlink(link), "unlink link");
	must(unlink(path), "unlink target");
}

/*
 * Steps down DEPTH folders of equal names, so long that a file at the bottom has a path of LONGEST bytes; then one
 * folder further, whose files no path reaches.
 */
static void deep_tree(void)
{
	const size_t room = LONGEST - strlen(dir), slot = room / (DEPTH + 1);
	char path[PATH_MAX], part[NAME_MAX + 1] = "", file[NAME_MAX + 1] = "", name[2 * PATH_MAX];
	size_t len = strlen(dir);
	int at = must(open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), dir), next;

	if (slot < 2)
		die("%s leaves no room below", dir);
	memset(part, 'd', slot - 1);
	memset(file, 'f', room - DEPTH * slot - 1);
	strcpy(path, dir);
	for (int i = 0; i < DEPTH; i++) {
		must(mkdirat(at, part, 0700), "mkdirat");
		next = must(openat(at, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "openat");
		close(at);
		at = next;
		len += (size_t)sprintf(path + len, "/%s", part);
	}
	snprintf(name, sizeof(name), "%s/%s", path, file);
	use_file(must(openat(at, file, CREATE, 0600), file), "deep", name, file, 400);
	use_file(must(open(name, O_RDWR | O_CLOEXEC), "open a long path"), "deep", name, NULL, 401);
	must(unlinkat(at, file, 0), "unlinkat");

	must(mkdirat(at, file, 0700), "mkdirat");
	next = must(openat(at, file, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "openat");
	snprintf(name, sizeof(name), "%s/%s/beyond", path, file);
	use_file(must(openat(next, "beyond", CREATE, 0600), name), "beyond", name, "beyond", 402);
	must(unlinkat(next, "beyond", 0), "unlinkat");
	close(next);
	must(unlinkat(at, file, AT_REMOVEDIR), "unlinkat");

	for (int i = 0; i < DEPTH; i++) {
		next = must(openat(at, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "openat ..");
		must(unlinkat(next, part, AT_REMOVEDIR), "unlinkat");
		close(at);
		at = next;
	}
	close(at);
}

static void expect_open_fails(const char *path, int err, const char *kind)
{
	if (open(path, O_RDONLY | O_CLOEXEC) >= 0 || errno != err)
		die("open was to fail with %s", kind);
	expect(kind, path, NULL, 0, 0);
}

static void failed_opens(void)
{
	char path[PATH_MAX], name[NAME_MAX + 2] = "", longer[5001] = "";

	memset(name, 'n', NAME_MAX + 1);
	memset(longer, '/', sizeof(longer) - 1);
	expect_open_fails(join(path, dir, name), ENAMETOOLONG, "ENAMETOOLONG");
	expect_open_fails(longer, ENAMETOOLONG, "ENAMETOOLONG");
	expect_open_fails(join(path, dir, "not\nthere"), ENOENT, "ENOENT");
	expect_open_fails("", ENOENT, "ENOENT");
	expect_open_fails("/dev/null/-", ENOTDIR, "ENOTDIR");
}

/* ---- kinds ----------------------------------------------------------------------------------- */

/* Returns the kernel's own name for a file that was not opened by path. */
static const char *fd_name(char *path, int fd)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	must((int)n, link);
	path[n] = '\0';
	return path;
}

static void deleted_file(void)
{
	char path[PATH_MAX];
	int fd = open(join(path, dir, "deleted\t"), CREATE, 0600);

	must(fd, path);
	must(unlink(path), "unlink");
	use_file(fd, "deleted", path, NULL, 500);
}

static void memory_files(void)
{
	char path[PATH_MAX], shm[64];
	int fd = must(memfd_create("weights\n#1", MFD_CLOEXEC), "memfd_create");

	use_file(fd, "memfd", fd_name(path, fd), NULL, 501);
	snprintf(shm, sizeof(shm), "/dev/shm/names\ttest.%d", getpid()); /* unique on the machine */
	use_file(must(open(shm, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), shm), "shm", shm, NULL, 502);
	must(unlink(shm), shm);
}

static void fifo(void)
{
	char path[PATH_MAX];
	size_t written;
	int fd;

	must(mkfifo(join(path, dir, "fifo\033"), 0600), "mkfifo");
	expect("mknod", path, NULL, 0, 0);
	fd = must(open(path, O_RDWR | O_CLOEXEC), path);
	written = put(fd, 503);
	expect("fifo", path, NULL, get(fd), written);
	close(fd);
	must(unlink(path), path);
}

static void pair(const char *kind, int from, int to, size_t len)
{
	char path[PATH_MAX];
	size_t written = put(to, len);

	fd_name(path, to);
	if (!strcmp(fd_name((char[PATH_MAX]){}, from), path)) {
		expect(kind, path, NULL, get(from), written);
	} else {
		expect(kind, path, NULL, 0, written);
		expect(kind, fd_name(path, from), NULL, get(from), 0);
	}
	close(from);
	if (to != from)
		close(to);
}

static void files_without_names(void)
{
	int fd[2];

	must(pipe2(fd, O_CLOEXEC), "pipe");
	pair("pipe", fd[0], fd[1], 504);
	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), "socketpair");
	pair("socket", fd[0], fd[1], 505);
	fd[0] = must(eventfd(1, EFD_CLOEXEC), "eventfd");
	pair("eventfd", fd[0], fd[0], sizeof(uint64_t));
}

static void system_file(const char *kind, const char *path, int flags, size_t len)
{
	int fd = must(open(path, flags | O_CLOEXEC), path);

	if (flags == O_RDONLY)
		expect(kind, path, NULL, get(fd), 0);
	else
		expect(kind, path, NULL, 0, put(fd, len));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: names DIR\n", stderr);
		return 2;
	}
	if (mkdir(argv[1], 0700) < 0 && errno != EEXIST)
		die("%s", argv[1]);
	dir = realpath(argv[1], NULL);
	if (!dir)
		die("%s", argv[1]);

	puts("KIND\tPATH\tPATH2\tREAD\tWRITTEN");
	all_names();
	symlinks();
	deep_tree();
	failed_opens();
	deleted_file();
	memory_files();
	fifo();
	files_without_names();
	system_file("proc", "/proc/self/stat", O_RDONLY, 0);
	system_file("sys", "/sys/devices/system/cpu/online", O_RDONLY, 0);
	system_file("chr", "/dev/zero", O_RDONLY, 0);
	system_file("chr", "/dev/null", O_WRONLY, 506);
	return 0;
}
