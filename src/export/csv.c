/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A CSV file (RFC 4180, but lines end with LF) for each file of the trace, in a folder; a single one may go to standard
 * output. Absent and unknown values are empty. Text is written as base/csv.h describes, so that spreadsheets run
 * nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "export/export.h"
#include "export/exporter.h"
#include "export/text.h"
#include "os/folder.h"

struct csv_export {
	bool to_stdout;
	int dirfd; /* the folder of the files */
	unsigned int n_tables;
	char *host; /* as a field, with a comma behind it */
	size_t host_len;
};

static int begin(struct export *export)
{
	struct csv_export *csv_export = export->state;

	csv_export->dirfd = -1;
	csv_export->to_stdout = !strcmp(export->o->out, "-");
	if (csv_export->to_stdout) {
		if (export->o->probes && !strchr(export->o->probes, ','))
			return out_open(&export->out, "-");
		log_err("csv on standard output takes one file of the trace: name it with --probes, or give a folder "
			"with -o");
		return -ECANCELED;
	}
	csv_export->dirfd = folder_open(export->o->out, 0777);
	if (csv_export->dirfd >= 0)
		return 0;
	log_err_r(csv_export->dirfd, "%s: the folder for the CSV files cannot be made", export->o->out);
	return -ECANCELED;
}

/* Returns S as a field; NULL: no memory. For text that is not from a row, but ours, the manifest's or a tool's. */
static char *field(const char *s)
{
	autofree char *escaped = NULL, *scratch = NULL;
	char *ret = NULL, *end;
	const size_t len = strlen(s);

	escaped = calloc(1, len + 32);
	scratch = malloc(len + 32);
	if (escaped && scratch)
		ret = malloc(TEXT_JSON_MAX(len) + 8);
	if (!ret)
		return NULL;
	memcpy(escaped + 16, s, len);
	end = text_put_csv(ret, (struct reader_field){ escaped + 16, len }, scratch);
	*end = '\0';
	return ret;
}

static int table(struct export *export, const struct export_table *export_table)
{
	struct csv_export *csv_export = export->state;

	if (!csv_export->to_stdout) {
		autofree char *name = util_fmt("%s.csv", export_table->name);
		int res = name ? out_open_at(&export->out, csv_export->dirfd, name) : -ENOMEM;

		if (res < 0)
			return res;
	}
	csv_export->n_tables++;
	out_text(&export->out, "host");
	for (unsigned int i = 0; i < export_table->n; i++) {
		autofree char *name = field(export_table->column[i].name);

		out_text(&export->out, ",");
		out_text(&export->out, name ? name : "");
	}
	out_text(&export->out, "\n");
	return export->out.error;
}

static int table_end(struct export *x, const struct export_table *t)
{
	const struct csv_export *s = x->state;

	return s->to_stdout ? x->out.error : out_close(&x->out);
}

static int host(struct export *x)
{
	struct csv_export *s = x->state;

	free(s->host);
	s->host = field(x->host->name);
	s->host_len = s->host ? strlen(s->host) : 0;
	return s->host ? 0 : -ENOMEM;
}

static inline char *put_value(struct export *export, char *p, enum column_type type, struct reader_field v)
{
	bool copied;

	if (v.len == 1 && (v.p[0] == '-' || v.p[0] == '?'))
		return p;
	switch (type) {
	case COLUMN_UINT:
		copied = text_is_uint(v);
		break;
	case COLUMN_INT:
		copied = text_is_int(v);
		break;
	case COLUMN_ANY:
		copied = text_is_number(v);
		break;
	default:
		return text_put_csv(p, v, export->scratch);
	}
	if (!copied && type == COLUMN_ANY)
		return text_put_csv(p, v, export->scratch);
	if (!copied) {
		export->bad_numbers++;
		return p;
	}
	memcpy(p, v.p, v.len);
	return p + v.len;
}

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	const struct csv_export *csv_export = export->state;
	const struct export_table *table = file->table;

	for (unsigned int r = 0; r < n; r++) {
		const size_t len = rows[r].stop[file->in.reader.n_columns] - rows[r].stop[0];
		char *p = out_room(&export->out, csv_export->host_len + TEXT_JSON_MAX(len) + 4 * (size_t)table->n);

		if (!p)
			return -ENOMEM;
		memcpy(p, csv_export->host, csv_export->host_len);
		p += csv_export->host_len;
		for (unsigned int i = 0; i < table->n; i++) {
			*p++ = ',';
			p = put_value(export, p, table->column[i].type, export_field(file, &rows[r], i));
		}
		*p++ = '\n';
		out_put(&export->out, p);
		if (out_record(&export->out) < 0)
			return export->out.error;
	}
	return 0;
}

static int end(struct export *x)
{
	const struct csv_export *s = x->state;

	return s->to_stdout ? out_close(&x->out) : 0;
}

static void close_all(struct export *x)
{
	struct csv_export *s = x->state;

	free(s->host);
	util_close(&s->dirfd);
	out_drop(&x->out);
}

const struct exporter export_csv = {
	.name = "csv",
	.help = "-o FOLDER: a CSV file for each file of the trace; -o -: the one that --probes names",
	.order = EXPORT_BY_FILE,
	.state_size = sizeof(struct csv_export),
	.own_out = true,
	.begin = begin,
	.host = host,
	.table = table,
	.table_end = table_end,
	.rows = put_rows,
	.end = end,
	.close = close_all,
};
