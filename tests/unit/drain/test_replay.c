/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machines with many CPUs, replayed: rings that 2 to 256 CPUs fill, through the drain, the decoder and the sinks. Rows
 * must come in the order of time, with everything that was counted as written, in memory that does not grow with the
 * events.
 *
 * With arguments it measures instead of testing, by hand and for tests/native/drain/budget.sh:
 *
 *   test_replay [-c CPUS] [-r RINGS] [-b BUSY] [-n EVENTS] [-k EVENTS] [-m|-f]
 *
 * BUSY of CPUS CPUs (256, all) make EVENTS events (a million), on RINGS rings (as many as CPUs; more CPUs than rings
 * share them), each next event on a random CPU, with a round of the drain after every -k of them (50 for each busy CPU;
 * 0: N rounds without events). Only reads; with -m a mix, with -f small files: open, read, read, close, a new one each
 * time. Rows go to /dev/null. Prints a count per line; callgrind measures the cost of a row, in replay_round():
 *
 *   valgrind --tool=callgrind --toggle-collect=replay_round build/tests/drain/test_replay -b 2
 */
#include "replay.h"
#include "sanitized.h"

#include <malloc.h>
#include <pthread.h>

#include "drain/drain.h"
#include "trace/probe_mask.h"

/* --- allocations are counted ------------------------------------------------------------------ */

#if SANITIZED || !defined(__GLIBC__)
#define COUNTS_ALLOCATIONS false
static uint64_t allocations;
#else
#define COUNTS_ALLOCATIONS true
static uint64_t allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static void count_allocation(void)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	count_allocation();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count_allocation();
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	count_allocation();
	return __libc_realloc(p, size);
}
#endif

/* --- a machine ------------------------------------------------------------------------------- */

static struct machine {
	unsigned int n_cpus, n_rings;
	struct ring_memory rings[REPLAY_CPUS_MAX];
	struct replay_cpu cpus[REPLAY_CPUS_MAX];
	struct tracer tracer; /* traces nothing: the drain looks in it for calls in flight */
	struct dlt_call no_call;
	struct drain drain;
	uint64_t now_ns; /* the clock, except in tests with a thread */
	uint64_t random;
} m;

static uint64_t random_next(void)
{
	uint64_t *x = &m.random;

	*x ^= *x << 13, *x ^= *x >> 7, *x ^= *x << 17; /* Marsaglia, xorshift64 */
	return *x;
}

static void machine_make(unsigned int n_cpus, unsigned int n_rings, size_t ring_bytes)
{
	const probe_mask mask = PROBE_BIT(DLT_vfs_rw) | PROBE_BIT(DLT_open) | PROBE_BIT(DLT_close) |
				PROBE_BIT(DLT_bio) | PROBE_BIT(DLT_time_align);
	const struct clock_reading start = { .mono_ns = START_NS, .real_ns = START_REAL_NS };
	autoclose int dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ring rings[REPLAY_CPUS_MAX];

	memset(&m, 0, sizeof(m));
	m.n_cpus = n_cpus;
	m.n_rings = n_rings;
	m.now_ns = START_NS;
	m.random = 0x9e3779b97f4a7c15ULL;
	memset(&record, 0, sizeof(record));
	replay_templates_make();
	for (unsigned int i = 0; i < n_rings; i++)
		ring_memory_make(&m.rings[i], &rings[i], ring_bytes);
	replay_cpus(m.cpus, n_cpus, m.rings, n_rings);

	m.tracer.ring_bytes = ring_bytes;
	m.tracer.calls = &m.no_call;
	for (unsigned int i = 0; i < TRACER_MAPS; i++)
		m.tracer.maps[i] = -1;
	assert_int_equal(drain_open(&m.drain, &config, &m.tracer, mask, dir, NULL, NULL), 0);
	rings_free(&m.drain.rings); /* without descriptors */
	assert_int_equal(rings_init_memory(&m.drain.rings, rings, n_rings, n_cpus), 0);
	clock_map_init(&m.drain.decode.clock, &start);
}

