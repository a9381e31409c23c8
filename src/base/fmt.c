/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fmt.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

static char *scaled(char buf[FMT_MAX], double v, const char *unit)
{
	snprintf(buf, FMT_MAX, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, unit);
	return buf;
}

char *fmt_count(char buf[FMT_MAX], uint64_t n)
{
	*text_put_u64(buf, n) = '\0';
	return buf;
}

char *fmt_bytes(char buf[FMT_MAX], uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(buf, FMT_MAX, "%u B", (unsigned int)bytes);
		return buf;
	}
	for (; v >= 1023.5 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1024;
	return scaled(buf, v, units[i]);
}

char *fmt_ns(char buf[FMT_MAX], uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double v = (double)ns / 1000;
	size_t i = 0;

	if (ns < 1000) {
		snprintf(buf, FMT_MAX, "%u ns", (unsigned int)ns);
		return buf;
	}
	for (; v >= 999.5 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1000;
	return scaled(buf, v, units[i]);
}

/* Bytes of the harmless character at S, 0 when it has to be escaped. */
static size_t plain_len(const char *s)
{
	unsigned char c = (unsigned char)s[0];
	size_t len = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	char escaped[TEXT_ESCAPED_MAX(4)];

	if (c < 0x80)
		return c >= ' ' && c != 0x7f;
	/* text.h knows what valid UTF-8 is: only that stays as it is. */
	if (strnlen(s, len) < len || text_put_piece(escaped, s, len) != escaped + len)
		return 0;
	/* The C1 controls, which terminals obey, and those that turn the writing direction. */
	if (memcmp(s, "\xc2\x80", 2) >= 0 && memcmp(s, "\xc2\x9f", 2) <= 0)
		return 0;
	/* NOLINTBEGIN(misc-misleading-bidirectional): what is looked for */
	if (len == 3 && ((memcmp(s, "\xe2\x80\xaa", 3) >= 0 && memcmp(s, "\xe2\x80\xae", 3) <= 0) ||
			 (memcmp(s, "\xe2\x81\xa6", 3) >= 0 && memcmp(s, "\xe2\x81\xa9", 3) <= 0)))
		return 0;
	/* NOLINTEND(misc-misleading-bidirectional) */
	return len;
}

void fmt_text(FILE *out, const char *s, int width)
{
	if (!s)
		s = "-";
	while (*s) {
		size_t len = plain_len(s);

		if (len) {
			fwrite(s, 1, len, out);
			s += len;
			width--;
		} else {
			fprintf(out, "\\%03o", (unsigned char)*s++);
			width -= 4;
		}
	}
	if (width > 0)
		fprintf(out, "%*s", width, "");
}
