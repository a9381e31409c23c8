/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry of libdltraced-nvtx.so, and what NVTX calls from then on. Names with _a take bytes, with _w wide
 * characters. */
#include <stddef.h>
#include <unistd.h>

#include "label.h"
#include "nvtx_abi.h"
#include "pushed.h"
#include "started.h"
#include "text.h"

/* --- the domain of every program -------------------------------------------------------------------------- */

static void mark_ex(const struct nvtx_attributes *a)
{
	label_mark(&(struct label){ .attributes = a });
}

static void mark_a(const char *s)
{
	label_mark(&(struct label){ .ascii = s });
}

static void mark_w(const wchar_t *s)
{
	label_mark(&(struct label){ .wide = s });
}

static uint64_t start_ex(const struct nvtx_attributes *a)
{
	return started_start(&(struct label){ .attributes = a });
}

static uint64_t start_a(const char *s)
{
	return started_start(&(struct label){ .ascii = s });
}

static uint64_t start_w(const wchar_t *s)
{
	return started_start(&(struct label){ .wide = s });
}

static int push_ex(const struct nvtx_attributes *a)
{
	return pushed_push(&(struct label){ .attributes = a });
}

static int push_a(const char *s)
{
	return pushed_push(&(struct label){ .ascii = s });
}

static int push_w(const wchar_t *s)
{
	return pushed_push(&(struct label){ .wide = s });
}

static int pop(void)
{
	return pushed_pop(NULL);
}

static void name_category_a(uint32_t number, const char *s)
{
	text_name_category(NULL, number, s);
}

/* Threads are not of a domain. TID is the number that the thread has in its own PID namespace. */
static void name_thread_a(uint32_t tid, const char *s)
{
	char name[TEXT_MAX + 1];
	dltraced_region r;

	text_copy(name, s, TEXT_MAX);
	text_one_line(name);
	r.args_len = 0;
	dltraced_update_int(&r, "tid", tid);
	dltraced_update_str(&r, "name", name);
	label_fact("nvtx.thread_name", r.args, r.args_len);
}

static void name_thread_w(uint32_t tid, const wchar_t *s)
{
	char name[TEXT_MAX + 1];

	text_copy_wide(name, s, TEXT_MAX);
	name_thread_a(tid, name);
}

/* --- a library's own domain ------------------------------------------------------------------------------- */

static void domain_mark(const struct text *domain, const struct nvtx_attributes *a)
{
	label_mark(&(struct label){ domain, .attributes = a });
}

static uint64_t domain_start(const struct text *domain, const struct nvtx_attributes *a)
{
	return started_start(&(struct label){ domain, .attributes = a });
}

static void domain_end(const struct text *domain, uint64_t id)
{
	(void)domain; /* the number alone says which range */
	started_end(id);
}

static int domain_push(const struct text *domain, const struct nvtx_attributes *a)
{
	return pushed_push(&(struct label){ domain, .attributes = a });
}

static void domain_name_category_w(const struct text *domain, uint32_t number, const wchar_t *s)
{
	char name[TEXT_MAX + 1];

	text_copy_wide(name, s, TEXT_MAX);
	text_name_category(domain, number, name);
}

static void name_category_w(uint32_t number, const wchar_t *s)
{
	domain_name_category_w(NULL, number, s);
}

/* A handle is the text itself, in whichever domain. */
static const struct text *domain_register_a(const struct text *domain, const char *s)
{
	(void)domain;
	return text_keep(s);
}

static const struct text *domain_register_w(const struct text *domain, const wchar_t *s)
{
	char name[TEXT_MAX + 1];

	text_copy_wide(name, s, TEXT_MAX);
	return domain_register_a(domain, name);
}

static const struct text *domain_create_w(const wchar_t *s)
{
	char name[TEXT_MAX + 1];

	text_copy_wide(name, s, TEXT_MAX);
	return text_keep_domain(name);
}

/* --- the entry -------------------------------------------------------------------------------------------- */

struct callback {
	unsigned int number;
	nvtx_function function;
};

#define CALLBACK(number, function)                \
	{                                         \
		number, (nvtx_function)(function) \
	}

static const struct callback core[] = {
	CALLBACK(NVTX_MARK_EX, mark_ex),
	CALLBACK(NVTX_MARK_A, mark_a),
	CALLBACK(NVTX_MARK_W, mark_w),
	CALLBACK(NVTX_START_EX, start_ex),
	CALLBACK(NVTX_START_A, start_a),
	CALLBACK(NVTX_START_W, start_w),
	CALLBACK(NVTX_END, started_end),
	CALLBACK(NVTX_PUSH_EX, push_ex),
	CALLBACK(NVTX_PUSH_A, push_a),
	CALLBACK(NVTX_PUSH_W, push_w),
	CALLBACK(NVTX_POP, pop),
	CALLBACK(NVTX_NAME_CATEGORY_A, name_category_a),
	CALLBACK(NVTX_NAME_CATEGORY_W, name_category_w),
	CALLBACK(NVTX_NAME_THREAD_A, name_thread_a),
	CALLBACK(NVTX_NAME_THREAD_W, name_thread_w),
	{ 0, NULL },
};

/* Domains are never destroyed: see text.h. */
static const struct callback core2[] = {
	CALLBACK(NVTX_DOMAIN_MARK, domain_mark),
	CALLBACK(NVTX_DOMAIN_START, domain_start),
	CALLBACK(NVTX_DOMAIN_END, domain_end),
	CALLBACK(NVTX_DOMAIN_PUSH, domain_push),
	CALLBACK(NVTX_DOMAIN_POP, pushed_pop),
	CALLBACK(NVTX_DOMAIN_NAME_CATEGORY_A, text_name_category),
	CALLBACK(NVTX_DOMAIN_NAME_CATEGORY_W, domain_name_category_w),
	CALLBACK(NVTX_DOMAIN_REGISTER_A, domain_register_a),
	CALLBACK(NVTX_DOMAIN_REGISTER_W, domain_register_w),
	CALLBACK(NVTX_DOMAIN_CREATE_A, text_keep_domain),
	CALLBACK(NVTX_DOMAIN_CREATE_W, domain_create_w),
	{ 0, NULL },
};

/* Sets the program's pointers for MODULE, as many of them as it has. Returns whether it knows MODULE. */
static int set(const struct nvtx_callbacks *program, int module, const struct callback *ours)
{
	nvtx_function **theirs = NULL;
	unsigned int n = 0;

	if (!program->functions(module, &theirs, &n) || !theirs)
		return 0;
	for (; ours->function; ours++)
		if (ours->number < n && theirs[ours->number])
			*theirs[ours->number] = ours->function;
	return 1;
}

/* Called once for each of the program's files that use NVTX. Returns 0 where their ranges go nowhere: NVTX then does
 * nothing. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_exports exports);
int InitializeInjectionNvtx2(nvtx_exports exports)
{
	const struct nvtx_callbacks *program = exports ? exports(NVTX_EXPORT_CALLBACKS) : NULL;

	if (!program || program->size < sizeof(*program) || !dltraced_on_())
		return 0;
	pushed_init();
	if (!set(program, NVTX_CORE, core))
		return 0;
	set(program, NVTX_CORE2, core2);
	return 1;
}
