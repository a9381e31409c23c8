/* SPDX-License-Identifier: BSD-2-Clause */
/* See cut.h. */
#include "export/cut.h"

#include <errno.h>
#include <string.h>

#include "report/scan/only.h"

int cut_init(struct export_cut *c, const struct pids *pids, const char *path)
{
	int res = 0;

	*c = (struct export_cut){ .pids = *pids };
	if (path) {
		c->only = calloc(1, sizeof(*c->only));
		res = c->only ? report_only_init(c->only, path) : -ENOMEM;
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

int cut_host(struct export_cut *c, int dirfd)
{
	struct reader_row row;
	struct reader rd;
	uint64_t fid;
	int res;

	if (!c->only)
		return 0;
	number_set_free(&c->fids);
	if (reader_open(&rd, dirfd, "files.out") < 0)
		return 0;
	const unsigned int at = reader_column(&rd, "FID"), path_at = reader_column(&rd, "REALPATH");

	for (res = 0; res == 0 && reader_next(&rd, &row) > 0;)
		if (report_only_has(c->only, reader_field(&row, path_at)) && reader_u64(reader_field(&row, at), &fid))
			res = number_set_add(&c->fids, fid);
	reader_close(&rd);
	return res;
}

static unsigned int column(const struct export_file *f, const char *name)
{
	const unsigned int i = export_table_column(f->table, name);

	return i ? f->at[i - 1] : 0;
}

/* Keeps the rows of the chosen processes; of a file without the column, all rows. */
static unsigned int keep_pids(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n)
{
	const unsigned int at = column(f, "PID");
	unsigned int kept = 0;
	uint64_t pid;

	if (!at)
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (reader_u64(reader_field(&rows[i], at), &pid) && pids_have(&c->pids, pid))
			rows[kept++] = rows[i];
	return kept;
}

static unsigned int keep_path(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n)
{
	const unsigned int at = column(f, "FID");
	unsigned int kept = 0;
	uint64_t fid;

	if (!at)
		return n;
	for (unsigned int i = 0; i < n; i++)
		if (reader_u64(reader_field(&rows[i], at), &fid) && number_set_has(&c->fids, fid))
			rows[kept++] = rows[i];
	return kept;
}

unsigned int cut_rows(const struct export_cut *c, const struct export_file *f, struct reader_row *rows, unsigned int n)
{
	if (c->pids.n)
		n = keep_pids(c, f, rows, n);
	return c->only ? keep_path(c, f, rows, n) : n;
}
