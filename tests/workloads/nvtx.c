/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvtx TALLY: ranges and marks by NVTX, of every form, in threads, a forked process and a signal handler. Each that is
 *to have a row is a line of TALLY, with the process's own clock around its begin and its end, and TABs between: PID TID
 *CAT NAME START_BEFORE START_AFTER END_BEFORE END_AFTER ARGS What the library must do in other ways (levels, errno,
 *memory, programs that have less of NVTX than today's) it checks itself. Prints "no library" where NVTX passes nothing
 *on. nvtx train: the steps of a job. nvtx bench N: prints the ns that a range costs.
 */
#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_client.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int tally;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "nvtx: %s\n", what);
	_exit(1);
}

static void equal(const char *what, long got, long wanted)
{
	if (got == wanted)
		return;
	fprintf(stderr, "nvtx: %s: %ld, not %ld\n", what, got, wanted);
	_exit(1);
}

/* The clock around the begin and the end of a range. */
struct times {
	uint64_t at[4];
};

static void note(const char *cat, const char *name, const struct times *t, const char *args)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "%d\t%ld\t%s\t%s\t%llu\t%llu\t%llu\t%llu\t%s\n", getpid(),
			 syscall(SYS_gettid), cat, name, (unsigned long long)t->at[0], (unsigned long long)t->at[1],
			 (unsigned long long)t->at[2], (unsigned long long)t->at[3], args);

	if (write(tally, line, (size_t)n) != n)
		die("tally");
}

#define AROUND(t, i, call)                \
	do {                              \
		(t)->at[i] = now();       \
		call;                     \
		(t)->at[(i) + 1] = now(); \
	} while (0)

/* A range by the call PUSH at level 0, popped at once: NAME and ARGS as in its row. */
#define RANGE(push, cat, name, args)                           \
	do {                                                   \
		struct times times_;                           \
		int level_;                                    \
                                                               \
		AROUND(&times_, 0, level_ = (push));           \
		equal("level of " name, level_, 0);            \
		AROUND(&times_, 2, level_ = nvtxRangePop());   \
		equal("level at the end of " name, level_, 0); \
		note(cat, name, &times_, args);                \
	} while (0)

static nvtxEventAttributes_t of_ascii(const char *s)
{
	return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
					.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					.messageType = NVTX_MESSAGE_TYPE_ASCII,
					.message.ascii = s };
}

static nvtxEventAttributes_t of_wide(const wchar_t *s)
{
	return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
					.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					.messageType = NVTX_MESSAGE_TYPE_UNICODE,
					.message.unicode = s };
}

static nvtxEventAttributes_t of_registered(nvtxStringHandle_t s)
{
	return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
					.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					.messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					.message.registered = s };
}

/* --- texts ------------------------------------------------------------------------------------------------ */

#define A10 "aaaaaaaaaa"
#define A50 A10 A10 A10 A10 A10

static void names(void)
{
	nvtxEventAttributes_t ascii = of_ascii("ex.ascii"), wide = of_wide(L"w\u00e4it"), none = of_ascii(NULL),
			      bad = of_ascii("none");
	nvtxEventAttributes_t registered = of_registered(nvtxDomainRegisterStringA(NULL, "kept"));
	nvtxEventAttributes_t registered_wide = of_registered(nvtxDomainRegisterStringW(NULL, L"k\u00e9pt"));
	wchar_t wrong[] = { L'x', 0xd800, 0x7fffffff, 0x1f600, 0 };

	RANGE(nvtxRangePushA("plain"), "nvtx", "plain", "-");
	RANGE(nvtxRangePushW(L"\u00e9t\u00e9 \u4e2d"), "nvtx", "\u00e9t\u00e9\\040\u4e2d", "-");
	RANGE(nvtxRangePushEx(&ascii), "nvtx", "ex.ascii", "-");
	RANGE(nvtxRangePushEx(&wide), "nvtx", "w\u00e4it", "-");
	RANGE(nvtxRangePushEx(&registered), "nvtx", "kept", "-");
	RANGE(nvtxRangePushEx(&registered_wide), "nvtx", "k\u00e9pt", "-");
	RANGE(nvtxRangePushA("ai.compute.step"), "compute", "step", "-");
	RANGE(nvtxRangePushA("a\tb\nc\\\"#"), "nvtx", "a\\011b\\012c\\134\\042\\043", "-");
	RANGE(nvtxRangePushA("\xff\xfe"), "nvtx", "\\377\\376", "-");
	RANGE(nvtxRangePushW(wrong), "nvtx", "x\ufffd\ufffd\U0001f600", "-");
	RANGE(nvtxRangePushA("aten::add, seq = 1.5"), "nvtx", "aten::add,\\040seq\\040=\\0401.5", "-");
	/* 59 bytes are left behind "nvtx.", and no part of a character is one of them */
	RANGE(nvtxRangePushA(A50 "123456789"), "nvtx", A50 "123456789", "-");
	RANGE(nvtxRangePushA(A50 "1234567890123"), "nvtx", A50 "123456789", "-");
	RANGE(nvtxRangePushA(A50 "12345678\u00e9"), "nvtx", A50 "12345678", "-");
	RANGE(nvtxRangePushW(L"" A50 "12345678\u00e9"), "nvtx", A50 "12345678", "-");
	RANGE(nvtxRangePushA(""), "nvtx", "unnamed", "-");
	RANGE(nvtxRangePushA(NULL), "nvtx", "unnamed", "-");
	RANGE(nvtxRangePushW(NULL), "nvtx", "unnamed", "-");
	RANGE(nvtxRangePushEx(&none), "nvtx", "unnamed", "-");
	RANGE(nvtxRangePushEx(NULL), "nvtx", "unnamed", "-");
	bad.size = 40; /* too short to have a message */
	RANGE(nvtxRangePushEx(&bad), "nvtx", "unnamed", "-");
	bad = of_ascii("later");
	bad.size = 200; /* of a version to come */
	RANGE(nvtxRangePushEx(&bad), "nvtx", "later", "-");
	bad.messageType = 77;
	RANGE(nvtxRangePushEx(&bad), "nvtx", "unnamed", "-");
}

