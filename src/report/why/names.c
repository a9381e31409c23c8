/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What names tell of roles: which files are data of the job and which its programs, and what an
 * argument list says of the process that runs it. Pure; texts are escaped as in the files.
 */
#include <string.h>

#include "base/util.h"
#include "report/why/names.h"

/* A million files are asked for: lengths are compared first, and most names differ in these. */
#define NAME(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

struct name {
	const char *p;
	size_t len;
};

static bool has(struct reader_field f, const char *part)
{
	return memmem(f.p, f.len, part, strlen(part)) != NULL;
}

static bool is_one_of(struct reader_field f, const struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (f.len == names[i].len && memcmp(f.p, names[i].p, f.len) == 0)
			return true;
	return false;
}

/* Where systems keep programs, settings, and what is no file at all. */
static bool is_of_system(struct reader_field path)
{
	static const struct name folders[] = {
		NAME("/bin/"),	       NAME("/boot/"),	   NAME("/dev/"),	NAME("/etc/"),
		NAME("/lib/"),	       NAME("/lib32/"),	   NAME("/lib64/"),	NAME("/proc/"),
		NAME("/run/"),	       NAME("/sbin/"),	   NAME("/sys/"),	NAME("/usr/bin/"),
		NAME("/usr/include/"), NAME("/usr/lib/"),  NAME("/usr/lib32/"), NAME("/usr/lib64/"),
		NAME("/usr/libexec/"), NAME("/usr/sbin/"), NAME("/usr/share/"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (path.len >= folders[i].len && path.p[1] == folders[i].p[1] &&
		    memcmp(path.p, folders[i].p, folders[i].len) == 0)
			return true;
	return false;
}

/* Packages of languages, and what is remembered of sources. */
static bool is_package(struct reader_field folder)
{
	static const struct name folders[] = { NAME(".git"), NAME("dist-packages"),
					       NAME("node_modules"), NAME("site-packages") };

	return is_one_of(folder, folders, ARRAY_SIZE(folders)) ||
	       (folder.len > strlen("python") &&
		memcmp(folder.p, "python3", strlen("python3")) == 0);
}

/* Programs, their sources, and what is made of these. */
static bool is_program(struct reader_field name)
{
	static const struct name ends[] = {
		NAME("a"),    NAME("c"),   NAME("cc"), NAME("class"), NAME("cpp"),
		NAME("cu"),   NAME("d"),   NAME("go"), NAME("h"),     NAME("hpp"),
		NAME("java"), NAME("js"),  NAME("mk"), NAME("o"),     NAME("py"),
		NAME("pyc"),  NAME("pyi"), NAME("rs"), NAME("sh"),    NAME("so"),
	};
	const char *dot = memrchr(name.p, '.', name.len);

	if (!dot)
		return reader_is(name, "Makefile");
	return is_one_of((struct reader_field){ dot + 1, name.len - (size_t)(dot + 1 - name.p) },
			 ends, ARRAY_SIZE(ends)) ||
	       has(name, ".so.");
}

bool why_is_data(const struct report_file *f, struct reader_field path)
{
	const char *end = path.p + path.len, *slash;

	if (f->type == REPORT_SHM || f->type == REPORT_BLK)
		return true;
	if (f->type != REPORT_REG || path.len < 2 || is_of_system(path))
		return false;
	for (const char *at = path.p;; at = slash + 1) {
		slash = memchr(at, '/', (size_t)(end - at));
		if (!slash)
			return !is_program((struct reader_field){ at, (size_t)(end - at) });
		if (is_package((struct reader_field){ at, (size_t)(slash - at) }))
			return false;
	}
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
	static const char *const shells[] = { "sh",   "bash", "dash",	 "ksh", "zsh",	   "tmux",
					      "sudo", "time", "timeout", "env", "dltraced" };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (reader_is(name, shells[i]))
			return true;
	return false;
}

void why_program(struct report_proc *p, struct reader_field args)
{
	p->shell = why_is_shell(base_of(args));
	/* who is not forked but spawned runs the program anew; a tracker only tidies up */
	p->spawned = has(args, "multiprocessing") && !has(args, "resource_tracker");
	p->args = args.len > 1 ? table_key(args.p, args.len) : 0;
}
