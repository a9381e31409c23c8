// SPDX-License-Identifier: BSD-2-Clause
/*
 * flood: makes one cheap call as fast as it can, until it is killed: "flood read" a read of one byte, "flood open" an
 * open of a path of 4 KiB that does not exist, which is the largest record, "flood rename" a change of its own name.
 * With a number, so many calls; then it prints "done" and waits.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PATH_BYTES 4090
#define NAME_BYTES 100

static char path[PATH_BYTES];
static int null_fd;

static void read_byte(void)
{
	char c;

	(void)!read(null_fd, &c, 1);
}

static void open_path(void)
{
	(void)!open(path, O_RDONLY);
}

static void rename_self(void)
{
	prctl(PR_SET_NAME, "flood");
}

static const struct {
	const char *name;
	void (*call)(void);
} kinds[] = { { "open", open_path }, { "read", read_byte }, { "rename", rename_self } };

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	size_t i = 0;

	while (argc > 1 && i < sizeof(kinds) / sizeof(*kinds) && strcmp(kinds[i].name, argv[1]))
		i++;
	if (argc < 2 || i == sizeof(kinds) / sizeof(*kinds))
		errx(2, "usage: flood open|read|rename [N]");
	null_fd = open("/dev/null", O_RDONLY);
	memset(path, 'x', sizeof(path) - 1);
	for (size_t at = 0; at < sizeof(path) - 1; at += NAME_BYTES)
		path[at] = '/';
	if (!n)
		for (;;)
			kinds[i].call();
	while (n--)
		kinds[i].call();
	puts("done");
	fflush(stdout);
	pause();
}