static void arguments(void)
{
	nvtxEventAttributes_t a = of_ascii("args");

	a.category = 7;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "category=7");
	nvtxNameCategoryA(7, "io\nforged=1");
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "category=io\\040forged=1");
	nvtxNameCategoryW(7, L"d\u00e9code");
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "category=d\u00e9code");
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	a.payload.ullValue = 1ULL << 40;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "category=d\u00e9code\\012payload=1099511627776");
	a.category = 0;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff00ff00;
	a.payload.ullValue = UINT64_MAX; /* more than a signed number */
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "-");
	a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "payload=-1");
	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "payload=-1");
	a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "payload=4294967295");
	a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
	a.payload.dValue = 0.5;
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "-");
	a.payloadType = (int32_t)0xdfbd0009; /* data that a schema describes */
	RANGE(nvtxRangePushEx(&a), "nvtx", "args", "-");
}

/* --- domains, marks, facts ---------------------------------------------------------------------------------- */

static void domains(void)
{
	nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL"), dots = nvtxDomainCreateW(L"my.own.domain"),
			   nameless = nvtxDomainCreateA("");
	nvtxDomainHandle_t cut = nvtxDomainCreateA(A50);
	nvtxEventAttributes_t reduce = of_registered(nvtxDomainRegisterStringA(nccl, "ncclAllReduce")),
			      inner = of_ascii("inner");
	nvtxEventAttributes_t ai = of_ascii("ai.comm.reduce");
	struct times outer_times, inner_times, other_times;

	if (!nccl || !dots || !nameless || !cut)
		die("no domains");
	reduce.category = inner.category = 7; /* in this domain it is called otherwise */
	nvtxDomainNameCategoryA(nccl, 7, "ring");
	nvtxDomainNameCategoryW(dots, 7, L"tr\u00e9e");
	AROUND(&outer_times, 0, equal("level", nvtxDomainRangePushEx(nccl, &reduce), 0));
	AROUND(&other_times, 0, equal("level in another domain", nvtxDomainRangePushEx(dots, &inner), 0));
	AROUND(&inner_times, 0, equal("level within", nvtxDomainRangePushEx(nccl, &ai), 1));
	equal("a domain with nothing to pop", nvtxDomainRangePop(nameless), -1);
	/* not in the order of the pushes, as each domain has its own */
	AROUND(&other_times, 2, equal("end in another domain", nvtxDomainRangePop(dots), 0));
	AROUND(&inner_times, 2, equal("end within", nvtxDomainRangePop(nccl), 1));
	AROUND(&outer_times, 2, equal("end", nvtxDomainRangePop(nccl), 0));
	note("NCCL", "ncclAllReduce", &outer_times, "category=ring");
	note("my_own_domain", "inner", &other_times, "category=tr\u00e9e");
	note("comm", "reduce", &inner_times, "-");
	equal("nothing to pop", nvtxRangePop(), -1);

	inner.category = 0;
	AROUND(&outer_times, 0, nvtxDomainRangePushEx(nameless, &inner));
	AROUND(&outer_times, 2, nvtxDomainRangePop(nameless));
	note("nvtx", "inner", &outer_times, "-");
	AROUND(&outer_times, 0, nvtxDomainRangePushEx(cut, &inner));
	AROUND(&outer_times, 2, nvtxDomainRangePop(cut));
	note(A10 A10 A10 "a", "inner", &outer_times, "-");
	nvtxDomainDestroy(cut);
	if (nvtxDomainCreateA("NCCL") != nccl)
		die("a domain of the same name is another one");
}

