/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings of other people's into rows, back out of them, and into JSON; numbers, sizes, times, names. */
#include "fuzz.h"

#include "base/json.h"
#include "base/text.h"
#include "host/cgroup/container.h"
#include "base/units.h"
#include "trace/manifest_read.h"
#include "trace/outdir.h"
#include "trace/segment.h"

static void there_and_back(const char *s, size_t len)
{
	autofree char *field = malloc(TEXT_ESCAPED_MAX(len)), *back = NULL;
	char *end = text_put_str(field, s, len);
	size_t field_len = (size_t)(end - field);

	EXPECT(field_len <= TEXT_ESCAPED_MAX(len) && field_len);
	for (char *p = field; p < end; p++)
		EXPECT((unsigned char)*p > ' ' && *p != '"' && *p != '#' && *p != 0x7f);
	for (char *p = field; p < end;) {
		unsigned int n = text_utf8_len(p, (size_t)(end - p));

		EXPECT(n);
		p += n;
	}
	back = malloc(field_len);
	EXPECT(text_unescape(back, field, field_len) == len && !memcmp(back, s, len));
}

/* A command line's text in the manifest, and as the manifest's reader returns it. */
static void through_json(const char *s, size_t len)
{
	static struct manifest_facts m;
	autofree char *text = NULL;
	struct json j = { 0 };

	json_object(&j, NULL);
	json_strn(&j, "host", s, len);
	json_s64(&j, "schema", 1);
	json_end(&j);
	EXPECT(json_finish(&j) == 0);
	for (size_t i = 0; i < j.len;) {
		unsigned int n = text_utf8_len(j.buf + i, j.len - i);

		EXPECT(n);
		i += n;
	}
	text = fuzz_text((const uint8_t *)j.buf, j.len);
	json_free(&j);
	EXPECT(manifest_parse(&m, text) == 0 && m.schema == 1);
}

static void parse_words(const char *s)
{
	static const struct outdir_names names = {
		.experiment = "e", .host = "h", .job = "j", .rank = "n", .stamp = "t", .pid = "p"
	};
	uint64_t a = 0, b = 0;
	struct segment_name name;
	char part[65], path[PATH_MAX], file[NAME_MAX + 1];

	units_parse_time(s, &a);
	units_parse_size(s, &a);
	units_parse_size_or_time(s, &a, &b);
	container_id_in(s);
	if (outdir_part(part, sizeof(part), s))
		EXPECT(!strcmp(part, s));
	if (outdir_expand(s, &names, path, sizeof(path)) == 0)
		EXPECT(strlen(path) < sizeof(path));
	segment_is_leftover(s);
	if (!segment_parse(s, &name))
		return;
	segment_format(file, name.base, name.nr, name.pack);
	EXPECT(segment_parse(file, &name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *exact = malloc(size + !size), *text = fuzz_text(data, size);
	autofree char *plain = malloc(size + !size);

	if (size)
		memcpy(exact, data, size);
	there_and_back(exact, size);
	through_json(exact, size);
	text_unescape(plain, exact, size);
	parse_words(text);
	return 0;
}
