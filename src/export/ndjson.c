/* SPDX-License-Identifier: BSD-2-Clause */
/* A JSON object for each row, a line each: host, probe, and the columns under their names. */
#include <errno.h>
#include <string.h>

#include "export/exporter.h"
#include "export/text.h"

#define KEY_MAX 32 /* of `,"NAME":'; the copy always has this length, which is fast */

struct ndjson {
	const struct export_table *table; /* whose keys are below */
	struct key {
		char text[KEY_MAX];
		unsigned int len;
	} key[READER_COLUMNS_MAX];
	char *head; /* {"host":"H","probe":"P" */
	size_t head_len;
	char *long_key[READER_COLUMNS_MAX]; /* of a tool's column with a longer name; else NULL */
};

static void free_keys(struct ndjson *s)
{
	free(TAKE_PTR(s->head));
	for (unsigned int i = 0; i < READER_COLUMNS_MAX; i++)
		free(TAKE_PTR(s->long_key[i]));
	s->table = NULL;
}

static int make_key(struct ndjson *ndjson, unsigned int i, const char *name)
{
	autofree char *text = malloc(TEXT_JSON_MAX(strlen(name)) + 8);
	char *end;

	if (!text)
		return -ENOMEM;
	end = stpcpy(text_put_json_s(stpcpy(text, ",\""), name), "\":");
	*end = '\0';
	ndjson->key[i].len = (unsigned int)(end - text);
	if (ndjson->key[i].len > KEY_MAX)
		ndjson->long_key[i] = TAKE_PTR(text);
	else
		memcpy(ndjson->key[i].text, text, ndjson->key[i].len);
	return 0;
}

static int make_keys(struct export *export, const struct export_table *table)
{
	struct ndjson *ndjson = export->state;
	int res = 0;

	free_keys(ndjson);
	ndjson->head = malloc(TEXT_JSON_MAX(strlen(export->host->name)) + 128);
	if (!ndjson->head)
		return -ENOMEM;
	char *end = text_put_json_s(stpcpy(ndjson->head, "{\"host\":\""), export->host->name);

	end = text_put_json_s(stpcpy(end, "\",\"probe\":\""), table->name);
	*end++ = '"';
	ndjson->head_len = (size_t)(end - ndjson->head);
	for (unsigned int i = 0; i < table->n && res == 0; i++)
		res = make_key(ndjson, i, table->column[i].name);
	ndjson->table = table;
	return res;
}

static inline char *put_key(char *p, const struct ndjson *s, unsigned int i)
{
	if (s->long_key[i])
		memcpy(p, s->long_key[i], s->key[i].len);
	else
		memcpy(p, s->key[i].text, KEY_MAX);
	return p + s->key[i].len;
}

static char *put_null(char *p)
{
	memcpy(p, "null", 4);
	return p + 4;
}

static inline char *put_digits(char *p, struct reader_field v)
{
	memcpy(p, v.p, v.len);
	return p + v.len;
}

/* Puts the member of column I: null for `-', and nothing at all for a value that is not known, `?'. */
static inline char *put_value(struct export *export, const struct ndjson *ndjson, char *p, unsigned int i,
			      enum column_type type, struct reader_field v)
{
	bool number;

	if (v.len == 1 && (v.p[0] == '-' || v.p[0] == '?'))
		return v.p[0] == '-' ? put_null(put_key(p, ndjson, i)) : p;
	p = put_key(p, ndjson, i);
	switch (type) {
	case COLUMN_UINT:
		number = text_is_uint(v);
		break;
	case COLUMN_INT:
		number = text_is_int(v);
		break;
	case COLUMN_ANY:
		number = text_is_number(v);
		break;
	default:
		number = false;
	}
	if (number)
		return put_digits(p, v);
	if (type == COLUMN_UINT || type == COLUMN_INT) {
		export->bad_numbers++;
		return put_null(p);
	}
	*p++ = '"';
	p = text_put_json(p, v, export->scratch);
	*p++ = '"';
	return p;
}

static size_t row_len(const struct export_file *f, const struct reader_row *row)
{
	return row->stop[f->in.reader.n_columns] - row->stop[0];
}

static int put_rows(struct export *export, const struct export_file *file, const struct reader_row *rows,
		    unsigned int n)
{
	const struct ndjson *ndjson = export->state;
	const struct export_table *table = file->table;
	size_t keys = 0;

	if (ndjson->table != table) {
		int res = make_keys(export, table);

		if (res < 0)
			return res;
	}
	for (unsigned int i = 0; i < table->n; i++)
		keys += ndjson->key[i].len + 24;
	for (unsigned int r = 0; r < n; r++) {
		char *p = out_room(&export->out,
				   ndjson->head_len + keys + KEY_MAX + TEXT_JSON_MAX(row_len(file, &rows[r])));

		if (!p)
			return -ENOMEM;
		memcpy(p, ndjson->head, ndjson->head_len);
		p += ndjson->head_len;
		for (unsigned int i = 0; i < table->n; i++)
			p = put_value(export, ndjson, p, i, table->column[i].type, export_field(file, &rows[r], i));
		*p++ = '}';
		*p++ = '\n';
		out_put(&export->out, p);
		if (out_record(&export->out) < 0)
			return export->out.error;
	}
	return 0;
}

static int forget_host(struct export *x)
{
	free_keys(x->state);
	return 0;
}

static void close_all(struct export *x)
{
	free_keys(x->state);
}

const struct exporter export_ndjson = {
	.name = "ndjson",
	.help = "a JSON object for each row, a line each",
	.order = EXPORT_BY_FILE,
	.state_size = sizeof(struct ndjson),
	.host = forget_host,
	.rows = put_rows,
	.close = close_all,
};
