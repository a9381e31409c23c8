/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recursive-descent JSON reader (RFC 8259) that keeps the path of where it is, as in
 * "probes[].lost", and stores the scalars whose path is in its table.
 */
#include "trace/manifest_read.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MANIFEST_MAX_BYTES (16U << 20)
#define DEPTH_MAX 32

enum kind { BOOL, NUMBER, STATUS, STR, UINT, WORD };
enum owner { TOP, PROBE, COLLECTOR };

struct fact {
	const char *path;
	enum owner owner;
	enum kind kind;
	size_t offset, size;
};

#define MEMBER(s, m) offsetof(struct s, m), sizeof(((struct s *)0)->m)

static const struct fact facts[] = {
	{ "clock.localtime", TOP, STR, MEMBER(manifest_facts, localtime) },
	{ "clock.maxerror_us", TOP, UINT, MEMBER(manifest_facts, clock_maxerror_us) },
	{ "clock.synchronised", TOP, BOOL, MEMBER(manifest_facts, clock_synchronised) },
	{ "clock.tz", TOP, STR, MEMBER(manifest_facts, tz) },
	{ "clock.utc_offset_s", TOP, NUMBER, MEMBER(manifest_facts, utc_offset_s) },
	{ "clock_at_end.maxerror_us", TOP, UINT, MEMBER(manifest_facts, clock_maxerror_at_end_us) },
	{ "clock_at_end.synchronised", TOP, BOOL, MEMBER(manifest_facts, clock_synchronised_at_end) },
	{ "cmdline[]", TOP, WORD, MEMBER(manifest_facts, cmdline) },
	{ "collectors[].name", COLLECTOR, STR, MEMBER(manifest_collector, name) },
	{ "collectors[].state", COLLECTOR, STR, MEMBER(manifest_collector, state) },
	{ "compat_calls", TOP, UINT, MEMBER(manifest_facts, compat_calls) },
	{ "complete", TOP, BOOL, MEMBER(manifest_facts, complete) },
	{ "end.monotonic_ns", TOP, UINT, MEMBER(manifest_facts, end_ns) },
	{ "end.utc", TOP, STR, MEMBER(manifest_facts, end_utc) },
	{ "host", TOP, STR, MEMBER(manifest_facts, host) },
	{ "kernel", TOP, STR, MEMBER(manifest_facts, kernel) },
	{ "machine.boot_id", TOP, STR, MEMBER(manifest_facts, boot_id) },
	{ "probes[].backend", PROBE, STR, MEMBER(manifest_probe, backend) },
	{ "probes[].bytes", PROBE, UINT, MEMBER(manifest_probe, bytes) },
	{ "probes[].calls", PROBE, UINT, MEMBER(manifest_probe, calls) },
	{ "probes[].dropped", PROBE, UINT, MEMBER(manifest_probe, dropped) },
	{ "probes[].filtered", PROBE, UINT, MEMBER(manifest_probe, filtered) },
	{ "probes[].late", PROBE, UINT, MEMBER(manifest_probe, late) },
	{ "probes[].lost", PROBE, UINT, MEMBER(manifest_probe, lost) },
	{ "probes[].name", PROBE, STR, MEMBER(manifest_probe, name) },
	{ "probes[].rows", PROBE, UINT, MEMBER(manifest_probe, rows) },
	{ "probes[].summed", PROBE, UINT, MEMBER(manifest_probe, summed) },
	{ "probes[].unmatched", PROBE, UINT, MEMBER(manifest_probe, unmatched) },
	{ "probes[].unsure", PROBE, UINT, MEMBER(manifest_probe, unsure) },
	{ "probes[].why", PROBE, STR, MEMBER(manifest_probe, why) },
	{ "schema", TOP, UINT, MEMBER(manifest_facts, schema) },
	{ "self.cpu_system_us", TOP, UINT, MEMBER(manifest_facts, self_system_us) },
	{ "self.cpu_user_us", TOP, UINT, MEMBER(manifest_facts, self_user_us) },
	{ "self.pid", TOP, UINT, MEMBER(manifest_facts, self_pid) },
	{ "start.monotonic_ns", TOP, UINT, MEMBER(manifest_facts, start_ns) },
	{ "start.utc", TOP, STR, MEMBER(manifest_facts, start_utc) },
	{ "storage.dropped_unsummed_rows", TOP, UINT, MEMBER(manifest_facts, unsummed_rows) },
	{ "storage.rollup_only", TOP, BOOL, MEMBER(manifest_facts, rollup_only) },
	{ "tool", TOP, STR, MEMBER(manifest_facts, tool) },
	{ "version", TOP, STR, MEMBER(manifest_facts, version) },
	{ "workload.argv[]", TOP, WORD, MEMBER(manifest_facts, argv) },
	{ "workload.pid", TOP, UINT, MEMBER(manifest_facts, workload_pid) },
	{ "workload.status", TOP, STATUS, MEMBER(manifest_facts, status) },
	{ "workload.user", TOP, STR, MEMBER(manifest_facts, user) },
};

