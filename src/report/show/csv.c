/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of a report as CSV files in a folder; and a description of their columns. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/util.h"
#include "os/folder.h"
#include "report/scan/model.h"
#include "report/show/cpu/tables.h"
#include "report/show/show.h"
#include "report/show/svg/matrix.h"
#include "report/show/tables/tables.h"

int report_cpu_csv(const struct report_cpu *r, const char *dir)
{
	autoclose int dirfd = folder_open(dir, 0777);

	return dirfd < 0 ? dirfd : view_sections_csv(report_cpu_files, r, dirfd);
}

int matrix_csv(const struct matrix *m, const char *dir)
{
	autoclose int dirfd = folder_open(dir, 0777);

	return dirfd < 0 ? dirfd : view_sections_csv(matrix_sections, m, dirfd);
}

/* Of what has a table of any length, every row; in place of the first ones, which the other forms have. */
static const struct view_section whole[] = {
	{ .view = &view_every_file }, { .view = &view_every_log }, { .view = &view_every_process },
	{ .view = &view_every_shm },  { .view = &view_every_use }, { 0 },
};

int report_csv(const struct report *report, const char *dir)
{
	autoclose int dirfd = folder_open(dir, 0777);
	int res = dirfd < 0 ? dirfd : view_sections_csv(report_sections, report, dirfd);

	if (res == 0 && report->every)
		res = view_sections_csv(whole, report, dirfd);
	if (res == 0 && report->cpu) {
		autofree char *cpu = util_fmt("%s/cpu", dir);

		res = cpu ? report_cpu_csv(report->cpu, cpu) : -ENOMEM;
	}
	return res;
}

void report_columns_markdown(FILE *out)
{
	view_sections_markdown(report_sections, out);
	fputs("\nIn the object `cpu`:\n\n", out);
	view_sections_markdown(report_cpu_sections, out);
	fputs("\nThe CSV files of CPU time, which have every line:\n\n", out);
	view_sections_markdown(report_cpu_files, out);
	fputs("\nThe CSV files that have every row:\n\n", out);
	view_sections_markdown(whole, out);
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
