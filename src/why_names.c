/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What names tell of roles: which files are data of the job and which its programs, and what an argument list says
 * of the process that runs it. Pure; texts are escaped as in the files.
 */
#include <string.h>

#include "report.h"
#include "util.h"
#include "why.h"

static bool ends(struct reader_field f, const char *end)
{
	size_t len = strlen(end);

	return f.len >= len && memcmp(f.p + f.len - len, end, len) == 0;
}

static bool begins(struct reader_field f, const char *begin)
{
	size_t len = strlen(begin);

	return f.len >= len && memcmp(f.p, begin, len) == 0;
}

static bool has(struct reader_field f, const char *part)
{
	return memmem(f.p, f.len, part, strlen(part)) != NULL;
}

/* Where systems keep programs, settings, and what is no file at all. */
static const char *const system_folders[] = {
	"/bin/", "/boot/", "/dev/", "/etc/", "/lib", "/proc/", "/run/", "/sbin/", "/sys/", "/usr/bin/", "/usr/include/",
	"/usr/lib", "/usr/sbin/", "/usr/share/",
};
static const char *const program_folders[] = { "/dist-packages/", "/lib/python", "/site-packages/", "/.git/" };
/* Programs, their sources, and what is made of these. */
static const char *const program_ends[] = {
	".a", ".c", ".cc", ".class", ".cpp", ".cu", ".d", ".go", ".h", ".hpp", ".java", ".js", ".mk", ".o", ".py", ".pyc",
	".pyi", ".rs", ".sh", ".so", "/Makefile",
};

bool why_is_data(const struct report_file *f, struct reader_field path)
{
	if (f->type == REPORT_SHM || f->type == REPORT_BLK)
		return true;
	if (f->type != REPORT_REG)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(system_folders); i++)
		if (begins(path, system_folders[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(program_ends); i++)
		if (ends(path, program_ends[i]))
			return false;
	for (size_t i = 0; i < ARRAY_SIZE(program_folders); i++)
		if (has(path, program_folders[i]))
			return false;
	return !has(path, ".so.");
}

/* The last component of the program's name; a login shell has a dash before it. */
static struct reader_field base_of(struct reader_field args)
{
	const char *nul = memmem(args.p, args.len, "\\000", 4), *slash;
	struct reader_field f = { args.p, nul ? (size_t)(nul - args.p) : args.len };

	slash = memrchr(f.p, '/', f.len);
	if (slash)
		f = (struct reader_field){ slash + 1, f.len - (size_t)(slash + 1 - f.p) };
	if (f.len && f.p[0] == '-')
		f = (struct reader_field){ f.p + 1, f.len - 1 };
	return f;
}

bool why_is_shell(struct reader_field name)
{
	static const char *const shells[] = { "sh",   "bash", "dash",	 "ksh", "zsh", "tmux",
					      "sudo", "time", "timeout", "env", "dltraced" };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (reader_is(name, shells[i]))
			return true;
	return false;
}

void why_program(struct report_proc *p, struct reader_field args)
{
	p->shell = why_is_shell(base_of(args));
	/* who is not forked but spawned runs the program anew; a tracker of what is shared only tidies up */
	p->spawned = has(args, "multiprocessing") && !has(args, "resource_tracker");
	p->args = args.len > 1 ? table_key(args.p, args.len) : 0;
}