struct parser {
	struct manifest_facts *m;
	char *p;
	char path[128];
	size_t path_len; /* may exceed the buffer: such a path matches nothing */
	unsigned int depth;
};

static int parse_value(struct parser *ps);

static void append(char *dst, size_t size, const char *s, size_t len)
{
	size_t have = strlen(dst);

	len = MIN(len, size - have - 1);
	memcpy(dst + have, s, len);
	dst[have + len] = '\0';
}

/* One more word of a command line, quoted when a shell would need it. */
static void append_word(char *dst, size_t size, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";
	bool quote = !*word || word[strspn(word, plain)];

	append(dst, size, " ", dst[0] ? 1 : 0);
	append(dst, size, "'", quote);
	for (;;) {
		size_t len = strcspn(word, "'");

		append(dst, size, word, len);
		if (!word[len])
			break;
		append(dst, size, "'\\''", 4);
		word += len + 1;
	}
	append(dst, size, "'", quote);
}

/* The entry that FACT belongs to; NULL past the last that fits, and outside of any. */
static void *owner_of(struct manifest_facts *m, const struct fact *fact)
{
	unsigned int probe = m->n_probes - 1, collector = m->n_collectors - 1;

	if (fact->owner == PROBE)
		return probe < MANIFEST_PROBES_MAX ? &m->probes[probe] : NULL;
	if (fact->owner == COLLECTOR)
		return collector < MANIFEST_COLLECTORS_MAX ? &m->collectors[collector] : NULL;
	return m;
}

/* A scalar at the present path: strings have IS_STRING, the others are as written. */
static void store(struct parser *ps, const char *value, bool is_string)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const struct fact *f = &facts[i];
		char *owner = strcmp(f->path, ps->path) == 0 ? owner_of(ps->m, f) : NULL;
		char *at = owner ? owner + f->offset : NULL;

		if (!at || is_string != (f->kind == STR || f->kind == WORD))
			continue;
		if (f->kind == STR || f->kind == NUMBER)
			snprintf(at, f->size, "%s", value);
		else if (f->kind == WORD)
			append_word(at, f->size, value);
		else if (f->kind == BOOL)
			*(bool *)at = strcmp(value, "true") == 0;
		else if (f->kind == UINT && isdigit((unsigned char)*value))
			*(uint64_t *)at = strtoull(value, NULL, 10);
		else if (f->kind == STATUS && strcmp(value, "null") != 0) {
			ps->m->status = (int)strtol(value, NULL, 10);
			ps->m->has_status = true;
		}
	}
}

static void skip_blanks(struct parser *ps)
{
	ps->p += strspn(ps->p, " \t\r\n");
}

static size_t path_push(struct parser *ps, const char *prefix, const char *key)
{
	size_t was = ps->path_len, room = sizeof(ps->path) - MIN(was, sizeof(ps->path));

	ps->path_len += (size_t)snprintf(room ? ps->path + was : NULL, room, "%s%s", prefix, key);
	return was;
}

static void path_pop(struct parser *ps, size_t was)
{
	ps->path_len = was;
	if (was < sizeof(ps->path))
		ps->path[was] = '\0';
}

