/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The purpose of a file, by its path: data of the job, or software, which is programs, the files that they import and
 * link, and files of the system. Pure; texts are escaped as in the .out files.
 */
#include "report/files/software.h"

#include <string.h>

#include "base/util.h"
#include "trace/system_files.h"

/* Called for a million files: lengths are compared first, since most names differ in them. */
#define NAME(s)                  \
	{                        \
		s, sizeof(s) - 1 \
	}

struct name {
	const char *p;
	size_t len;
};

static bool is_one_of(struct reader_field f, const struct name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (f.len == names[i].len && memcmp(f.p, names[i].p, f.len) == 0)
			return true;
	return false;
}

bool report_is_package(struct reader_field folder)
{
	static const struct name folders[] = { NAME(".git"), NAME("dist-packages"), NAME("node_modules"),
					       NAME("site-packages") };

	return is_one_of(folder, folders, ARRAY_SIZE(folders)) ||
	       (folder.len > strlen("python") && memcmp(folder.p, "python3", strlen("python3")) == 0);
}

/* Whether NAME is the interpreter: python, python3, python3.12. */
static bool is_python(struct reader_field name)
{
	static const char python[] = "python";
	const size_t len = sizeof(python) - 1;

	if (name.len < len || memcmp(name.p, python, len) != 0)
		return false;
	for (size_t i = len; i < name.len; i++)
		if (name.p[i] != '.' && (name.p[i] < '0' || name.p[i] > '9'))
			return false;
	return true;
}

/* Whether NAME is a program, a source or a compiled source. */
static bool is_program(struct reader_field name)
{
	static const struct name ends[] = {
		NAME("a"),  NAME("c"),   NAME("cc"),  NAME("class"), NAME("cpp"), NAME("cu"), NAME("d"),
		NAME("go"), NAME("h"),   NAME("hpp"), NAME("java"),  NAME("js"),  NAME("mk"), NAME("o"),
		NAME("py"), NAME("pyc"), NAME("pyi"), NAME("rs"),    NAME("sh"),  NAME("so"),
	};
	const char *dot = memrchr(name.p, '.', name.len);

	if (is_python(name))
		return true;
	if (!dot)
		return reader_is(name, "Makefile");
	return is_one_of((struct reader_field){ dot + 1, name.len - (size_t)(dot + 1 - name.p) }, ends,
			 ARRAY_SIZE(ends)) ||
	       memmem(name.p, name.len, ".so.", 4);
}

bool report_is_software(struct reader_field path)
{
	const char *end = path.p + path.len, *slash;

	if (system_files_has(SYSTEM_SOFTWARE, path.p, path.len))
		return true;
	for (const char *at = path.p;; at = slash + 1) {
		slash = memchr(at, '/', (size_t)(end - at));
		if (!slash)
			return is_program((struct reader_field){ at, (size_t)(end - at) });
		if (report_is_package((struct reader_field){ at, (size_t)(slash - at) }))
			return true;
	}
}

bool report_is_data(enum report_type type, struct reader_field path)
{
	if (type == REPORT_SHM || type == REPORT_BLK)
		return true;
	return type == REPORT_REG && path.len >= 2 && !report_is_software(path);
}
