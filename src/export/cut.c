/* SPDX-License-Identifier: BSD-2-Clause */
/* See cut.h. */
#include "export/cut.h"

#include <errno.h>
#include <string.h>

#include "report/files/path_filter.h"

int cut_init(struct export_cut *c, const struct pids *pids, const char *path)
{
	int res = 0;

	*c = (struct export_cut){ .pids = *pids };
	if (path) {
		c->only = calloc(1, sizeof(*c->only));
		res = c->only ? path_filter_init(c->only, path) : -ENOMEM;
	}
	return res;
}

void cut_free(struct export_cut *c)
{
	if (c->only)
		free(c->only->only.path);
	free(c->only);
	number_set_free(&c->fids);
	*c = (struct export_cut){ 0 };
}

bool cut_names(const char *list, const char *name)
{
	const size_t len = strlen(name);

	if (!list)
		return true;
	for (const char *s = list; *s; s += strcspn(s, ","), s += *s == ',')
		if (strcspn(s, ",") == len && !memcmp(s, name, len))
			return true;
	return false;
}

int cut_host(struct export_cut *cut, int dirfd)
{
	struct reader_row row;
	struct reader rd;
	uint64_t fid;
	int res;

	if (!cut->only)
		return 0;
	number_set_free(&cut->fids);
	if (reader_open(&rd, dirfd, "files.out") < 0)
		return 0;
	const unsigned int at = reader_column(&rd, "FID"), path_at = reader_column(&rd, "REALPATH");

	for (res = 0; res == 0 && reader_next(&rd, &row) > 0;)
		if (path_filter_has(cut->only, reader_field(&row, path_at)) && reader_u64(reader_field(&row, at), &fid))
			res = number_set_add(&cut->fids, fid);
	reader_close(&rd);
	return res;
}

static bool has_pid(const struct export_cut *c, uint64_t pid)
{
	return pids_have(&c->pids, pid);
}

static bool has_fid(const struct export_cut *c, uint64_t fid)
{
	return number_set_has(&c->fids, fid);
}

/* Keeps the rows whose COLUMN has a selected number; of a file without the column, all rows. */
static unsigned int keep(const struct export_cut *cut, const struct export_file *file, struct reader_row *rows,
			 unsigned int n, const char *column,
			 bool (*has)(const struct export_cut *export_cut, uint64_t number))
{
	const unsigned int i = export_table_column(file->table, column), at = i ? file->at[i - 1] : 0;
	unsigned int kept = 0;
	uint64_t number;

	if (!at)
		return n;
	for (unsigned int k = 0; k < n; k++)
		if (reader_u64(reader_field(&rows[k], at), &number) && has(cut, number))
			rows[kept++] = rows[k];
	return kept;
}

unsigned int cut_rows(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n)
{
	if (c->pids.n)
		n = keep(c, f, rows, n, "PID", has_pid);
	return c->only ? keep(c, f, rows, n, "FID", has_fid) : n;
}
