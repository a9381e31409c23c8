/* SPDX-License-Identifier: BSD-2-Clause */
/* See text.h. Lists that only grow, at their heads, by one atomic exchange: readers need no lock. */
#include "text.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define BUCKETS 1024
#define CHUNK (64 << 10)

struct text {
	struct text *next;
	char s[];
};

struct category {
	struct category *next;
	const struct text *domain, *name;
	uint32_t number;
};

static struct text *texts[BUCKETS];
static struct category *categories[BUCKETS];

/* --- memory ---------------------------------------------------------------------------------------------- */

static struct chunk {
	size_t used;
	char v[CHUNK - sizeof(size_t)];
} * chunk;

static struct chunk *chunk_more(struct chunk *full)
{
	int saved = errno;
	struct chunk *more = mmap(NULL, sizeof(*more), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	errno = saved;
	if (more == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&chunk, &full, more, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return more;
	munmap(more, sizeof(*more)); /* another thread was faster: FULL is its chunk now */
	errno = saved;
	return full;
}

/* Returns SIZE bytes for good, or NULL. */
static void *take(size_t size)
{
	struct chunk *c = __atomic_load_n(&chunk, __ATOMIC_ACQUIRE);

	for (;;) {
		size_t at = c ? __atomic_fetch_add(&c->used, (size + 7) & ~(size_t)7, __ATOMIC_RELAXED) : sizeof(c->v);

		if (at + size <= sizeof(c->v))
			return c->v + at;
		c = chunk_more(c);
		if (!c)
			return NULL;
	}
}

/* --- texts ----------------------------------------------------------------------------------------------- */

static unsigned int bucket_of(uint64_t hash)
{
	return (unsigned int)(hash * 0x9e3779b97f4a7c15 >> 32) % BUCKETS;
}

static const struct text *find(const struct text *t, const char *s)
{
	while (t && strcmp(t->s, s) != 0)
		t = t->next;
	return t;
}

/* S has at most TEXT_MAX bytes. */
static const struct text *keep(const char *s)
{
	struct text **head, *first, *made = NULL;
	uint64_t hash = 0;

	for (const char *c = s; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	head = &texts[bucket_of(hash)];
	first = __atomic_load_n(head, __ATOMIC_ACQUIRE);
	for (;;) {
		const struct text *known = find(first, s);

		if (known)
			return known;
		made = made ?: take(sizeof(*made) + strlen(s) + 1);
		if (!made)
			return NULL;
		strcpy(made->s, s);
		made->next = first;
		if (__atomic_compare_exchange_n(head, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return made;
	}
}

const struct text *text_keep(const char *s)
{
	char cut[TEXT_MAX + 1];

	text_copy(cut, s, TEXT_MAX);
	return keep(cut);
}

const struct text *text_keep_domain(const char *s)
{
	char cut[TEXT_DOMAIN_MAX + 1];

	text_copy(cut, s, TEXT_DOMAIN_MAX);
	for (char *c = cut; *c; c++)
		if (*c == '.')
			*c = '_';
	return keep(cut);
}

const char *text_of(const struct text *t)
{
	return t ? t->s : "";
}

/* --- categories ------------------------------------------------------------------------------------------ */

static struct category **category_bucket(const struct text *domain, uint32_t number)
{
	return &categories[bucket_of((uint64_t)(uintptr_t)domain ^ (uint64_t)number << 32)];
}

static struct category *category_find(struct category *c, const struct text *domain, uint32_t number)
{
	while (c && (c->domain != domain || c->number != number))
		c = c->next;
	return c;
}

void text_name_category(const struct text *domain, uint32_t number, const char *name)
{
	struct category **head = category_bucket(domain, number), *first = __atomic_load_n(head, __ATOMIC_ACQUIRE),
			*made = NULL;
	const struct text *text;
	char line[TEXT_MAX + 1];

	text_copy(line, name, TEXT_MAX);
	text_one_line(line);
	text = keep(line);
	while (text) {
		struct category *known = category_find(first, domain, number);

		if (known) {
			__atomic_store_n(&known->name, text, __ATOMIC_RELEASE);
			return;
		}
		made = made ?: take(sizeof(*made));
		if (!made)
			return;
		*made = (struct category){ first, domain, text, number };
		if (__atomic_compare_exchange_n(head, &first, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return;
	}
}

const char *text_category(const struct text *domain, uint32_t number)
{
	const struct category *c =
		category_find(__atomic_load_n(category_bucket(domain, number), __ATOMIC_ACQUIRE), domain, number);

	return c ? text_of(__atomic_load_n(&c->name, __ATOMIC_ACQUIRE)) : NULL;
}

/* --- copies ---------------------------------------------------------------------------------------------- */

void text_copy(char *out, const char *s, size_t max)
{
	size_t len = s ? strnlen(s, max + 1) : 0;

	if (len > max) {
		unsigned int part = 0;

		while (part < 4 && (s[max - part] & 0xc0) == 0x80)
			part++;
		len = part < 4 ? max - part : max; /* 4: it is not UTF-8 */
	}
	if (len)
		memcpy(out, s, len);
	out[len] = '\0';
}

void text_one_line(char *s)
{
	while ((s = strchr(s, '\n')))
		*s = ' ';
}

/* Returns the number of bytes at OUT. */
static size_t put_utf8(char out[4], uint32_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void text_copy_wide(char *out, const wchar_t *s, size_t max)
{
	size_t len = 0;

	for (; s && *s; s++) {
		char c[4];
		size_t n = put_utf8(c, (uint32_t)*s);

		if (len + n > max)
			break;
		memcpy(out + len, c, n);
		len += n;
	}
	out[len] = '\0';
}
