/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/alloc_sites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dlt/alloc.h"
#include "drain/decode.h"

#define NUMBERS_MAX (1U << 17) /* of a process: the library gives fewer */
#define SITES_MAX (1U << 22)   /* of a trace */
#define TEXT_MAX 4096

/* --- a process's numbers -------------------------------------------------------------------------------- */

static bool numbers_put(struct alloc_numbers *n, uint32_t at, uint32_t number)
{
	if (!at || at >= NUMBERS_MAX)
		return false;
	if (at >= n->room) {
		uint32_t room = MAX(2 * n->room, 256U);
		uint32_t *larger;

		while (room <= at)
			room *= 2;
		larger = reallocarray(n->v, room, sizeof(*larger));
		if (!larger)
			return false;
		memset(larger + n->room, 0, (room - n->room) * sizeof(*larger));
		n->v = larger;
		n->room = room;
	}
	n->v[at] = number;
	return true;
}

static uint32_t numbers_get(const struct alloc_numbers *n, uint32_t at)
{
	return at < n->room ? n->v[at] : 0;
}

void alloc_numbers_free(struct alloc_numbers *n)
{
	free(n->v);
	*n = (struct alloc_numbers){ 0 };
}

uint32_t alloc_sites_number(const struct alloc_names *names, uint32_t site)
{
	uint32_t number = 0;

	for (; names && site && !number; names = names->parent)
		number = numbers_get(&names->sites, site);
	return number;
}

static uint32_t module_number(const struct alloc_names *names, uint32_t module)
{
	uint32_t number = 0;

	for (; names && module && !number; names = names->parent)
		number = numbers_get(&names->modules, module);
	return number;
}

/* --- the trace's numbers -------------------------------------------------------------------------------- */

/* FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>, and a kind, which differs. */
static uint64_t hash_of(const char *text, size_t len, enum alloc_site_kind kind)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ (uint64_t)kind;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return h | 1;
}

static bool grow(struct alloc_sites *s)
{
	struct alloc_sites larger = *s;

	larger.room = s->room ? 2 * s->room : 1024;
	larger.v = calloc(larger.room, sizeof(*larger.v));
	if (!larger.v)
		return false;
	for (uint32_t i = 0; i < s->room; i++) {
		uint32_t at = (uint32_t)(s->v[i].hash >> 32) & (larger.room - 1);

		if (!s->v[i].hash)
			continue;
		while (larger.v[at].hash)
			at = (at + 1) & (larger.room - 1);
		larger.v[at] = s->v[i];
	}
	free(s->v);
	*s = larger;
	return true;
}

/* Returns the number of HASH, 0: there is no room; *IS_NEW: it had none before. */
static uint32_t number_of(struct alloc_sites *s, uint64_t hash, bool *is_new)
{
	uint32_t at;

	if (s->n >= SITES_MAX || (s->n + 1 > s->room / 4 * 3 && !grow(s)))
		return 0;
	at = (uint32_t)(hash >> 32) & (s->room - 1);
	while (s->v[at].hash && s->v[at].hash != hash)
		at = (at + 1) & (s->room - 1);
	*is_new = !s->v[at].hash;
	if (*is_new) {
		s->v[at].hash = hash;
		s->v[at].number = ++s->n;
	}
	return s->v[at].number;
}

/* ID: a module's build id, "" for none. */
static void row_put(struct decode *d, const struct dlt_hdr *hdr, uint32_t number, enum alloc_site_kind kind, const char *text,
		    size_t len, const char *id)
{
	struct {
		struct alloc_site_row row;
		char text[TEXT_MAX + 2 * DLT_ALLOC_BUILD_ID + 2];
	} r;
	size_t id_len = strlen(id);

	r.row = (struct alloc_site_row){ .hdr = *hdr, .site = number, .kind = kind, .pid = hdr->tgid };
	r.row.hdr.probe = DLT_sites;
	r.row.segs.len[0] = (uint16_t)(len + 1);
	r.row.segs.len[1] = id_len ? (uint16_t)(id_len + 1) : 0;
	r.row.hdr.size = (uint32_t)(sizeof(r.row) + r.row.segs.len[0] + r.row.segs.len[1]);
	memcpy(r.text, text, len);
	r.text[len] = '\0';
	memcpy(r.text + len + 1, id, id_len + 1);
	decode_row(d, DLT_sites, &r.row.hdr);
}

/* "17+0x1a2b;-+0x7f0012345678": 17 is the module's number. */
static size_t put_frames(char *text, const struct alloc_names *names, const struct dlt_alloc_event *e)
{
	uint64_t frames[DLT_ALLOC_FRAMES];
	size_t n = MIN(MIN(e->addr, (uint64_t)DLT_ALLOC_FRAMES), (uint64_t)e->n * 4), len = 0;

	memcpy(frames, e + 1, n * sizeof(*frames));
	for (size_t i = 0; i < n; i++) {
		uint64_t at = frames[i] & ((1ULL << DLT_ALLOC_MODULE_SHIFT) - 1);
		uint32_t module = module_number(names, (uint32_t)(frames[i] >> DLT_ALLOC_MODULE_SHIFT));

		if (module)
			len += (size_t)sprintf(text + len, "%s%u+0x%llx", i ? ";" : "", module, (unsigned long long)at);
		else
			len += (size_t)sprintf(text + len, "%s-+0x%llx", i ? ";" : "", (unsigned long long)at);
	}
	return len;
}

/* The path is the process's. ID: 2 * DLT_ALLOC_BUILD_ID + 1 bytes. */
static size_t put_module(char *text, char *id, const struct dlt_alloc_event *e)
{
	const unsigned char *bytes = (const unsigned char *)(e + 1);
	const char *path = (const char *)(e + 2);
	size_t room = e->n > 1 ? (e->n - 1) * sizeof(*e) : 0, len = strnlen(path, MIN(room, (size_t)DLT_ALLOC_PATH));
	size_t n = e->n ? MIN(e->addr, (uint64_t)DLT_ALLOC_BUILD_ID) : 0;

	memcpy(text, path, len);
	for (size_t i = 0; i < n; i++)
		sprintf(id + 2 * i, "%02x", bytes[i]);
	return len;
}

void alloc_sites_define(struct alloc_sites *s, struct decode *d, struct alloc_names *names, const struct dlt_hdr *hdr,
			const struct dlt_alloc_event *e)
{
	bool module = e->op_size >> DLT_ALLOC_OP_SHIFT == DLT_ALLOC_MODULE, is_new = false;
	enum alloc_site_kind kind = module ? ALLOC_SITE_MODULE : ALLOC_SITE_NATIVE;
	struct alloc_numbers *numbers = module ? &names->modules : &names->sites;
	char text[TEXT_MAX], id[2 * DLT_ALLOC_BUILD_ID + 1] = "";
	size_t len = module ? put_module(text, id, e) : put_frames(text, names, e);
	uint32_t number = number_of(s, hash_of(text, len, kind) ^ hash_of(id, strlen(id), kind) << 1, &is_new);

	if (!number || !numbers_put(numbers, e->site, number))
		util_count(&s->lost, 1);
	if (is_new)
		row_put(d, hdr, number, kind, text, len, id);
}

void alloc_sites_free(struct alloc_sites *s)
{
	free(s->v);
	*s = (struct alloc_sites){ 0 };
}
