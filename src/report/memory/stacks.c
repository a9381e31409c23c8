/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See stacks.h. A native frame of sites.out is "17+0x1a2b": an address in the file of module 17, which has a row of its
 * own. It is where a call returns to, so the byte before it is in the function. A frame of Python is
 * "/a/train.py:12:main".
 */
#include "report/memory/stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/memory/cxx_name.h"
#include "report/memory/symbols.h"
#include "report/scan/scan.h"
#include "stats/table.h"

#define FRAMES_MAX 64 /* of a stack; dltraced writes fewer */

/* A file that code is in, as sites.out has it: escaped. */
struct module {
	char *path, *build_id;
	struct symbol_place *places; /* of all wanted frames, ascending, each once */
	size_t n;
};

struct stack {
	char *frames; /* NULL: not there */
	bool python;
};

struct stacks {
	struct table modules; /* struct module, by SITE */
	struct table wanted; /* struct stack, by SITE */
};

struct frame {
	uint64_t module, at; /* MODULE 0: in none */
};

static void module_free(struct module *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->places[i].name);
	free(m->places);
	free(m->path);
	free(m->build_id);
}

static void clear(struct stacks *s)
{
	for (uint32_t i = 0; i < s->modules.n; i++)
		module_free(table_at(&s->modules, i));
	for (uint32_t i = 0; i < s->wanted.n; i++)
		free(((struct stack *)table_at(&s->wanted, i))->frames);
	table_free(&s->modules);
	table_free(&s->wanted);
}

/* --- sites.out --------------------------------------------------------------------------------------------------- */

static void put(char **to, struct reader_field f)
{
	free(*to);
	*to = reader_is(f, "-") ? NULL : strndup(f.p, f.len);
}

static bool take(struct scan *scan, void *own)
{
	struct stacks *stacks = own;
	const bool is_module = scan_is(scan, COL_KIND, "module");
	struct module *module;
	struct stack *stack;
	uint64_t site;

	if (!scan_u64(scan, COL_SITE, &site))
		return false;
	if (is_module && (module = table_get(&stacks->modules, site))) {
		put(&module->path, scan_field(scan, COL_FRAMES));
		put(&module->build_id, scan_field(scan, COL_BUILD_ID));
	}
	stack = is_module ? NULL : table_find(&stacks->wanted, site);
	if (stack) {
		put(&stack->frames, scan_field(scan, COL_FRAMES));
		stack->python = scan_is(scan, COL_KIND, "python");
	}
	return true;
}

/* Returns the frame that *TEXT begins with, and sets *TEXT behind it, at the end to NULL. */
static struct frame frame_next(const char **text)
{
	struct frame f = { .module = strtoull(*text, NULL, 10) };
	const char *end = strchr(*text, ';'), *at = strchr(*text, '+');

	if (at && (!end || at < end))
		f.at = strtoull(at + 1, NULL, 16);
	*text = end ? end + 1 : NULL;
	return f;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static void place_add(struct module *m, uint64_t at)
{
	if (util_room(&m->places, m->n, sizeof(*m->places)) == 0)
		m->places[m->n++] = (struct symbol_place){ .at = at };
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_place *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void places_collect(struct stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->wanted.n; i++) {
		const struct stack *stack = table_at(&stacks->wanted, i);
		const char *text = stack->python ? NULL : stack->frames;

		for (unsigned int k = 0; text && k < FRAMES_MAX; k++) {
			const struct frame f = frame_next(&text);
			struct module *m = f.module ? table_find(&stacks->modules, f.module) : NULL;

			if (m && f.at)
				place_add(m, f.at - 1);
		}
	}
}

static void module_name(struct module *module)
{
	char path[4096];
	size_t n = 0;

	if (!module->n || !module->path || !module->build_id || strlen(module->path) >= sizeof(path))
		return;
	qsort(module->places, module->n, sizeof(module->places[0]), by_address);
	for (size_t i = 0; i < module->n; i++)
		if (!n || module->places[n - 1].at != module->places[i].at)
			module->places[n++] = module->places[i];
	module->n = n;
	path[text_unescape(path, module->path, strlen(module->path))] = '\0';
	if (path[0] == '/')
		symbols_find(path, module->build_id, module->places, module->n);
}

/* Makes the symbols of all modules the names that a stack has, in one turn. */
static void names_show(struct stacks *stacks)
{
	autofree char ***symbols = NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < stacks->modules.n; i++) {
		const struct module *module = table_at(&stacks->modules, i);

		for (size_t k = 0; k < module->n; k++) {
			char **symbol = &module->places[k].name;

			if (*symbol && util_room(&symbols, n, sizeof(*symbols)) == 0)
				symbols[n++] = symbol;
			else
				free(TAKE_PTR(*symbol));
		}
	}
	cxx_names(symbols, n);
}

