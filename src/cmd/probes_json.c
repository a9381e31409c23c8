/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/probes_json.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "base/version.h"
#include "collectors/kinds.h"
#include "trace/probe.h"
#include "trace/reader.h"

/* The type for a reader of the field. An unsigned number may exceed 63 bits: a call may request any length. */
static const char *const types[] = {
	[FIELD_TS] = "int64",      [FIELD_UTC] = "time",       [FIELD_U16] = "int64",     [FIELD_U32] = "int64",
	[FIELD_S32] = "int64",     [FIELD_U64] = "uint64",     [FIELD_S64] = "int64",     [FIELD_HEX] = "hex",
	[FIELD_ADDR] = "hex",      [FIELD_MODE] = "octal",     [FIELD_COMM] = "text",     [FIELD_STR] = "text",
	[FIELD_WORD] = "text",     [FIELD_FUNC] = "name",      [FIELD_NAME] = "name",     [FIELD_FLAGS] = "flags",
	[FIELD_BITS] = "flags",    [FIELD_FID] = "int64",      [FIELD_FILE] = "text",     [FIELD_USTR] = "text",
	[FIELD_STACK] = "text",    [FIELD_ABS] = "text",       [FIELD_REALPATH] = "text", [FIELD_FILEDEV] = "name",
	[FIELD_FILETYPE] = "name", [FIELD_FILESTATE] = "name", [FIELD_REALDEV] = "name",  [FIELD_REALINO] = "uint64",
	[FIELD_PEER] = "text",     [FIELD_SIZE] = "uint64",    [FIELD_LOG2] = "text",
};

static bool is_time_ns(const struct field *f)
{
	size_t len = strlen(f->name);

	return f->kind == FIELD_TS || (len > 3 && strcmp(f->name + len - 3, "_NS") == 0);
}

static void put_columns(struct json *json, const struct probe *probe)
{
	json_array(json, "columns");
	for (const struct field *f = probe->fields; f < probe->fields + probe->n_fields; f++) {
		json_object(json, NULL);
		json_str(json, "name", f->name);
		json_str(json, "type", types[f->kind]);
		json_str(json, "unit", is_time_ns(f) ? "ns" : f->unit);
		json_str(json, "description", f->help);
		json_end(json);
	}
	json_end(json);
}

static void put_probes(struct json *json)
{
	char file[64];

	json_array(json, "probes");
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		json_object(json, NULL);
		json_str(json, "name", probes[i]->name);
		snprintf(file, sizeof(file), "%s.out", probes[i]->name);
		json_str(json, "file", file);
		json_str(json, "description", probes[i]->help);
		put_columns(json, probes[i]);
		json_end(json);
	}
	json_end(json);
}

static void put_collectors(struct json *json)
{
	json_array(json, "collectors");
	for (unsigned int i = 0; i < COLLECTOR_KINDS; i++) {
		json_object(json, NULL);
		json_str(json, "name", collector_kinds[i].name);
		json_str(json, "file", collector_kinds[i].file);
		json_str(json, "description", collector_kinds[i].help);
		json_end(json);
	}
	json_end(json);
}

int probes_json_print(FILE *out)
{
	struct json j = {};

	json_object(&j, NULL);
	json_str(&j, "version", version_text);
	json_u64(&j, "schema", READER_SCHEMA);
	put_probes(&j);
	put_collectors(&j);
	json_end(&j);
	return json_write(&j, out);
}
