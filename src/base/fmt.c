/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/fmt.h"

#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "base/util.h"

/* N in the largest of UNITS that it reaches, each STEP times the one before; three digits. */
static char *scaled(char buf[FMT_MAX], uint64_t n, unsigned int step, const char *const *units, size_t n_units)
{
	double v = (double)n / step;
	size_t i = 1;

	if (n < step) {
		snprintf(buf, FMT_MAX, "%u %s", (unsigned int)n, units[0]);
		return buf;
	}
	for (; v >= step - 0.5 && i + 1 < n_units; i++)
		v /= step;
	snprintf(buf, FMT_MAX, "%.*f %s", (v < 9.995) + (v < 99.95), v, units[i]);
	return buf;
}

char *fmt_count(char buf[FMT_MAX], uint64_t n)
{
	*text_put_u64(buf, n) = '\0';
	return buf;
}

char *fmt_n(char buf[FMT_N_MAX], uint64_t n, const char *one, const char *others)
{
	snprintf(buf, FMT_N_MAX, "%" PRIu64 " %s", n, n == 1 ? one : others);
	return buf;
}

char *fmt_bytes(char buf[FMT_MAX], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

	return scaled(buf, bytes, 1024, units, ARRAY_SIZE(units));
}

char *fmt_si(char buf[FMT_MAX], double v, const char *sep, const char *unit)
{
	static const char *const prefix[] = { "", "k", "M", "G", "T", "P" };
	size_t i = 0;

	for (; v >= 1000 && i + 1 < ARRAY_SIZE(prefix); i++)
		v /= 1000;
	snprintf(buf, FMT_MAX, "%.*f%s%s%s", i ? 1 : 0, v, i || *unit ? sep : "", prefix[i], unit);
	return buf;
}

char *fmt_ns(char buf[FMT_MAX], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return scaled(buf, ns, 1000, units, ARRAY_SIZE(units));
}

/* Signals that end a process; glibc has a function for this from 2.32 on. */
#define NAME(signal) [signal] = #signal
static const char *const signal_names[] = {
	NAME(SIGABRT), NAME(SIGALRM), NAME(SIGBUS),  NAME(SIGFPE),  NAME(SIGHUP),    NAME(SIGILL),  NAME(SIGINT),
	NAME(SIGKILL), NAME(SIGPIPE), NAME(SIGPROF), NAME(SIGPWR),  NAME(SIGQUIT),   NAME(SIGSEGV), NAME(SIGSYS),
	NAME(SIGTERM), NAME(SIGTRAP), NAME(SIGUSR1), NAME(SIGUSR2), NAME(SIGVTALRM), NAME(SIGXCPU), NAME(SIGXFSZ),
};
#undef NAME

char *fmt_ended(char buf[FMT_MAX], int status)
{
	unsigned int sig = WIFSIGNALED(status) ? (unsigned int)WTERMSIG(status) : 0;

	if (!sig)
		snprintf(buf, FMT_MAX, "ended with status %d", WEXITSTATUS(status));
	else if (sig < ARRAY_SIZE(signal_names) && signal_names[sig])
		snprintf(buf, FMT_MAX, "ended by %s", signal_names[sig]);
	else
		snprintf(buf, FMT_MAX, "ended by signal %u", sig);
	return buf;
}

/* Unicode's control characters that change the writing direction. */
static bool turns_writing(const char *s)
{
	/* NOLINTBEGIN(misc-misleading-bidirectional): what is looked for */
	return (memcmp(s, "\xe2\x80\xaa", 3) >= 0 && memcmp(s, "\xe2\x80\xae", 3) <= 0) ||
	       (memcmp(s, "\xe2\x81\xa6", 3) >= 0 && memcmp(s, "\xe2\x81\xa9", 3) <= 0);
	/* NOLINTEND(misc-misleading-bidirectional) */
}

static const char blank[] = "\\040", quote[] = "\\042", hash[] = "\\043", backslash[] = "\\134";

/* Whether an escape's digits begin at S. */
static bool has_digits(const char *s)
{
	static const char digits[] = "01234567";

	return strspn(s, digits) >= 3 && *s <= '3';
}

/*
 * What the escape at S stands for where that can be shown as it is: a quote, a #, a blank between two characters,
 * which is neither overlooked nor taken for two columns, and a backslash that does not look like the beginning of an
 * escape. 0: it stays an escape. BEFORE is what stands before it.
 */
static char harmless(const char *s, char before)
{
	if (strncmp(s, quote, 4) == 0)
		return '"';
	if (strncmp(s, hash, 4) == 0)
		return '#';
	if (strncmp(s, backslash, 4) == 0)
		return has_digits(s + 4) ? 0 : '\\';
	if (strncmp(s, blank, 4) != 0 || !before || before == ' ' || !s[4] || s[4] == ' ' ||
	    strncmp(s + 4, blank, 4) == 0)
		return 0;
	return ' ';
}

static void show(FILE *out, const char *s, int width, bool escaped)
{
	char before = 0;

	if (!s)
		s = "-";
	while (*s) {
		size_t len = text_shown_len(s, strnlen(s, 4));
		char c = escaped && *s == '\\' ? harmless(s, before) : 0;

		before = c ? c : *s;
		if (c) {
			fputc(c, out);
			s += 4;
			width--;
		} else if (escaped && strncmp(s, blank, 4) == 0) {
			fputs(blank, out);
			before = ' ';
			s += 4;
			width -= 4;
		} else if (len && (len != 3 || !turns_writing(s))) {
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

void fmt_text(FILE *out, const char *s, int width)
{
	show(out, s, width, true);
}

void fmt_plain(FILE *out, const char *s, int width)
{
	show(out, s, width, false);
}

int fmt_fits(const char *s, unsigned int columns)
{
	unsigned int n = 0;
	int i = 0;

	for (; s[i]; i++)
		if ((s[i] & 0xc0) != 0x80 && ++n > columns)
			break;
	return i;
}

void fmt_line(FILE *out, const char *before, const char *s)
{
	fputs(before, out);
	fmt_text(out, s, 0);
	fputc('\n', out);
}
