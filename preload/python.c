/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter's own frames are read where they are; nothing of it is called but the two functions that return a
 * thread's state, which read a variable each. What may be read directly:
 *
 *   - A thread that holds the GIL: nobody else can take its frames and code away.
 *   - The interpreter's main thread, with or without it: its state ends in Py_FinalizeEx(), which is this thread's to
 *     call.
 *   - Any other thread without the GIL, as in the middle of a computation in C: its own frames stand still, but the
 *     main thread may end the interpreter now, and take them away. It reads by system calls, which fail then.
 *
 * A stack is kept with all words that it depends on, and is the same one if all of them still hold, as in stack.c: the
 * chain of frames from the innermost one on, in each the code and its instruction, and that the code is still that
 * code. A code object has a number of its own, in its interpreter, from 3.12 on; before, it is known by its strings and
 * tables.
 *
 * The interpreter is looked for among what the program is linked with, which stays as long as the process. One that is
 * loaded later (a plugin's) may be unloaded, and is not looked at.
 */
#include "python.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "numbers.h"
#include "peek.h"
#include "python_code.h"
#include "python_layout.h"
#include "site.h"
#include "thread.h"

#define SETS 1024
#define WAYS 4
#define WORDS (1 << 16) /* that are kept, of all stacks */
#define LINKS_MAX (2 * DLT_ALLOC_FRAMES) /* frames, with those that are not Python's */
#define STACK_WORDS (DLT_ALLOC_FRAMES * 13 + (LINKS_MAX - DLT_ALLOC_FRAMES) * 2)
#define LINES 4096
#define PROOFS 8 /* stacks that are read by system calls before this version is believed to be what its number says */

static struct interpreter {
	enum { NO_PYTHON, UNKNOWN_PYTHON, PYTHON } kind;
	bool announced;
	bool own_current; /* CURRENT is of the calling thread; else of whoever holds the GIL */
	unsigned int proofs; /* relaxed */
	uint32_t version; /* as PY_VERSION_HEX */
	const struct python_layout *layout;
	struct python_types types;
	const char *runtime;
	const char *(*of_thread)(void); /* the state of a thread, though it has released the GIL */
	const char *(*current)(void); /* the state that holds it; NULL: none */
} python;

struct python_stack {
	const char *frame;
	uint64_t instr, interp;
	uint64_t words; /* where they begin, of all words that have ever been written */
	uint32_t n, site;
};

/* What a place in the code is called; which depends on CHECK. */
struct python_line {
	const char *code;
	uint64_t instr, check, frame;
};

struct python_cache {
	struct python_stack stacks[SETS][WAYS];
	struct python_line lines[LINES];
	uint64_t written; /* words, ever */
	uint8_t next[SETS]; /* the way to use next */
	struct peek_word words[WORDS];
};

/* --- the interpreter ------------------------------------------------------------------------------------- */

/* "3.11.7 (main, ...) [...]" */
static uint32_t version_of(const char *text)
{
	uint32_t version = 0;
	char *end;

	/* objects have other heads there */
	if (strstr(text, "free-threading"))
		return 0;
	for (int shift = 24; shift >= 8; shift -= 8) {
		version |= (uint32_t)strtoul(text, &end, 10) << shift;
		if (*end != '.')
			break;
		text = end + 1;
	}
	return version;
}

void python_find(void)
{
	const char *(*version)(void) = NULL;
	struct interpreter p = { .kind = NO_PYTHON };

	thread.busy = true; /* dlsym(3) allocates where it finds nothing */
	p.runtime = dlsym(RTLD_DEFAULT, "_PyRuntime");
	if (p.runtime) {
		*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
		*(void **)&p.of_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
		*(void **)&p.current = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
		if (!p.current) /* from 3.13 on */
			*(void **)&p.current = dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
		p.types.code = dlsym(RTLD_DEFAULT, "PyCode_Type");
		p.types.str = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
		p.kind = UNKNOWN_PYTHON;
	}
	dlerror(); /* the program finds none of ours */
	if (version)
		p.version = version_of(version());
	if (p.version && p.of_thread && p.current && p.types.code && p.types.str)
		p.layout = python_layout(p.version, p.runtime);
	if (p.layout) {
		p.kind = PYTHON;
		p.own_current = p.layout->version >= 0x30c;
	}
	python = p;
	thread.busy = false;
}

static void announce(void)
{
	python.announced = true;
	thread_put(DLT_ALLOC_PYTHON, (const void *)(uintptr_t)python.version, 0, python.kind == PYTHON, 0);
}

/* What is there is not what this version has: never again. */
static void disbelieve(void)
{
	python.kind = UNKNOWN_PYTHON;
	announce();
}

/* Returns the state of this thread, NULL: it has none. *SAFE: its frames stay while they are read. */
static const char *thread_state(bool *safe)
{
	const char *current = python.current(), *state;
	unsigned long main_thread;

	*safe = true;
	if (python.own_current && current)
		return current;
	state = python.of_thread();
	if (state && current != state) {
		memcpy(&main_thread, python.runtime + python.layout->main_thread, sizeof(main_thread));
		*safe = main_thread == (unsigned long)pthread_self();
	}
	return state;
}

/* --- a stack --------------------------------------------------------------------------------------------- */

struct walk {
	bool safe;
	const struct python_layout *l;
	struct python_cache *cache;
	struct peek_word *words;
	unsigned int n, n_frames;
	uint64_t interp;
	uint64_t check; /* of the words of one code object */
	uint64_t frames[DLT_ALLOC_FRAMES];
};

/* The word at BASE + OFFSET is one that the stack depends on. */
static bool word(struct walk *walk, const char *base, size_t offset, uint64_t *ret)
{
	uint64_t value;

	if (walk->n == STACK_WORDS || !peek(walk->safe, &value, base + offset, sizeof(value)))
		return false;
	walk->words[walk->n++] = (struct peek_word){ base + offset, value };
	walk->check = numbers_mix(walk->check ^ value);
	if (ret)
		*ret = value;
	return true;
}

static bool pointer(struct walk *w, const char *base, size_t offset, const char **ret)
{
	uint64_t value = 0;

	if (!word(w, base, offset, &value) || value & 7)
		return false;
	*ret = (const char *)(uintptr_t)value;
	return true;
}

static bool code_pointer(struct walk *w, const char *frame, const char **ret)
{
	uint64_t value = 0;

	if (!word(w, frame, w->l->code, &value) || (value & ~(uint64_t)w->l->code_tag) & 7)
		return false;
	*ret = (const char *)(uintptr_t)(value & ~(uint64_t)w->l->code_tag);
	return true;
}

/* A file's name: its length, and its last 8 bytes, in which those of code that is made at run time differ. */
static bool file_words(struct walk *walk, const char *str)
{
	uint64_t length = 0, bytes;
	uint32_t state = 0;

	if (!peek(walk->safe, &state, str + PYTHON_STR_STATE, sizeof(state)) ||
	    !word(walk, str, PYTHON_STR_LENGTH, &length))
		return false;
	bytes = length * (state >> 2 & 7);
	if (bytes < sizeof(uint64_t))
		return true;
	return word(walk, str, (state >> 6 & 1 ? walk->l->str_ascii : walk->l->str_compact) + bytes - sizeof(uint64_t),
		    NULL);
}

/* A code object's memory may be used for another one, and so may that of its parts. */
static bool code_words(struct walk *walk, const char *code)
{
	const char *file = NULL, *name = NULL, *table = NULL;
	uint64_t size = 0;

	walk->check = walk->interp;
	if (walk->l->co_version != PYTHON_NONE)
		return word(walk, code, walk->l->co_version & ~7U, NULL);
	if (!word(walk, code, walk->l->co_first & ~7U, NULL) || !pointer(walk, code, walk->l->co_file, &file) ||
	    !pointer(walk, code, walk->l->co_name, &name) || !pointer(walk, code, walk->l->co_lines, &table) ||
	    !file_words(walk, file) || !word(walk, name, PYTHON_STR_HASH, NULL) ||
	    !word(walk, table, PYTHON_VAR_SIZE, &size))
		return false;
	if (size < sizeof(uint64_t))
		return true;
	return word(walk, table, PYTHON_BYTES, NULL) && word(walk, table, PYTHON_BYTES + size - sizeof(uint64_t), NULL);
}

static bool frame_of_code(struct walk *walk, const char *code, uint64_t instr)
{
	struct python_line *line =
		&walk->cache->lines[(uint32_t)(numbers_mix((uintptr_t)code ^ instr << 20) >> 32) % LINES];

	if (line->code != code || line->instr != instr || line->check != walk->check) {
		struct python_line fresh = { code, instr, walk->check, 0 };

		if (!python_code_frame(walk->safe, walk->l, &python.types, code, instr, &fresh.frame))
			return false;
		*line = fresh;
	}
	walk->frames[walk->n_frames++] = line->frame;
	return true;
}

/* Whether FRAME is one between C and Python. */
static bool is_of_c(const struct walk *w, const char *frame)
{
	uint8_t owner = 0;

	return w->l->owner != PYTHON_NONE && peek(w->safe, &owner, frame + w->l->owner, sizeof(owner)) &&
	       owner >= PYTHON_OWNED_BY_C;
}

/*
 * Collects the frames from FRAME on, and the words that they depend on. Returns false where anything is not as it
 * should be.
 */
static bool walk(struct walk *w, const char *frame)
{
	const char *prev = NULL, *code = NULL;
	uint64_t instr = 0;

	for (unsigned int i = 0; frame && i < LINKS_MAX && w->n_frames < DLT_ALLOC_FRAMES; i++, frame = prev) {
		if (!code_pointer(w, frame, &code) || !pointer(w, frame, w->l->prev, &prev))
			return false;
		if (is_of_c(w, frame))
			continue;
		if (!word(w, frame, w->l->instr, &instr) || !code_words(w, code) || !frame_of_code(w, code, instr))
			return false;
	}
	return true;
}

static uint32_t number_of(const struct walk *walk)
{
	uint64_t hash = DLT_ALLOC_LINES;
	bool defined = false;
	uint32_t number;

	for (unsigned int i = 0; i < walk->n_frames; i++)
		hash = numbers_mix(hash ^ walk->frames[i]);
	number = site_of(hash, &defined);
	if (number && !defined)
		site_define(DLT_ALLOC_LINES, number, walk->frames, walk->n_frames);
	return number;
}

/* --- what is kept ---------------------------------------------------------------------------------------- */

static struct python_cache *cache_get(void)
{
	if (!thread.python && !thread.ended) {
		void *cache = mmap(NULL, sizeof(struct python_cache), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		thread.python = cache == MAP_FAILED ? NULL : cache;
	}
	return thread.python;
}

/* Returns the room for the words of a stack, which begins at CACHE->WRITTEN: in one piece. */
static struct peek_word *words_room(struct python_cache *cache)
{
	if (cache->written % WORDS + STACK_WORDS > WORDS)
		cache->written += WORDS - cache->written % WORDS;
	return &cache->words[cache->written % WORDS];
}

static bool holds(const struct python_cache *cache, const struct python_stack *s, bool safe)
{
	/* the room of the next stack may have been written to, in part */
	return s->n && s->words + WORDS >= cache->written + STACK_WORDS &&
	       peek_same(safe, &cache->words[s->words % WORDS], s->n);
}

static uint32_t look(struct python_cache *cache, bool safe, struct python_stack *ret)
{
	struct walk w = {
		.safe = safe && __atomic_load_n(&python.proofs, __ATOMIC_RELAXED) >= PROOFS,
		.l = python.layout,
		.cache = cache,
		.words = words_room(cache),
		.interp = ret->interp,
	};

	if (!walk(&w, ret->frame)) {
		/* whoever holds the GIL has frames as they should be */
		if (safe && !w.safe)
			disbelieve();
		return 0;
	}
	if (!w.n_frames)
		return 0;
	if (!w.safe)
		__atomic_fetch_add(&python.proofs, 1, __ATOMIC_RELAXED);
	ret->words = cache->written;
	ret->n = w.n;
	ret->site = number_of(&w);
	return ret->site;
}

/*
 * The key of what is kept: the interpreter, the innermost frame, and where it is. They are read anew each time: a state
 * that another interpreter had in this thread may be gone.
 */
static bool top(bool safe, const char *state, struct python_stack *stack)
{
	const struct python_layout *layout = python.layout;

	if (!peek(safe, &stack->frame, state + layout->state_frame, sizeof(stack->frame)))
		return false;
	if (layout->cframe_frame != PYTHON_NONE &&
	    !peek(safe, &stack->frame, stack->frame + layout->cframe_frame, sizeof(stack->frame)))
		return false;
	if (layout->state_interp != PYTHON_NONE) {
		const char *interp = NULL;

		if (!peek(safe, &interp, state + layout->state_interp, sizeof(interp)) ||
		    !peek(safe, &stack->interp, interp + layout->interp_id, sizeof(stack->interp)))
			return false;
	}
	return !stack->frame || peek(safe, &stack->instr, stack->frame + layout->instr, sizeof(stack->instr));
}

static uint32_t site_in(struct python_cache *cache, bool safe, const char *state)
{
	const bool believed = safe && __atomic_load_n(&python.proofs, __ATOMIC_RELAXED) >= PROOFS;
	struct python_stack s = { 0 }, *set;
	uint32_t at;

	if (!top(believed, state, &s)) {
		if (safe && !believed)
			disbelieve();
		return 0;
	}
	if (!s.frame)
		return 0;
	at = (uint32_t)(numbers_mix((uintptr_t)s.frame ^ s.instr << 20) >> 32) % SETS;
	set = cache->stacks[at];
	for (unsigned int i = 0; i < WAYS; i++)
		if (set[i].frame == s.frame && set[i].instr == s.instr && set[i].interp == s.interp &&
		    holds(cache, &set[i], believed)) {
			struct python_stack again = s;

			if (__builtin_expect(config.check, 0) && look(cache, safe, &again) && again.site != set[i].site)
				abort();
			return set[i].site;
		}
	if (look(cache, safe, &s)) {
		cache->written += s.n;
		set[cache->next[at]++ % WAYS] = s;
	}
	return s.site;
}

uint32_t python_site(void)
{
	struct python_cache *cache;
	const char *state;
	uint32_t site = 0;
	bool safe;
	int saved;

	if (python.kind == NO_PYTHON)
		return 0;
	if (__builtin_expect(!python.announced, 0))
		announce();
	if (python.kind == UNKNOWN_PYTHON)
		return 0;
	saved = errno;
	state = thread_state(&safe);
	cache = state ? cache_get() : NULL;
	if (cache)
		site = site_in(cache, safe, state);
	errno = saved;
	return site;
}

void python_thread_ends(void)
{
	if (thread.python)
		munmap(thread.python, sizeof(*thread.python));
	thread.python = NULL;
}
