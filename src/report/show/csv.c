/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a report as CSV files in a folder; and a description of their columns. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/util.h"
#include "report/scan/model.h"
#include "report/show/matrix.h"
#include "report/show/show.h"
#include "report/show/tables.h"
#include "report/show/tables_cpu.h"

/* Opens the folder NAME in AT, made if needed. Returns its descriptor or -errno. */
static int open_folder(int at, const char *name)
{
	int fd;

	if (mkdirat(at, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int cpu_csv_at(const struct report_cpu *r, int at, const char *name)
{
	autoclose int dirfd = open_folder(at, name);

	return dirfd < 0 ? dirfd : view_sections_csv(report_cpu_files, r, dirfd);
}

int report_cpu_csv(const struct report_cpu *r, const char *dir)
{
	return cpu_csv_at(r, AT_FDCWD, dir);
}

int matrix_csv(const struct matrix *m, const char *dir)
{
	autoclose int dirfd = open_folder(AT_FDCWD, dir);

	return dirfd < 0 ? dirfd : view_sections_csv(matrix_sections, m, dirfd);
}

int report_csv(const struct report *r, const char *dir)
{
	autoclose int dirfd = open_folder(AT_FDCWD, dir);
	int res = dirfd < 0 ? dirfd : view_sections_csv(report_sections, r, dirfd);

	return res == 0 && r->cpu ? cpu_csv_at(r->cpu, dirfd, "cpu") : res;
}

void report_columns_markdown(FILE *out)
{
	view_sections_markdown(report_sections, out);
	fputs("\nIn the object `cpu`:\n\n", out);
	view_sections_markdown(report_cpu_sections, out);
	fputs("\nThe CSV files of CPU time, which have every line:\n\n", out);
	view_sections_markdown(report_cpu_files, out);
	fputs("\nOf `--matrix`:\n\n", out);
	view_sections_markdown(matrix_sections, out);
}

char *report_views(void)
{
	struct json j = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	json_array(&j, NULL);
	view_sections_describe(report_sections, &j);
	json_end(&j);
	if (mem)
		json_write(&j, mem);
	json_free(&j);
	if (mem && fclose(mem) == 0 && len)
		return text;
	free(text);
	return NULL;
}