static void machine_free(void)
{
	drain_free(&m.drain);
	for (unsigned int i = 0; i < m.n_rings; i++)
		ring_memory_free(&m.rings[i]);
}

static void on_record(void *ctx, const void *rec, uint32_t len)
{
	decode_record(ctx, rec, len);
}

/* The work of the drain's thread at a wake-up, at the replay's time. */
static __attribute__((noinline)) uint64_t replay_round(void)
{
	return rings_consume(&m.drain.rings, m.now_ns, on_record, &m.drain.decode);
}

/* The same under another name, which callgrind does not count. */
static uint64_t other_round(void)
{
	uint64_t n = rings_consume(&m.drain.rings, m.now_ns, on_record, &m.drain.decode);

	return n + rings_waiting(&m.drain.rings);
}

static void drain_all(void)
{
	while (other_round())
		;
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (m.drain.decode.sinks[i].fd >= 0)
			assert_int_equal(sink_flush(&m.drain.decode.sinks[i]), 0);
}

/* --- the CPUs -------------------------------------------------------------------------------- */

static uint64_t stamp(void)
{
	return ++m.now_ns;
}

static void release_held(struct replay_cpu *c)
{
	if (c->held)
		replay_submit(c, TAKE_PTR(c->held), stamp());
}

/*
 * A random one of the first BUSY CPUs makes its next record: at once or, once in HOLD times (0: never), in two steps:
 * reserved now, stamped and submitted at its next turn.
 */
static void step(unsigned int busy, unsigned int hold, enum replay_mode mode)
{
	struct replay_cpu *c = &m.cpus[random_next() % busy];
	uint32_t *head;

	if (c->held) {
		release_held(c);
		return;
	}
	head = replay_event(c, mode);
	if (head && hold && random_next() % hold == 0)
		c->held = head;
	else if (head)
		replay_submit(c, head, stamp());
}

/* Some give up their reserved records. */
static void give_up(unsigned int busy)
{
	struct replay_cpu *c = &m.cpus[random_next() % busy];
	uint32_t *head = ring_memory_reserve(c->ring, 200);

	if (head)
		ring_memory_discard(head);
}

/* --- the rows -------------------------------------------------------------------------------- */

static uint64_t sum_of(unsigned int probe, size_t counter)
{
	const struct dlt_stats sum = replay_sum(m.cpus, m.n_cpus, probe);

	return *(const uint64_t *)((const char *)&sum + counter);
}

/* Every event that was seen is a row or counted as lost, by the CPU or by the sink. */
static void expect_accounted(void)
{
	static const unsigned int of[] = { DLT_vfs_rw, DLT_open, DLT_close, DLT_bio, DLT_pids, DLT_files };
	const struct decode *d = &m.drain.decode;

	for (unsigned int i = 0; i < ARRAY_SIZE(of); i++) {
		const struct dlt_stats sum = replay_sum(m.cpus, m.n_cpus, of[i]);
		const struct sink *sink = &d->sinks[of[i]];

		assert_int_equal(sum.seen, sum.emitted + sum.lost);
		assert_int_equal(d->counts[of[i]].records, sum.emitted);
		assert_int_equal(d->counts[of[i]].bad, 0);
		if (of[i] != DLT_files)
			assert_int_equal(sink->rows + sink->lost, sum.emitted);
		else if (sum.lost) /* a file whose name was lost also has a row at its first use */
			assert_true(sink->rows + sink->lost >= files_count(d->ctx.files));
		else
			assert_int_equal(sink->rows + sink->lost, files_count(d->ctx.files));
	}
	assert_int_equal(d->counts[DLT_NO_PROBE].bad, 0);
}

static uint64_t late_rows(void)
{
	uint64_t n = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		n += m.drain.decode.sinks[i].late;
	return n;
}

/* Returns field N (from 0) of the row at LINE. */
static uint64_t number_at(const char *line, unsigned int n)
{
	for (; n; n--)
		line = strchr(line, '\t') + 1;
	return strtoull(line, NULL, 10);
}