static void read_sites(struct stacks *s, struct scan_folder *f)
{
	struct scan_taker taker = { .take = take, .own = s };

	scan_walk(f, "sites", &taker);
	places_collect(s);
	for (uint32_t i = 0; i < s->modules.n; i++)
		module_name(table_at(&s->modules, i));
	names_show(s);
}

/* EXACT: with the place in the function */
static void put_frame(const struct stacks *stacks, const struct frame *frame, bool exact, FILE *out)
{
	const struct module *module = frame->module ? table_find(&stacks->modules, frame->module) : NULL;
	const struct symbol_place key = { .at = frame->at - 1 };
	const struct symbol_place *place =
		module && module->n ? bsearch(&key, module->places, module->n, sizeof(key), by_address) : NULL;
	const char *file = module && module->path ? strrchr(module->path, '/') : NULL;

	if (place && place->name)
		fputs(place->name, out);
	else if (module && module->path)
		fprintf(out, "%s+0x%" PRIx64, file ? file + 1 : module->path, frame->at);
	else
		fprintf(out, "0x%" PRIx64, frame->at);
	if (exact && place && place->name)
		fprintf(out, "+0x%" PRIx64, frame->at - place->begin);
}

/* Puts the frame of Python that *TEXT begins with, without the folders of its file, and sets *TEXT likewise. */
static void put_line(const char **text, FILE *out)
{
	const char *at = *text, *end = strchrnul(at, ';'), *file = memrchr(at, '/', (size_t)(end - at));

	at = file ? file + 1 : at;
	fwrite(at, 1, (size_t)(end - at), out);
	*text = *end ? end + 1 : NULL;
}

static char *text_of(const struct stacks *stacks, uint64_t site, bool exact)
{
	const struct stack *stack = site ? table_find(&stacks->wanted, site) : NULL;
	const char *text = stack ? stack->frames : NULL;
	char *ret = NULL;
	size_t len = 0;
	FILE *out = text ? open_memstream(&ret, &len) : NULL;

	for (unsigned int k = 0; out && text && k < FRAMES_MAX; k++) {
		struct frame f;

		fputs(k ? STACKS_SEPARATOR : "", out);
		if (stack->python) {
			put_line(&text, out);
			continue;
		}
		f = frame_next(&text);
		put_frame(stacks, &f, exact, out);
	}
	if (!out || fclose(out) == 0)
		return ret;
	free(ret);
	return NULL;
}

static bool is_alike(const struct stack_place *a, const struct stack_place *b)
{
	return a->site != b->site && *a->text && *b->text && !strcmp(*a->text, *b->text);
}

/* Stacks of the same functions, which call each other at other places, get these places: nothing else in them differs.
 */
static void distinguish(const struct stacks *stacks, const struct stack_place *places, unsigned int n)
{
	autofree bool *alike = calloc(n, sizeof(*alike));

	for (unsigned int i = 0; alike && i < n; i++)
		for (unsigned int k = 0; !alike[i] && k < n; k++)
			alike[i] = is_alike(&places[i], &places[k]);
	for (unsigned int i = 0; alike && i < n; i++) {
		char *exact = alike[i] ? text_of(stacks, places[i].site, true) : NULL;

		if (!exact)
			continue;
		free(*places[i].text);
		*places[i].text = exact;
	}
}

static void read_places(struct scan_folder *folder, const struct stack_place *places, unsigned int n, bool apart)
{
	struct stacks s;

	table_init(&s.modules, sizeof(struct module), STACKS_MODULES_MAX);
	table_init(&s.wanted, sizeof(struct stack), n);
	for (unsigned int i = 0; i < n; i++)
		if (places[i].site)
			table_get(&s.wanted, places[i].site);
	read_sites(&s, folder);
	for (unsigned int i = 0; i < n; i++)
		*places[i].text = text_of(&s, places[i].site, false);
	if (apart)
		distinguish(&s, places, n);
	clear(&s);
}

void stacks_read(struct scan_folder *f, const struct stack_place *places, unsigned int n)
{
	read_places(f, places, n, false);
}

void stacks_read_apart(struct scan_folder *f, const struct stack_place *places, unsigned int n)
{
	read_places(f, places, n, true);
}
