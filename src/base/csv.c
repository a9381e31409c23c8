/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"

int csv_open(struct csv *c, int dirfd, const char *name)
{
	autoclose int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (ftruncate(fd, 0) < 0)
		return -errno;
	*c = (struct csv){ .out = fdopen(fd, "w") };
	if (!c->out)
		return -errno;
	(void)TAKE_FD(fd);
	return 0;
}

int csv_close(struct csv *c)
{
	bool failed = ferror(c->out);

	errno = 0;
	failed |= fclose(c->out) != 0;
	c->out = NULL;
	return failed ? errno ? -errno : -EIO : 0;
}

static void next(struct csv *c)
{
	if (c->begun)
		fputc(',', c->out);
	c->begun = true;
}

static bool begins_formula(const char *s, size_t len)
{
	static const char *const wide[] = { "\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d", "\xef\xbc\xa0" };

	for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
		if (len >= 3 && memcmp(s, wide[i], 3) == 0)
			return true;
	return len && strchr("=+-@\t\r\n'", s[0]) && s[0];
}

/* Bytes of the character at S that may be written as it is, 0: it has to stay escaped. */
static unsigned int plain_len(const char *s, size_t len)
{
	unsigned char c = (unsigned char)*s;
	unsigned int n = text_utf8_len(s, len);

	if (n == 1 && ((c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f))
		return 0;
	/* the C1 controls, which terminals obey too */
	return n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0 ? 0 : n;
}

static bool needs_quotes(const char *s, size_t len)
{
	if (len && (s[0] == ' ' || s[len - 1] == ' '))
		return true;
	for (size_t i = 0; i < len; i++)
		if (s[i] && strchr(",;\"\r\n\t", s[i]))
			return true;
	return false;
}

static void put_text(FILE *out, const char *s, size_t len)
{
	bool quotes = needs_quotes(s, len);

	if (quotes)
		fputc('"', out);
	if (begins_formula(s, len))
		fputc('\'', out);
	while (len) {
		unsigned int n = plain_len(s, len);

		if (!n)
			fprintf(out, "\\%03o", (unsigned char)*s);
		else
			fwrite(s, 1, n, out);
		if (n == 1 && *s == '"')
			fputc('"', out);
		s += MAX(n, 1U);
		len -= MAX(n, 1U);
	}
	if (quotes)
		fputc('"', out);
}

void csv_text(struct csv *c, const char *escaped)
{
	size_t len = strlen(escaped);
	autofree char *text = malloc(len + 1);

	next(c);
	if (text)
		put_text(c->out, text, text_unescape(text, escaped, len));
	else
		fputs(escaped, c->out); /* harmless as it is: it has neither quotes nor blanks */
}

void csv_u64(struct csv *c, uint64_t v)
{
	next(c);
	fprintf(c->out, "%" PRIu64, v);
}

void csv_seconds(struct csv *c, uint64_t ns)
{
	next(c);
	fprintf(c->out, "%llu.%09llu", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

void csv_seconds_signed(struct csv *c, int64_t ns)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	next(c);
	fprintf(c->out, "%s%llu.%09llu", ns < 0 ? "-" : "", size / NSEC_PER_SEC, size % NSEC_PER_SEC);
}

void csv_f64(struct csv *c, double v)
{
	next(c);
	fprintf(c->out, "%.6f", v);
}

void csv_none(struct csv *c)
{
	next(c);
}

void csv_end(struct csv *c)
{
	fputc('\n', c->out);
	c->begun = false;
}