static void instants(void)
{
	nvtxEventAttributes_t a = of_ascii("there");
	struct times t = { { 0 } };

	a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
	a.payload.iValue = 3;
#define MARK(call, name, args)                \
	do {                                  \
		AROUND(&t, 2, call);          \
		t.at[0] = t.at[2];            \
		t.at[1] = t.at[3];            \
		note("mark", name, &t, args); \
	} while (0)
	MARK(nvtxMarkA("here.now"), "here.now", "-");
	MARK(nvtxMarkW(L"\u00fcber"), "\u00fcber", "-");
	MARK(nvtxMarkEx(&a), "there", "payload=3");
	MARK(nvtxMarkEx(NULL), "unnamed", "-");
	MARK(nvtxDomainMarkEx(nvtxDomainCreateA("NCCL"), &a), "NCCL.there", "payload=3");
	AROUND(&t, 2, nvtxNameOsThreadA(4711, "lo\nader"));
	t.at[0] = t.at[2];
	t.at[1] = t.at[3];
	note("meta", "nvtx.thread_name", &t, "tid=4711\\012name=lo\\040ader");
	AROUND(&t, 2, nvtxNameOsThreadW(12, L"\u00e4"));
	t.at[0] = t.at[2];
	t.at[1] = t.at[3];
	note("meta", "nvtx.thread_name", &t, "tid=12\\012name=\u00e4");
}

/* --- threads, processes, handlers ---------------------------------------------------------------------------- */

static void *pushes(void *arg)
{
	const int depth = 5;
	struct times t[5];

	for (long round = 0; round < (long)arg; round++) {
		for (int i = 0; i < depth; i++)
			AROUND(&t[i], 0, equal("level in a thread", nvtxRangePushA("in a thread"), i));
		for (int i = depth; i--;) {
			errno = 1234;
			AROUND(&t[i], 2, equal("end in a thread", nvtxRangePop(), i));
			equal("errno", errno, 1234);
			note("nvtx", "in\\040a\\040thread", &t[i], "-");
		}
	}
	return NULL;
}

struct started {
	nvtxRangeId_t id;
	struct times t;
	const char *name;
};

static void *ends(void *arg)
{
	struct started *s = arg;

	AROUND(&s->t, 2, nvtxRangeEnd(s->id));
	note("nvtx", s->name, &s->t, "-");
	return NULL;
}

static void in_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, arg) || pthread_join(thread, NULL))
		die("pthread_create");
}

/* Started here, ended elsewhere, and not in that order. */
static void across_threads(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
	nvtxEventAttributes_t a = of_ascii("sent");
	struct started s[3] = { { .name = "started" }, { .name = "w\u00eede" }, { .name = "attributes" } };
	nvtxEventAttributes_t third = of_ascii("attributes");
	nvtxRangeId_t id;
	struct times t;

	AROUND(&s[0].t, 0, s[0].id = nvtxRangeStartA("started"));
	AROUND(&s[1].t, 0, s[1].id = nvtxRangeStartW(L"w\u00eede"));
	AROUND(&s[2].t, 0, s[2].id = nvtxRangeStartEx(&third));
	if (!s[0].id || s[0].id == s[1].id || s[1].id == s[2].id || s[0].id == s[2].id)
		die("numbers of ranges");
	in_thread(ends, &s[1]);
	ends(&s[0]);
	in_thread(ends, &s[2]);
	AROUND(&t, 0, id = nvtxDomainRangeStartEx(domain, &a));
	if (id == s[0].id || id == s[1].id || id == s[2].id)
		die("the number of an ended range is used again");
	for (int i = 0; i < 3; i++)
		nvtxRangeEnd(s[i].id); /* ended already */
	nvtxRangeEnd(0);
	nvtxRangeEnd(~0ULL);
	AROUND(&t, 2, nvtxDomainRangeEnd(domain, id));
	note("NCCL", "sent", &t, "-");
}