/* Calls ROW for each row of NAME.out, with its TIMESTAMP. Returns how many are earlier than one before them. */
static uint64_t read_rows(unsigned int probe, void (*row)(const char *line, void *ctx), void *ctx)
{
	autofree char *name = util_fmt("%s.out", probes[probe]->name), *path = tree_path(name), *text = NULL;
	uint64_t rows = 0, last = 0, early = 0;
	const char *line;

	assert_int_equal(util_read_file(path, 1UL << 30, &text, NULL), 0);
	line = strchr(strchr(text, '\n') + 1, '\n') + 1; /* both header lines */
	for (; *line; line = strchr(line, '\n') + 1, rows++) {
		uint64_t ts_ns = strtoull(line, NULL, 10);

		early += ts_ns < last;
		last = MAX(last, ts_ns);
		if (row)
			row(line, ctx);
	}
	assert_int_equal(rows, m.drain.decode.sinks[probe].rows);
	return early;
}

static void hash_read(const char *line, void *ctx)
{
	uint64_t *hashes = ctx, tid = number_at(line, 3);

	assert_in_range(tid, 1, m.n_cpus);
	hashes[tid - 1] = REPLAY_HASH(hashes[tid - 1], number_at(line, 10)); /* OFFSET */
}

/* Rows of every file are in order; the reads are those that were made, in each CPU's order. */
static void expect_rows_in_order(uint64_t late)
{
	uint64_t hashes[REPLAY_CPUS_MAX] = {}, early = read_rows(DLT_vfs_rw, hash_read, hashes);

	for (unsigned int i = 0; i < m.n_cpus; i++)
		assert_int_equal(hashes[i], m.cpus[i].read_hash);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (i != DLT_vfs_rw && m.drain.decode.sinks[i].fd >= 0)
			early += read_rows(i, NULL, NULL);
	assert_int_equal(early, late);
	assert_int_equal(late_rows(), late);
}

/* --- tests ----------------------------------------------------------------------------------- */

/* CPUs and rings: one each; and shared, as the default is for this memory. */
static const struct {
	unsigned int cpus, rings;
} machines[] = {
	{ 1, 1 }, { 2, 2 }, { 128, 128 }, { 256, 256 }, { 128, 16 }, { 256, 16 }, { 256, 2 },
};

#define EVENTS 60000U
#define RING_BYTES 16384UL

static void rows_come_in_order_from_any_number_of_cpus(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(machines); i++) {
		const unsigned int cpus = machines[i].cpus;

		tree_make(state);
		machine_make(cpus, machines[i].rings, MAX(RING_BYTES, (1 << 20) / machines[i].rings));
		for (unsigned int n = 0; n < EVENTS; n++) {
			step(cpus, 20, REPLAY_MIX);
			if (n % 97 == 0)
				give_up(cpus);
			if (random_next() % 200 == 0) /* at any moment: some records are incomplete */
				replay_round();
		}
		for (unsigned int c = 0; c < cpus; c++)
			release_held(&m.cpus[c]);
		drain_all();
		expect_accounted();
		for (unsigned int p = 1; p < DLT_PROBES; p++)
			assert_int_equal(sum_of(p, offsetof(struct dlt_stats, lost)), 0);
		expect_rows_in_order(0);
		machine_free();
		tree_remove(state);
	}
}

/* The drain stands still again and again, until rings are full. */
static void what_is_lost_is_counted_exactly(void **state)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(machines); i++) {
		const unsigned int cpus = machines[i].cpus;
		const uint64_t fill = machines[i].rings * RING_BYTES / 100;

		tree_make(state);
		machine_make(cpus, machines[i].rings, RING_BYTES);
		for (unsigned int n = 0; n < EVENTS; n++) {
			step(cpus, 50, REPLAY_MIX);
			if (n / (2 * fill) % 2 == 0 && random_next() % 50 == 0)
				replay_round();
		}
		for (unsigned int c = 0; c < cpus; c++)
			release_held(&m.cpus[c]);
		drain_all();
		expect_accounted();
		if (2 * fill < EVENTS / 2)
			assert_true(sum_of(DLT_vfs_rw, offsetof(struct dlt_stats, lost)) > 0);
		expect_rows_in_order(0);
		machine_free();
		tree_remove(state);
	}
}

