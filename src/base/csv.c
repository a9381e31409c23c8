/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"

int csv_open(struct csv *csv, int dirfd, const char *name)
{
	autoclose int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	if (ftruncate(fd, 0) < 0)
		return -errno;
	*csv = (struct csv){ .out = fdopen(fd, "w") };
	if (!csv->out)
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
	if (!failed)
		return 0;
	return errno ? -errno : -EIO;
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
		unsigned int n = memchr("\t\n\r", *s, 3) ? 1 : text_shown_len(s, len);

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
		fputs(escaped, c->out); /* harmless: it has neither quotes nor blanks */
}

void csv_number(struct csv *c, const char *fmt, ...)
{
	va_list ap;

	next(c);
	va_start(ap, fmt);
	vfprintf(c->out, fmt, ap);
	va_end(ap);
}

void csv_seconds(struct csv *c, bool negative, uint64_t ns)
{
	csv_number(c, "%s%llu.%09llu", negative ? "-" : "", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

void csv_end(struct csv *c)
{
	fputc('\n', c->out);
	c->begun = false;
}