static void forked(void)
{
	struct started s = { .name = "before\\040the\\040fork" };
	struct times t;
	int status;
	pid_t pid;

	AROUND(&s.t, 0, s.id = nvtxRangeStartA("before the fork"));
	AROUND(&t, 0, nvtxRangePushA("around the fork"));
	pid = fork();
	if (pid < 0)
		die("fork");
	AROUND(&t, 2, equal("level around a fork", nvtxRangePop(), 0)); /* both: it is open in both */
	note("nvtx", "around\\040the\\040fork", &t, "-");
	ends(&s);
	if (!pid) {
		pushes((void *)50L);
		in_thread(pushes, (void *)50L);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("a forked process");
}

#define STORM 500

static volatile int storms;

static void on_alarm(int sig)
{
	struct times t, u;

	(void)sig;
	if (storms++ >= STORM)
		return;
	AROUND(&t, 0, nvtxRangePushA("in a handler"));
	AROUND(&u, 0, nvtxRangePushA("in a handler"));
	AROUND(&u, 2, nvtxRangePop());
	AROUND(&t, 2, nvtxRangePop());
	note("nvtx", "in\\040a\\040handler", &u, "-");
	note("nvtx", "in\\040a\\040handler", &t, "-");
}

/* A handler that pushes and pops at any moment of a thread that does so, in another domain and in the same one. */
static void storm(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
	const struct itimerval often = { { 0, 100 }, { 0, 100 } }, off = { { 0, 0 }, { 0, 0 } };
	const struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	nvtxEventAttributes_t a = of_ascii("out");
	struct times t, u, started;
	nvtxRangeId_t id;

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (storms < STORM) {
		AROUND(&t, 0, equal("level in a storm", nvtxDomainRangePushEx(domain, &a), 0));
		AROUND(&u, 0, equal("level in a storm", nvtxRangePushA("in"), 0));
		AROUND(&started, 0, id = nvtxRangeStartA("started in a storm"));
		AROUND(&t, 2, equal("end in a storm", nvtxDomainRangePop(domain), 0));
		AROUND(&u, 2, equal("end in a storm", nvtxRangePop(), 0));
		AROUND(&started, 2, nvtxRangeEnd(id));
		note("NCCL", "out", &t, "-");
		note("nvtx", "in", &u, "-");
		note("nvtx", "started\\040in\\040a\\040storm", &started, "-");
	}
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
}

/* --- bounds and memory -------------------------------------------------------------------------------------- */

#define DEPTH 1024
#define STARTED 4096

static void *too_deep(void *arg)
{
	static struct times t[DEPTH];
	struct times fact = { { 0 } };

	(void)arg;
	for (int i = 0; i < DEPTH; i++)
		AROUND(&t[i], 0, equal("level", nvtxRangePushA("deep"), i));
	AROUND(&fact, 2, equal("level", nvtxRangePushA("deeper"), DEPTH));
	for (int i = 1; i < 100; i++)
		equal("level", nvtxRangePushA("deeper"), DEPTH + i);
	for (int i = 100; i--;)
		equal("end", nvtxRangePop(), DEPTH + i);
	for (int i = DEPTH; i--;) {
		AROUND(&t[i], 2, equal("end", nvtxRangePop(), i));
		note("nvtx", "deep", &t[i], "-");
	}
	equal("end of nothing", nvtxRangePop(), -1);
	fact.at[0] = fact.at[2];
	fact.at[1] = fact.at[3];
	note("meta", "nvtx.not_recorded", &fact,
	     "ranges\\040pushed\\040within\\0401024\\040others\\040of\\040their\\040thread");
	return NULL;
}

static void too_many(void)
{
	static struct started s[STARTED];
	struct times fact = { { 0 } };

	for (int i = 0; i < STARTED; i++) {
		s[i].name = "many";
		AROUND(&s[i].t, 0, s[i].id = nvtxRangeStartA("many"));
	}
	AROUND(&fact, 2, equal("one more", (long)nvtxRangeStartA("more"), 0));
	equal("and more", (long)nvtxRangeStartA("more"), 0);
	for (int i = 0; i < STARTED; i++)
		ends(&s[i]);
	fact.at[0] = fact.at[2];
	fact.at[1] = fact.at[3];
	note("meta", "nvtx.not_recorded", &fact,
	     "ranges\\040started\\040while\\0404096\\040others\\040had\\040not\\040ended");
}

static long memory_kib(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld", &pages) != 1)
		die("statm");
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) >> 10);
}

static void *nothing_but_a_push(void *arg)
{
	nvtxRangePushA("not popped");
	return arg;
}