/* Late rows, which the kernel side never sends; if it did, they would be kept and counted. */
static void late_rows_are_counted_and_kept(void **state)
{
	uint64_t late = 0;

	machine_make(256, 256, RING_BYTES);
	for (unsigned int n = 0; n < EVENTS; n++) {
		struct replay_cpu *c = &m.cpus[random_next() % m.n_cpus];

		step(m.n_cpus, 0, REPLAY_READS);
		if (n % 100 == 99)
			replay_round();
		/* only files whose names have arrived: names would be late as well */
		if (n % 100 == 99 && c->named[replay_at(c)]) {
			struct dlt_file_id id = replay_file(c, replay_at(c));
			uint32_t *head = replay_read(c, &id);

			assert_non_null(head);
			replay_submit(c, head, START_NS + n / 2);
			late++;
		}
	}
	drain_all();
	expect_accounted();
	assert_true(late > 100);
	expect_rows_in_order(late);
	machine_free();
}

static void what_a_paused_sink_loses_is_counted(void **state)
{
	machine_make(128, 128, RING_BYTES);
	for (unsigned int n = 0; n < EVENTS; n++) {
		step(m.n_cpus, 0, REPLAY_MIX);
		drain_pause(&m.drain, n / 10000 == 3);
		if (n % 100 == 99)
			replay_round();
	}
	drain_all();
	expect_accounted();
	assert_in_range(m.drain.decode.sinks[DLT_vfs_rw].lost, 5000, 10000);
	machine_free();
}

/* --- with the drain's own thread -------------------------------------------------------------- */

#define PRODUCERS 2
static unsigned int producers_left;

/* This thread plays every second CPU. */
static void *producer_main(void *arg)
{
	const unsigned int first = (unsigned int)(uintptr_t)arg;

	for (unsigned int n = 0; n < EVENTS / PRODUCERS; n++) {
		struct replay_cpu *c = &m.cpus[(first + n * PRODUCERS) % m.n_cpus];
		uint32_t *head = replay_event(c, REPLAY_MIX);

		if (head)
			replay_submit(c, head, clock_now_ns(CLOCK_MONOTONIC));
	}
	__atomic_fetch_sub(&producers_left, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Perhaps faster than the drain: the machine decides how much is lost, but it must be counted. */
static void the_drains_thread_keeps_order_and_count(void **state)
{
	pthread_t producers[PRODUCERS];

	machine_make(256, 256, RING_BYTES);
	assert_int_equal(drain_start(&m.drain, NULL), 0);
	producers_left = PRODUCERS;
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_create(&producers[i], NULL, producer_main, (void *)i), 0);
	for (unsigned int i = 0; i < PRODUCERS; i++)
		pthread_join(producers[i], NULL);
	drain_stop(&m.drain);
	assert_int_equal(m.drain.error, 0);
	assert_int_equal(rings_waiting(&m.drain.rings), 0);
	expect_accounted();
	expect_rows_in_order(0);
	machine_free();
}

/* --- memory ---------------------------------------------------------------------------------- */

/* Discards the rows: only the counts matter. */
static void rows_to_nowhere(void)
{
	autoclose int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (m.drain.decode.sinks[i].fd >= 0)
			assert_true(dup2(null, m.drain.decode.sinks[i].fd) >= 0);
}

static uint64_t peak_kb(void)
{
	autofree char *status = NULL;
	const char *at;

	assert_int_equal(util_read_file("/proc/self/status", 1 << 16, &status, NULL), 0);
	at = strstr(status, "VmHWM:");
	assert_non_null(at);
	return strtoull(at + strlen("VmHWM:"), NULL, 10);
}

static void run_events(uint64_t n, unsigned int busy, uint64_t per_round, enum replay_mode mode,
		       uint64_t (*round)(void))
{
	for (uint64_t i = 1; i <= n; i++) {
		step(busy, 0, mode);
		if (i % per_round == 0 || i == n)
			round();
	}
}

#define WARM_UP 600 /* events per CPU after which it has named its files, and filled its ring once */

/* After files are named and rings have been filled once, nothing grows. */
static void memory_does_not_grow_with_events(void **state)
{
	static const unsigned int cpus[] = { 128, 256 };

	for (unsigned int i = 0; i < ARRAY_SIZE(cpus); i++) {
		uint64_t made, kb;

		tree_make(state);
		machine_make(cpus[i], cpus[i], RING_BYTES);
		rows_to_nowhere();
		run_events(cpus[i] * WARM_UP, cpus[i], 50 * cpus[i], REPLAY_MIX, other_round);
		kb = peak_kb();
		made = allocations;
		run_events(1000000, cpus[i], 50 * cpus[i], REPLAY_MIX, replay_round);
		drain_all();
		assert_int_equal(allocations, made); /* both are 0 where they are not counted */
		/* except the sinks' buffers, of which those with few rows fill later; ASan keeps freed memory */
		if (COUNTS_ALLOCATIONS)
			assert_true(peak_kb() <= kb + 2048);
		expect_accounted();
		machine_free();
		tree_remove(state);
	}
}

/* --- by hand --------------------------------------------------------------------------------- */

static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 10);

	if (*end || end == text) {
		fprintf(stderr, "%s is not a number\n", text);
		exit(2);
	}
	return v;
}

