/* SPDX-License-Identifier: BSD-2-Clause */
/* What a blocked call waits for, by the kernel's texts, and who ends it, by processes of this test. */
#include "host/waits/holders.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "host/waits/socket_peer.h"
#include "host/waits/wait_call.h"

#define LOOK_NS (5 * NSEC_PER_SEC)

static void calls_without_a_time_are_waits(void **state)
{
	struct wait_call call;
	char text[256];

	snprintf(text, sizeof(text), "%d 0x5 0x1 0x2 0x0 0x0 0x0 0x7ffc 0x7f12\n", (int)SYS_read);
	assert_true(wait_call_parse(&call, text));
	assert_int_equal(call.what, WAIT_FOR_INPUT);
	assert_int_equal(call.fd, 5);
	snprintf(text, sizeof(text), "%d 0x1 0x189 0x0 0x0 0x0 0x0 0x7ffc 0x7f12\n", (int)SYS_futex);
	assert_true(wait_call_parse(&call, text));
	assert_int_equal(call.what, WAIT_FOR_THREAD);
}

static void a_time_a_shared_futex_and_no_call_are_none(void **state)
{
	struct wait_call call;
	char text[256];

	snprintf(text, sizeof(text), "%d 0x1 0x189 0x0 0x7ff0 0x0 0x0 0x7ffc 0x7f12\n", (int)SYS_futex);
	assert_false(wait_call_parse(&call, text));
	snprintf(text, sizeof(text), "%d 0x1 0x109 0x0 0x0 0x0 0x0 0x7ffc 0x7f12\n", (int)SYS_futex);
	assert_false(wait_call_parse(&call, text));
	snprintf(text, sizeof(text), "%d 0x3 0x1 0x8 0x1388 0x0 0x8 0x7ffc 0x7f12\n", (int)SYS_epoll_pwait);
	assert_false(wait_call_parse(&call, text));
	assert_false(wait_call_parse(&call, "running\n"));
	assert_false(wait_call_parse(&call, "-1 0x7ffc 0x7f12\n"));
	assert_false(wait_call_parse(&call, ""));
}

static void the_holder_of_a_lock_is_above_those_that_wait(void **state)
{
	static const char text[] = "1: FLOCK  ADVISORY  WRITE 100 08:01:5 0 EOF\n"
				   "1: -> FLOCK  ADVISORY  WRITE 101 08:01:5 0 EOF\n"
				   "2: POSIX  ADVISORY  WRITE 200 08:01:6 0 EOF\n"
				   "2: -> POSIX  ADVISORY  READ 201 08:01:6 0 EOF\n"
				   "2: -> POSIX  ADVISORY  WRITE 202 08:01:6 0 EOF\n";

	assert_int_equal(holders_of_lock(text, 101), 100);
	assert_int_equal(holders_of_lock(text, 202), 200);
	assert_int_equal(holders_of_lock(text, 200), 0);
	assert_int_equal(holders_of_lock("", 200), 0);
}

static void the_peer_of_a_connection_has_its_addresses_the_other_way_round(void **state)
{
	static const char text[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
		"timeout inode\n"
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0      "
		"  0 700 1\n"
		"   1: 0100007F:1F90 0100007F:A001 01 00000000:00000000 00:00000000 00000000     0      "
		"  0 701 1\n"
		"   2: 0100007F:A001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0      "
		"  0 702 1\n"
		"   3: 0100007F:A002 08080808:0050 01 00000000:00000000 00:00000000 00000000     0      "
		"  0 703 1\n";

	assert_int_equal(socket_peer_of_tcp(text, 701), 702);
	assert_int_equal(socket_peer_of_tcp(text, 702), 701);
	assert_int_equal(socket_peer_of_tcp(text, 700), 0);
	assert_int_equal(socket_peer_of_tcp(text, 703), 0);
	assert_int_equal(socket_peer_of_tcp(text, 1), 0);
}

static pid_t reading(int fd, const int others[2])
{
	pid_t pid = fork();
	char c;

	if (pid)
		return pid;
	close(others[0]);
	close(others[1]);
	(void)!read(fd, &c, 1);
	_exit(0);
}

/* Waits for the wait of PID, alone, to be found. */
static const struct open_wait *found(struct open_waits *waits, pid_t pid)
{
	for (int tries = 0; tries < 2000; tries++) {
		assert_int_equal(holders_find(waits, &pid, 1, clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + LOOK_NS), 0);
		if (waits->n == 1 && strcmp(waits->v[0].call, "read") == 0)
			return &waits->v[0];
		usleep(1000);
	}
	fail_msg("process %d does not wait", pid);
	return NULL;
}

static void ends(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_writer_of_a_pipe_ends_a_read(void **state)
{
	static struct open_waits waits;
	const struct open_wait *wait;
	int fds[2], own[2] = { -1, -1 };
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	own[0] = fds[1]; /* the child keeps none of its other end */
	pid = reading(fds[0], own);
	wait = found(&waits, pid);
	assert_string_equal(wait->object, "pipe");
	assert_true(wait->known);
	assert_int_equal(wait->n_ends, 1);
	assert_int_equal(wait->ends[0].pid, getpid());
	assert_false(wait->ends[0].job);
	ends(pid);
	close(fds[0]);
	close(fds[1]);
}

static void the_other_one_of_a_pair_ends_it(void **state)
{
	static struct open_waits waits;
	const struct open_wait *wait;
	int fds[2], own[2] = { -1, -1 };
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	own[0] = fds[1];
	pid = reading(fds[0], own);
	wait = found(&waits, pid);
	assert_string_equal(wait->object, "socket");
	assert_true(wait->known);
	assert_int_equal(wait->n_ends, 1);
	assert_int_equal(wait->ends[0].pid, getpid());
	ends(pid);
	close(fds[0]);
	close(fds[1]);
}

static void what_is_not_looked_at_in_time_is_not_known(void **state)
{
	static struct open_waits waits;
	pid_t pid = getpid();

	assert_int_equal(holders_find(&waits, &pid, 1, 0), 0);
	assert_int_equal(waits.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_without_a_time_are_waits),
		cmocka_unit_test(a_time_a_shared_futex_and_no_call_are_none),
		cmocka_unit_test(the_holder_of_a_lock_is_above_those_that_wait),
		cmocka_unit_test(the_peer_of_a_connection_has_its_addresses_the_other_way_round),
		cmocka_unit_test(the_writer_of_a_pipe_ends_a_read),
		cmocka_unit_test(the_other_one_of_a_pair_ends_it),
		cmocka_unit_test(what_is_not_looked_at_in_time_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
