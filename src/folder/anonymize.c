/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See anonymize.h. Of a probe's file the kinds of its columns say which hold names; of a collector's all that is not a
 * number. Of the manifest every text is replaced but those of members that hold none of the user's, which are listed
 * here.
 */
#include "folder/anonymize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "base/util.h"
#include "export/text.h"
#include "folder/copy.h"
#include "trace/probe.h"

struct anonymize {
	const struct names *names;
	enum { NAMED, KEPT, NAMED_UNLESS_NATIVE } form[READER_COLUMNS_MAX]; /* of the current file's columns */
	unsigned int kind; /* its column KIND; 0: none */
	char *plain, *name, *escaped; /* room for the longest field */
};

/* A kind that is not here may hold a name. */
static const uint8_t kinds[] = {
	[FIELD_TS] = KEPT,
	[FIELD_UTC] = KEPT,
	[FIELD_U16] = KEPT,
	[FIELD_U32] = KEPT,
	[FIELD_S32] = KEPT,
	[FIELD_U64] = KEPT,
	[FIELD_S64] = KEPT,
	[FIELD_HEX] = KEPT,
	[FIELD_ADDR] = KEPT,
	[FIELD_MODE] = KEPT,
	[FIELD_WORD] = KEPT,
	[FIELD_FUNC] = KEPT,
	[FIELD_NAME] = KEPT,
	[FIELD_FLAGS] = KEPT,
	[FIELD_BITS] = KEPT,
	[FIELD_FID] = KEPT,
	[FIELD_STACK] = NAMED_UNLESS_NATIVE,
	[FIELD_FILEDEV] = KEPT,
	[FIELD_FILETYPE] = KEPT,
	[FIELD_FILESTATE] = KEPT,
	[FIELD_REALDEV] = KEPT,
	[FIELD_REALINO] = KEPT,
	[FIELD_SIZE] = KEPT,
	[FIELD_LOG2] = KEPT,
};

static void begin_file(void *ctx, const struct copy_file *file)
{
	struct anonymize *anonymize = ctx;
	const struct reader *reader = &file->reader;

	/* a column that no table knows, of a later version or a collector, may hold anything, but for the times */
	for (unsigned int i = 0; i < reader->n_columns; i++)
		anonymize->form[i] =
			strcmp(reader->columns[i], "TIMESTAMP") && strcmp(reader->columns[i], "TIME") ? NAMED : KEPT;
	for (unsigned int k = 0; file->probe && k < file->probe->n_fields; k++) {
		const struct field *field = &file->probe->fields[k];
		const unsigned int at = reader_column(reader, field->name);

		if (at)
			anonymize->form[at - 1] = field->kind < ARRAY_SIZE(kinds) ? kinds[field->kind] : NAMED;
	}
	anonymize->kind = reader_column(reader, "KIND");
}

/* Puts the stand-in of V, escaped; a number of a tool as it is. */
static void put_field(const struct anonymize *anonymize, struct reader_field v, bool of_tool, FILE *out)
{
	size_t len;

	if ((v.len == 1 && (v.p[0] == '-' || v.p[0] == '?')) || (of_tool && text_is_number(v))) {
		fwrite(v.p, 1, v.len, out);
		return;
	}
	len = text_unescape(anonymize->plain, v.p, v.len);
	len = names_put(anonymize->names, anonymize->name, anonymize->plain, len);
	fwrite(anonymize->escaped, 1,
	       (size_t)(text_put_str(anonymize->escaped, anonymize->name, len) - anonymize->escaped), out);
}

static void put(void *ctx, const struct copy_file *file, const struct reader_row *row, FILE *out)
{
	const struct anonymize *anonymize = ctx;
	const bool native = reader_is(reader_field(row, anonymize->kind), "native");

	for (unsigned int i = 1; i <= file->reader.n_columns; i++) {
		const struct reader_field v = reader_field(row, i);

		if (i > 1)
			fputc('\t', out);
		if (anonymize->form[i - 1] == NAMED || (anonymize->form[i - 1] == NAMED_UNLESS_NATIVE && !native))
			put_field(anonymize, v, !file->probe, out);
		else
			fwrite(v.p, 1, v.len, out);
	}
}

/* --- the manifest ------------------------------------------------------------------------------------------------- */

/* Members without names: a path, or with a point at its end all below it. */
static const char *const open_members[] = {
	"tool",
	"version",
	"kernel",
	"kernel_version",
	"start.",
	"end.",
	"probes[].",
	"collectors[].name",
	"collectors[].file",
	"collectors[].state",
	"storage.",
	"alloc.",
	"io_uring.",
	"rings.",
	"privileges.",
	"clock.source",
	"clock_at_end.source",
	"workload.start.",
	"workload.end.",
	"open_waits[].call",
	"open_waits[].object",
	"machine.cpu_model",
	"machine.nvidia.driver",
	"machine.nvidia.gpus[].model",
	"machine.disks[].scheduler",
	"machine.mounts[].fstype",
};

/* Members of which not even a stand-in is of use: a zone without its name is none. */
static const char *const left_out[] = { "clock.tz", "clock.localtime", "clock_at_end.tz", "clock_at_end.localtime" };

static bool is_open(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(open_members); i++) {
		const size_t n = strlen(open_members[i]);

		if (open_members[i][n - 1] == '.' ? !strncmp(path, open_members[i], n) : !strcmp(path, open_members[i]))
			return true;
	}
	return false;
}

/* Returns the stand-in of the JSON string TEXT, as JSON; NULL: no memory. */
static char *stand_in(const struct anonymize *a, const char *text, size_t len)
{
	autofree char *plain = json_read_whole(text, len), *name = plain ? malloc(NAMES_ROOM(strlen(plain))) : NULL;
	struct json j = { .flat = true };

	if (!name)
		return NULL;
	json_strn(&j, NULL, name, names_put(a->names, name, plain, strlen(plain)));
	return json_text(&j);
}

static char *value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strcmp(path, left_out[i]))
			return strdup("null");
	if (event != JSON_STRING || is_open(path))
		return NULL;
	return stand_in(ctx, text, len) ?: strdup("null"); /* not the name itself */
}

static void describe(void *ctx, struct json *j, uint64_t rows, uint64_t rows_left_out)
{
	json_u64(j, "rows", rows);
}

int anonymize_folder(const char *from, const char *to, const struct names *names)
{
	static const struct copy_kind kind = {
		.key = "anonymized",
		.file = begin_file,
		.put = put,
		.value = value,
		.describe = describe,
	};
	autofree struct manifest_facts *m = calloc(1, sizeof(*m));
	autofree char *plain = malloc(READER_BUFFER_BYTES), *name = malloc(NAMES_ROOM(READER_BUFFER_BYTES));
	autofree char *escaped = malloc(TEXT_ESCAPED_MAX(NAMES_ROOM(READER_BUFFER_BYTES)));
	struct anonymize a = { .names = names, .plain = plain, .name = name, .escaped = escaped };
	int fd = m && plain && name && escaped ? copy_open(from, m) : -ENOMEM;

	if (fd < 0)
		return fd;
	close(fd);
	return copy_folder(from, to, m, &kind, &a);
}
