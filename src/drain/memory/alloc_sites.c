/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dlt/alloc.h"
#include "drain/rows/decode.h"

#define NUMBERS_MAX (1U << 17) /* of a process: the library gives fewer */
#define SITES_MAX (1U << 22) /* of a trace */
#define TEXT_MAX 4096
#define CODES_BYTES_MAX (64U << 20) /* names of functions in Python, of a trace */

/* --- a process's numbers -------------------------------------------------------------------------------- */

static bool numbers_put(struct alloc_numbers *numbers, uint32_t at, uint32_t number)
{
	if (!at || at >= NUMBERS_MAX)
		return false;
	if (at >= numbers->room) {
		uint32_t room = MAX(2 * numbers->room, 256U);
		uint32_t *larger;

		while (room <= at)
			room *= 2;
		larger = reallocarray(numbers->v, room, sizeof(*larger));
		if (!larger)
			return false;
		memset(larger + numbers->room, 0, (room - numbers->room) * sizeof(*larger));
		numbers->v = larger;
		numbers->room = room;
	}
	numbers->v[at] = number;
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

/* Returns the daemon's number for a process's NUMBER, or its parents': MEMBER says of what. 0: it has none. */
static uint32_t inherited(const struct alloc_names *names, size_t member, uint32_t number)
{
	uint32_t ours = 0;

	for (; names && number && !ours; names = names->parent)
		ours = numbers_get((const struct alloc_numbers *)((const char *)names + member), number);
	return ours;
}

uint32_t alloc_sites_number(const struct alloc_names *names, uint32_t site)
{
	return inherited(names, offsetof(struct alloc_names, sites), site);
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

static bool grow(struct alloc_table *table)
{
	struct alloc_table larger = *table;

	larger.room = table->room ? 2 * table->room : 1024;
	larger.v = calloc(larger.room, sizeof(*larger.v));
	if (!larger.v)
		return false;
	for (uint32_t i = 0; i < table->room; i++) {
		uint32_t at = (uint32_t)(table->v[i].hash >> 32) & (larger.room - 1);

		if (!table->v[i].hash)
			continue;
		while (larger.v[at].hash)
			at = (at + 1) & (larger.room - 1);
		larger.v[at] = table->v[i];
	}
	free(table->v);
	*table = larger;
	return true;
}

/* Returns the slot of HASH, whose number is 0 if it had none before, and is the caller's to give; NULL: there is no
 * room. */
static struct alloc_table_slot *slot_of(struct alloc_table *table, uint64_t hash)
{
	uint32_t at;

	if (table->n >= SITES_MAX || (table->n + 1 > table->room / 4 * 3 && !grow(table)))
		return NULL;
	at = (uint32_t)(hash >> 32) & (table->room - 1);
	while (table->v[at].hash && table->v[at].hash != hash)
		at = (at + 1) & (table->room - 1);
	if (!table->v[at].hash) {
		table->v[at].hash = hash;
		table->n++;
	}
	return &table->v[at];
}

/* Returns the number of HASH, 0: there is no room; *IS_NEW: it had none before. */
static uint32_t number_of(struct alloc_table *t, uint64_t hash, bool *is_new)
{
	struct alloc_table_slot *slot = slot_of(t, hash);

	if (!slot)
		return 0;
	*is_new = !slot->number;
	if (*is_new)
		slot->number = t->n;
	return slot->number;
}

/* --- functions in Python -------------------------------------------------------------------------------- */

static bool text_put(struct alloc_sites *sites, const char *text, uint32_t len)
{
	if (sites->text_len + len > CODES_BYTES_MAX)
		return false;
	if (sites->text_len + len > sites->text_room) {
		uint32_t room = MAX(2 * sites->text_room, sites->text_len + len + 4096);
		char *larger = realloc(sites->text, room);

		if (!larger)
			return false;
		sites->text = larger;
		sites->text_room = room;
	}
	memcpy(sites->text + sites->text_len, text, len);
	sites->text_len += len;
	return true;
}

/* Returns the number of a file and a function, which is where their names begin, from 1; 0: there is no room. */
static uint32_t code_put(struct alloc_sites *sites, const struct dlt_alloc_event *event)
{
	size_t room = MIN((size_t)event->n * sizeof(*event), (size_t)DLT_ALLOC_PATH + DLT_ALLOC_FUNCTION), file, name;
	char text[DLT_ALLOC_PATH + DLT_ALLOC_FUNCTION + 2];
	struct alloc_table_slot *slot;
	uint32_t number = sites->text_len + 1;

	memcpy(text, event + 1, room);
	text[room] = text[room + 1] = '\0';
	file = strlen(text);
	name = strlen(text + file + 1);
	/* what separates frames and their parts */
	for (size_t i = 0; i < file + 1 + name; i++)
		if (text[i] == ';' || (text[i] == ':' && i > file))
			text[i] = '?';
	slot = slot_of(&sites->codes, hash_of(text, file + name + 2, ALLOC_SITE_PYTHON));
	if (!slot)
		return 0;
	if (!slot->number && text_put(sites, text, (uint32_t)(file + name + 2)))
		slot->number = number;
	return slot->number;
}

/* "train.py:12:main;train.py:30:<module>": as many as there is room for. */
static size_t put_lines(char *out, const struct alloc_sites *sites, const struct alloc_names *names,
			const struct dlt_alloc_event *event)
{
	uint64_t frames[DLT_ALLOC_FRAMES];
	size_t n = MIN(MIN(event->addr, (uint64_t)DLT_ALLOC_FRAMES), (uint64_t)event->n * 4), len = 0;

	memcpy(frames, event + 1, n * sizeof(*frames));
	for (size_t i = 0; i < n; i++) {
		uint32_t number = inherited(names, offsetof(struct alloc_names, codes), (uint32_t)(frames[i] >> 32));
		const char *file = number ? sites->text + number - 1 : "?",
			   *name = number ? file + strlen(file) + 1 : "?";
		int more = snprintf(out + len, TEXT_MAX - len, "%s%s:%u:%s", i ? ";" : "", file, (uint32_t)frames[i],
				    name);

		if ((size_t)more >= TEXT_MAX - len)
			break;
		len += (size_t)more;
	}
	out[len] = '\0';
	return len;
}

/* --- watched sites ------------------------------------------------------------------------------------------ */

/* A frame is FILE:LINE:FUNCTION, and only FILE may have further colons. */
static bool frame_is(const char *frame, size_t len, const char *want)
{
	const char *function = memrchr(frame, ':', len);
	const size_t want_len = strlen(want), place_len = function ? (size_t)(function - frame) : 0;

	if (!function || !want_len)
		return false;
	if (!strchr(want, ':'))
		return want_len == len - place_len - 1 && !memcmp(function + 1, want, want_len);
	return want_len <= place_len && !memcmp(function - want_len, want, want_len) &&
	       (want_len == place_len || function[-(ptrdiff_t)want_len - 1] == '/');
}

bool alloc_sites_has(const char *frames, const char *want)
{
	for (const char *end; *frames; frames = end + (*end == ';')) {
		end = strchrnul(frames, ';');
		if (frame_is(frames, (size_t)(end - frames), want))
			return true;
	}
	return false;
}

/* Numbers rise. */
static void watch_if_meant(struct alloc_sites *s, uint32_t number, const char *frames)
{
	if (!*s->watch || !alloc_sites_has(frames, s->watch))
		return;
	if (util_room(&s->watched, s->n_watched, sizeof(s->watched[0])) == 0)
		s->watched[s->n_watched++] = number;
}

static int compare(const void *x, const void *y)
{
	const uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return (a > b) - (a < b);
}

bool alloc_sites_watched(const struct alloc_sites *s, uint32_t site)
{
	return s->n_watched && bsearch(&site, s->watched, s->n_watched, sizeof(site), compare);
}

/* --- rows ----------------------------------------------------------------------------------------------- */

/* ID: a module's build id, "" for none. */
static void row_put(struct decode *decode, const struct dlt_hdr *hdr, uint32_t number, enum alloc_site_kind kind,
		    const char *text, size_t len, const char *id)
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
	decode_row(decode, DLT_sites, &r.row.hdr);
}

/* Returns the trace's number of TEXT, which gets a row if it had none before; 0: there is no room. */
static uint32_t number_put(struct alloc_sites *sites, struct decode *decode, const struct dlt_hdr *hdr,
			   enum alloc_site_kind kind, const char *text, size_t len, const char *id)
{
	bool is_new = false;
	uint32_t number =
		number_of(&sites->sites, hash_of(text, len, kind) ^ hash_of(id, strlen(id), kind) << 1, &is_new);

	if (is_new && kind == ALLOC_SITE_PYTHON)
		watch_if_meant(sites, number, text);
	if (is_new)
		row_put(decode, hdr, number, kind, text, len, id);
	return number;
}

uint32_t alloc_sites_module(struct alloc_sites *s, struct decode *d, const struct dlt_hdr *hdr, const char *path,
			    const unsigned char *id, size_t id_len)
{
	char hex[2 * DLT_ALLOC_BUILD_ID + 1] = "";

	for (size_t i = 0; i < MIN(id_len, (size_t)DLT_ALLOC_BUILD_ID); i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	return number_put(s, d, hdr, ALLOC_SITE_MODULE, path, strnlen(path, DLT_ALLOC_PATH), hex);
}

/* "17+0x1a2b;-+0x7f0012345678": 17 is the module's number. */
uint32_t alloc_sites_stack(struct alloc_sites *sites, struct decode *decode, const struct dlt_hdr *hdr,
			   const struct alloc_frame *frame, size_t n)
{
	char text[TEXT_MAX];
	size_t len = 0;

	for (size_t i = 0; i < MIN(n, (size_t)DLT_ALLOC_FRAMES); i++) {
		if (i)
			text[len++] = ';';
		if (frame[i].module)
			len += (size_t)sprintf(text + len, "%u+0x%llx", frame[i].module,
					       (unsigned long long)frame[i].at);
		else
			len += (size_t)sprintf(text + len, "-+0x%llx", (unsigned long long)frame[i].at);
	}
	return number_put(sites, decode, hdr, ALLOC_SITE_NATIVE, text, len, "");
}

/* --- definitions of a process ------------------------------------------------------------------------------- */

static uint32_t stack_define(struct alloc_sites *sites, struct decode *decode, const struct alloc_names *names,
			     const struct dlt_hdr *hdr, const struct dlt_alloc_event *event)
{
	uint64_t frames[DLT_ALLOC_FRAMES];
	struct alloc_frame v[DLT_ALLOC_FRAMES];
	size_t n = MIN(MIN(event->addr, (uint64_t)DLT_ALLOC_FRAMES), (uint64_t)event->n * 4);

	memcpy(frames, event + 1, n * sizeof(*frames));
	for (size_t i = 0; i < n; i++)
		v[i] = (struct alloc_frame){
			.at = frames[i] & ((1ULL << DLT_ALLOC_MODULE_SHIFT) - 1),
			.module = inherited(names, offsetof(struct alloc_names, modules),
					    (uint32_t)(frames[i] >> DLT_ALLOC_MODULE_SHIFT)),
		};
	return alloc_sites_stack(sites, decode, hdr, v, n);
}

/* The path is the process's. */
static uint32_t module_define(struct alloc_sites *s, struct decode *d, const struct dlt_hdr *hdr,
			      const struct dlt_alloc_event *e)
{
	size_t room = e->n > 1 ? (e->n - 1) * sizeof(*e) : 0, len = MIN(room, (size_t)DLT_ALLOC_PATH);
	char path[DLT_ALLOC_PATH + 1];

	memcpy(path, e + 2, len);
	path[len] = '\0';
	return alloc_sites_module(s, d, hdr, path, (const unsigned char *)(e + 1),
				  e->n ? MIN(e->addr, (uint64_t)DLT_ALLOC_BUILD_ID) : 0);
}

static uint32_t lines_define(struct alloc_sites *s, struct decode *d, const struct alloc_names *names,
			     const struct dlt_hdr *hdr, const struct dlt_alloc_event *e)
{
	char text[TEXT_MAX];

	return number_put(s, d, hdr, ALLOC_SITE_PYTHON, text, put_lines(text, s, names, e), "");
}

void alloc_sites_define(struct alloc_sites *sites, struct decode *decode, struct alloc_names *names,
			const struct dlt_hdr *hdr, const struct dlt_alloc_event *event)
{
	const uint64_t op = event->op_size >> DLT_ALLOC_OP_SHIFT;
	struct alloc_numbers *numbers = &names->sites;
	uint32_t number;

	if (op == DLT_ALLOC_CODE) {
		numbers = &names->codes;
		number = code_put(sites, event);
	} else if (op == DLT_ALLOC_MODULE) {
		numbers = &names->modules;
		number = module_define(sites, decode, hdr, event);
	} else if (op == DLT_ALLOC_LINES) {
		number = lines_define(sites, decode, names, hdr, event);
	} else {
		number = stack_define(sites, decode, names, hdr, event);
	}
	if (!number || !numbers_put(numbers, event->site, number))
		util_count(&sites->lost, 1);
}

void alloc_sites_free(struct alloc_sites *s)
{
	free(s->sites.v);
	free(s->codes.v);
	free(s->text);
	free(s->watched);
	*s = (struct alloc_sites){ 0 };
}
