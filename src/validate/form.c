/* SPDX-License-Identifier: BSD-2-Clause */
/* See form.h. */
#include "validate/form.h"

#include <string.h>

#include "base/text.h"
#include "base/util.h"

enum { TEXT, UNSIGNED, SIGNED, HEX, ADDRESS, OCTAL, UTC };

static const struct {
	uint8_t form;
	uint64_t max;
} kinds[] = {
	[FIELD_TS] = { UNSIGNED, UINT64_MAX },
	[FIELD_UTC] = { UTC, 0 },
	[FIELD_U16] = { UNSIGNED, UINT16_MAX },
	[FIELD_U32] = { UNSIGNED, UINT32_MAX },
	[FIELD_S32] = { SIGNED, INT32_MAX },
	[FIELD_U64] = { UNSIGNED, UINT64_MAX },
	[FIELD_SIZE] = { UNSIGNED, UINT64_MAX },
	[FIELD_S64] = { SIGNED, INT64_MAX },
	[FIELD_HEX] = { HEX, 0 },
	[FIELD_ADDR] = { ADDRESS, INT64_MAX },
	[FIELD_MODE] = { OCTAL, 0 },
	[FIELD_FID] = { UNSIGNED, UINT64_MAX },
	[FIELD_REALPATH] = { TEXT, 0 }, /* kinds that this table does not name are text, too */
	[FIELD_REALINO] = { UNSIGNED, UINT64_MAX },
};

static bool all_of(struct reader_field v, const char *chars)
{
	for (size_t i = 0; i < v.len; i++)
		if (!v.p[i] || !strchr(chars, v.p[i]))
			return false;
	return v.len > 0;
}

static bool is_unsigned(struct reader_field v, uint64_t max)
{
	uint64_t n;

	return reader_u64(v, &n) && n <= max && (v.p[0] != '0' || v.len == 1);
}

static bool is_signed(struct reader_field v, uint64_t max)
{
	if (v.len < 2 || v.p[0] != '-')
		return is_unsigned(v, max);
	return v.p[1] != '0' && is_unsigned((struct reader_field){ v.p + 1, v.len - 1 }, max + 1);
}

static bool is_hex(struct reader_field v)
{
	return v.len > 2 && v.len <= 18 && !memcmp(v.p, "0x", 2) &&
	       all_of((struct reader_field){ v.p + 2, v.len - 2 }, "0123456789abcdef");
}

static bool is_utc(struct reader_field v)
{
	static const char like[] = "0000-00-00T00:00:00.000000000Z";

	if (v.len != TEXT_UTC_LEN)
		return false;
	for (size_t i = 0; i < v.len; i++)
		if (like[i] == '0' ? v.p[i] < '0' || v.p[i] > '9' : v.p[i] != like[i])
			return false;
	return true;
}

bool form_has_text(enum field_kind kind)
{
	return kind >= ARRAY_SIZE(kinds) || kinds[kind].form == TEXT;
}

bool form_is(enum field_kind kind, struct reader_field v)
{
	if (v.len == 1 && (v.p[0] == '-' || v.p[0] == '?'))
		return kind != FIELD_TS && kind != FIELD_UTC;
	switch (kinds[kind].form) {
	case UNSIGNED:
		return is_unsigned(v, kinds[kind].max);
	case SIGNED:
		return is_signed(v, kinds[kind].max);
	case HEX:
		return is_hex(v);
	case ADDRESS:
		return is_hex(v) || is_signed(v, kinds[kind].max);
	case OCTAL:
		return v.len <= 23 && v.p[0] == '0' && all_of(v, "01234567");
	case UTC:
		return is_utc(v);
	default:
		return true;
	}
}

bool form_is_text(struct reader_field v, char *scratch)
{
	char *const again = scratch + v.len;
	size_t len;

	if (v.len == 1 && (v.p[0] == '-' || v.p[0] == '?'))
		return true;
	if (!v.len)
		return false;
	if (text_is_plain(v.p, v.len))
		return true;
	len = text_unescape(scratch, v.p, v.len);
	return (size_t)(text_put_str(again, scratch, len) - again) == v.len && !memcmp(again, v.p, v.len);
}