/* Of its address space: threads come and go, and equal texts again and again. */
static void memory(void)
{
	long before = 0;

	for (int i = 0; i < 2000; i++) {
		if (i == 100)
			before = memory_kib();
		nvtxDomainRegisterStringA(nvtxDomainCreateA("again"), "and again");
		nvtxDomainNameCategoryA(nvtxDomainCreateA("again"), 1, i % 2 ? "one" : "other");
		nvtxDomainDestroy(nvtxDomainCreateA("again"));
		if (i % 10 == 0)
			in_thread(nothing_but_a_push, NULL);
	}
	if (memory_kib() - before > 128) /* what is kept of one thread would be more */
		equal("KiB that are kept", memory_kib() - before, 0);
}

/* --- other programs ----------------------------------------------------------------------------------------- */

#ifndef REAL_NVTX
static int old_module(int module, client_function ***table, unsigned int *size)
{
	*size = 10; /* up to nvtxRangePushA */
	*table = client_core_table;
	return module == 1;
}

static const void *old_exports(uint32_t id)
{
	static const struct client_callbacks callbacks = { sizeof(callbacks), old_module };

	return id == 1 ? &callbacks : NULL;
}

static const void *short_exports(uint32_t id)
{
	static const struct client_callbacks callbacks = { sizeof(size_t), NULL };

	return id == 1 ? &callbacks : NULL;
}

static const void *no_exports(uint32_t id)
{
	(void)id;
	return NULL;
}

static int no_module(int module, client_function ***table, unsigned int *size)
{
	(void)module, (void)table, (void)size;
	return 0;
}

static const void *empty_exports(uint32_t id)
{
	static const struct client_callbacks callbacks = { sizeof(callbacks), no_module };

	return id == 1 ? &callbacks : NULL;
}

static void other_programs(void)
{
	memset(client_core, 0, sizeof(client_core));
	memset(client_core2, 0, sizeof(client_core2));
	equal("a program without exports", client_initialize(no_exports), 0);
	equal("one whose exports are too short", client_initialize(short_exports), 0);
	equal("one that knows no module", client_initialize(empty_exports), 0);
	for (int i = 0; i < 16; i++)
		equal("pointers of a program that was refused", client_core[i] || client_core2[i], 0);
	equal("one with fewer functions", client_initialize(old_exports), 1);
	equal("its last pointer", client_core[9] != NULL, 1);
	for (int i = 0; i < 16; i++)
		equal("pointers behind its last", (i > 9 && client_core[i]) || client_core2[i], 0);
}
#else
static void other_programs(void)
{
}
#endif

/* --- a job ------------------------------------------------------------------------------------------------- */

/* Two epochs of five steps, by the names that the report knows. */
static void train(void)
{
	nvtxEventAttributes_t epoch = of_ascii("ai.pipeline.epoch"), step = of_ascii("ai.compute.step");

	epoch.payloadType = step.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	for (int i = 0; i < 10; i++) {
		epoch.payload.llValue = i / 5;
		step.payload.llValue = i;
		if (i % 5 == 0)
			nvtxRangePushEx(&epoch);
		nvtxRangePushA("ai.dataloader.fetch");
		nvtxRangePop();
		nvtxRangePushEx(&step);
		nvtxRangePop();
		if (i % 5 == 4)
			nvtxRangePop();
	}
}

/* --- cost --------------------------------------------------------------------------------------------------- */

static void bench(long n)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
	nvtxEventAttributes_t a = of_registered(nvtxDomainRegisterStringA(domain, "ncclAllReduce"));
	clock_t begin = clock();

	for (long i = 0; i < n; i++) {
		nvtxRangePushA("forward");
		nvtxRangePop();
	}
	printf("push %.1f\n", (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / (double)n);
	begin = clock();
	for (long i = 0; i < n; i++) {
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	printf("push_domain %.1f\n", (double)(clock() - begin) * 1e9 / CLOCKS_PER_SEC / (double)n);
}

int main(int argc, char **argv)
{
	pthread_t threads[4];

	nvtxInitialize(NULL);
	if (argc == 3 && !strcmp(argv[1], "bench")) {
		bench(atol(argv[2]));
		return 0;
	}
	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "train")) {
		train();
		return 0;
	}
	tally = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (tally < 0)
		die(argv[1]);
	if (nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING) {
		puts("no library");
		return 0;
	}
	names();
	arguments();
	domains();
	instants();
	across_threads();
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, pushes, (void *)100L))
			die("pthread_create");
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	forked();
	storm();
	in_thread(too_deep, NULL);
	too_many();
	memory();
	other_programs();
	return 0;
}
