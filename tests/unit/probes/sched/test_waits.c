/* SPDX-License-Identifier: BSD-2-Clause */
/* Waits as rows: tests/golden/waits.txt. */
#include "dlt/waits.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "dlt/sched.h"
#include "records.h"
#include "trace/record.h"

static struct dlt_waits *wait_begin(uint32_t call, uint32_t state, enum dlt_wait_by by)
{
	struct dlt_waits *rec = rec_begin(DLT_waits);

	rec->hdr.lat_ns = 5 * NSEC_PER_MSEC;
	rec->runq_ns = 7000;
	rec->call = call;
	rec->state = state;
	rec->by = by;
	rec->by_tgid = rec->by_tid = DLT_NONE32;
	rec->by_call = DLT_SCHED_NO_CALL;
	return rec;
}

static struct dlt_waits *by_thread(struct dlt_waits *rec, int pid, int tid, const char *comm)
{
	rec->by_tgid = pid;
	rec->by_tid = tid;
	memcpy(rec->by_comm, comm, MIN(strlen(comm), sizeof(rec->by_comm)));
	return rec;
}

static void peer(struct dlt_waits *rec, int family, const char *addr, uint16_t port)
{
	rec->peer.family = (uint16_t)family;
	rec->peer.port = port;
	assert_int_equal(inet_pton(family, addr, rec->peer.addr), 1);
}

static void rows_have_what_ended_the_wait(void **state)
{
	wait_begin(DLT_SCHED_NO_CALL, DLT_SCHED_RUNQ, DLT_BY_NOTHING);
	rec_emit();
	wait_begin(DLT_SCHED_NO_CALL, DLT_WAITS_THROTTLED, DLT_BY_NOTHING)->throttled_ns = 6000;
	rec_emit();
	by_thread(wait_begin(SYS_futex, DLT_SCHED_SLEEP, DLT_BY_THREAD), 100, 102, "a b\t-")->by_call = SYS_write;
	rec_emit();
	by_thread(wait_begin(SYS_wait4, DLT_SCHED_SLEEP, DLT_BY_EXIT), 200, 200, "a name of 16 by.");
	rec_emit();
	wait_begin(SYS_rt_sigtimedwait, DLT_SCHED_SLEEP, DLT_BY_SIGNAL);
	rec_emit();
	wait_begin(SYS_clock_nanosleep, DLT_SCHED_SLEEP, DLT_BY_TIMER);
	rec_emit();
	wait_begin(DLT_SCHED_FAULT, DLT_SCHED_DISK, DLT_BY_DISK);
	rec_emit();
	by_thread(wait_begin(SYS_fsync, DLT_SCHED_BLOCKED, DLT_BY_KERNEL), 61, 61, "jbd2/vda1-8");
	rec_emit();
	wait_begin(DLT_SCHED_STOPPED, DLT_SCHED_SLEEP, DLT_BY_INTERRUPT);
	rec_emit();
	wait_begin(SYS_read, DLT_SCHED_SLEEP, DLT_BY_END)->runq_ns = 0;
	rec_emit();
	wait_begin(511, DLT_SCHED_SLEEP, DLT_BY_UNKNOWN); /* a newer call */
	rec_emit();
	expect_golden(DLT_waits);
}

/* Returns column PEER of the last row. */
static const char *last_peer(void)
{
	static char text[4096];
	autofree char *rows = rows_of(DLT_waits);
	char *field, *rest = text;

	snprintf(text, sizeof(text), "%s", rows);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		rows = memmove(rows, line, strlen(line) + 1);
	rest = rows;
	for (unsigned int i = 0; i < 14; i++)
		field = strsep(&rest, "\t");
	return strcpy(text, field);
}

static void peers_have_address_and_port(void **state)
{
	peer(wait_begin(SYS_recvfrom, DLT_SCHED_SLEEP, DLT_BY_NET), AF_INET, "10.0.0.5", 9000);
	rec_emit();
	assert_string_equal(last_peer(), "10.0.0.5:9000");
	peer(wait_begin(SYS_recvfrom, DLT_SCHED_SLEEP, DLT_BY_NET), AF_INET6, "fe80:1111:2222:3333:4444:5555:6666:7777",
	     UINT16_MAX);
	rec_emit();
	assert_string_equal(last_peer(), "[fe80:1111:2222:3333:4444:5555:6666:7777]:65535");
	peer(wait_begin(SYS_recvfrom, DLT_SCHED_SLEEP, DLT_BY_NET), AF_INET6, "::ffff:127.0.0.1", 1);
	rec_emit();
	assert_string_equal(last_peer(), "[::ffff:127.0.0.1]:1");
	wait_begin(SYS_recvfrom, DLT_SCHED_SLEEP, DLT_BY_NET)->peer.family = 77; /* no such family */
	rec_emit();
	assert_string_equal(last_peer(), "-");
}

/* A record that is shorter than its fixed part is no row. */
static void a_short_record_is_refused(void **state)
{
	wait_begin(SYS_read, DLT_SCHED_SLEEP, DLT_BY_TIMER);
	record.hdr.size--;
	rec_emit();
	assert_int_equal(decode.counts[DLT_waits].bad, 1);
	expect_rows(DLT_waits, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_have_what_ended_the_wait),
		WITH_DECODER(peers_have_address_and_port),
		WITH_DECODER(a_short_record_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