static int measure(int argc, char **argv)
{
	uint64_t n = 1000000, per_round = UINT64_MAX, cpus = 256, rings = 0, busy = 0, made, kb, rounds;
	enum replay_mode mode = REPLAY_READS;
	int o;

	while ((o = getopt(argc, argv, "c:r:b:n:k:mf")) != -1)
		switch (o) {
		case 'c':
			cpus = number(optarg);
			break;
		case 'r':
			rings = number(optarg);
			break;
		case 'b':
			busy = number(optarg);
			break;
		case 'n':
			n = number(optarg);
			break;
		case 'k':
			per_round = number(optarg);
			break;
		case 'm':
			mode = REPLAY_MIX;
			break;
		case 'f':
			mode = REPLAY_SMALL_FILES;
			break;
		default:
			return 2;
		}
	cpus = MIN(MAX(cpus, 1), REPLAY_CPUS_MAX);
	busy = busy ? MIN(busy, cpus) : cpus;
	rings = rings ? MIN(rings, cpus) : cpus;
	if (per_round == UINT64_MAX)
		per_round = 50 * busy;
	if (tree_make(NULL) < 0)
		return 1;
	machine_make((unsigned int)cpus, (unsigned int)rings, RING_BYTES);
	rows_to_nowhere();
	rounds = per_round ? (n + per_round - 1) / per_round : n;
	run_events(busy * WARM_UP, (unsigned int)busy, 50 * busy, mode, other_round);
	kb = peak_kb();
	made = allocations;
	if (per_round)
		run_events(n, (unsigned int)busy, per_round, mode, replay_round);
	for (uint64_t i = 0; !per_round && i < n; i++)
		replay_round();
	made = allocations - made;
	printf("rows %ju\nrounds %ju\npeak_kb_before %ju\npeak_kb %ju\n", (uintmax_t)(per_round ? n : 0),
	       (uintmax_t)rounds, (uintmax_t)kb, (uintmax_t)peak_kb());
	if (COUNTS_ALLOCATIONS)
		printf("allocations %ju\n", (uintmax_t)made);
	drain_all();
	expect_accounted();
	machine_free();
	return tree_remove(NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(late_rows_are_counted_and_kept),
		cmocka_unit_test(memory_does_not_grow_with_events),
		cmocka_unit_test(rows_come_in_order_from_any_number_of_cpus),
		IN_TREE(the_drains_thread_keeps_order_and_count),
		IN_TREE(what_a_paused_sink_loses_is_counted),
		cmocka_unit_test(what_is_lost_is_counted_exactly),
	};

	if (argc > 1)
		return measure(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