static int parse_hex4(const char *p, uint32_t *ret)
{
	*ret = 0;
	for (int i = 0; i < 4; i++) {
		int c = tolower((unsigned char)p[i]);

		if (!isxdigit(c))
			return -EBADMSG;
		*ret = *ret << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return 0;
}

static char *put_utf8(char *dst, uint32_t c)
{
	static const unsigned char lead[] = { 0, 0xc0, 0xe0, 0xf0 };
	unsigned int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	*dst++ = (char)(lead[more] | c >> 6 * more);
	while (more--)
		*dst++ = (char)(0x80 | (c >> 6 * more & 0x3f));
	return dst;
}

/* After "\u": four hex digits, or a surrogate pair. What C strings cannot hold becomes U+FFFD. */
static int parse_unicode(struct parser *ps, char **dst)
{
	uint32_t c, low;

	if (parse_hex4(ps->p, &c) < 0)
		return -EBADMSG;
	ps->p += 4;
	if (c >> 10 == 0xd800 >> 10 && ps->p[0] == '\\' && ps->p[1] == 'u' &&
	    parse_hex4(ps->p + 2, &low) == 0 && low >> 10 == 0xdc00 >> 10) {
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
		ps->p += 6;
	}
	*dst = put_utf8(*dst, c == 0 || c >> 11 == 0xd800 >> 11 ? 0xfffd : c);
	return 0;
}

/* Decoded in place: no escape is shorter than what it stands for. */
static int parse_string(struct parser *ps, char **ret)
{
	static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	char *dst = ps->p + 1;

	if (*ps->p++ != '"')
		return -EBADMSG;
	*ret = dst;
	while (*ps->p != '"') {
		const char *escape;

		if (!*ps->p)
			return -EBADMSG;
		if (*ps->p != '\\') {
			*dst++ = *ps->p++;
			continue;
		}
		ps->p++;
		if (*ps->p == 'u') {
			ps->p++;
			if (parse_unicode(ps, &dst) < 0)
				return -EBADMSG;
			continue;
		}
		escape = *ps->p ? strchr(escapes, *ps->p) : NULL;
		if (!escape)
			return -EBADMSG;
		*dst++ = meanings[escape - escapes];
		ps->p++;
	}
	ps->p++;
	*dst = '\0';
	return 0;
}

/* After the opening brace or bracket. */
static int parse_members(struct parser *ps, char close)
{
	size_t was = ps->path_len;

	skip_blanks(ps);
	if (*ps->p == close)
		return ps->p++, 0;
	for (;;) {
		char *key = "[]";

		skip_blanks(ps);
		if (close == '}') {
			if (parse_string(ps, &key) < 0)
				return -EBADMSG;
			skip_blanks(ps);
			if (*ps->p++ != ':')
				return -EBADMSG;
		}
		path_push(ps, close == '}' && was ? "." : "", key);
		if (parse_value(ps) < 0)
			return -EBADMSG;
		path_pop(ps, was);
		skip_blanks(ps);
		if (*ps->p == close)
			return ps->p++, 0;
		if (*ps->p++ != ',')
			return -EBADMSG;
	}
}

static int parse_literal(struct parser *ps)
{
	size_t len = strspn(ps->p, "+-.0123456789Eaeflnrstu");
	char value[32];

	if (len == 0)
		return -EBADMSG;
	snprintf(value, sizeof(value), "%.*s", (int)MIN(len, sizeof(value)), ps->p);
	ps->p += len;
	store(ps, value, false);
	return 0;
}

static int parse_value(struct parser *ps)
{
	char *string;
	int r;

	skip_blanks(ps);
	if (*ps->p == '"') {
		r = parse_string(ps, &string);
		if (r == 0)
			store(ps, string, true);
		return r;
	}
	if (*ps->p != '{' && *ps->p != '[')
		return parse_literal(ps);
	if (ps->depth == DEPTH_MAX)
		return -EBADMSG;
	ps->m->n_probes += strcmp(ps->path, "probes[]") == 0;
	ps->m->n_collectors += strcmp(ps->path, "collectors[]") == 0;
	ps->depth++;
	r = parse_members(ps, *ps->p++ == '{' ? '}' : ']');
	ps->depth--;
	return r;
}

int manifest_parse(struct manifest_facts *m, char *text)
{
	struct parser ps = { .m = m, .p = text };
	int r;

	*m = (struct manifest_facts){ 0 };
	r = parse_value(&ps);
	m->n_probes = MIN(m->n_probes, MANIFEST_PROBES_MAX);
	m->n_collectors = MIN(m->n_collectors, MANIFEST_COLLECTORS_MAX);
	return r;
}

int manifest_read_at(struct manifest_facts *m, int dirfd)
{
	autoclose int fd = util_open_regular(dirfd, "manifest.json", 0);
	autofree char *text = NULL;
	int r;

	*m = (struct manifest_facts){ 0 };
	if (fd < 0)
		return fd;
	r = util_read_fd(fd, MANIFEST_MAX_BYTES, &text, NULL);
	return r < 0 ? r : manifest_parse(m, text);
}

int manifest_read(struct manifest_facts *m, const char *dir)
{
	autoclose int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*m = (struct manifest_facts){ 0 };
	return fd < 0 ? -errno : manifest_read_at(m, fd);
}

const struct manifest_probe *manifest_probe(const struct manifest_facts *m, const char *name)
{
	for (unsigned int i = 0; i < m->n_probes; i++)
		if (strcmp(m->probes[i].name, name) == 0)
			return &m->probes[i];
	return NULL;
}

bool manifest_is_untraced(const struct manifest_probe *p)
{
	return strcmp(p->backend, "none") == 0;
}
