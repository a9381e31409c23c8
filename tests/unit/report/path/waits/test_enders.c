/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/enders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CALL 1
#define FILE_NAME 2
#define OTHER 3

static uint8_t call(const char *name)
{
	return path_call_of((struct reader_field){ name, strlen(name) });
}

static void each_wait_has_one_leaf(void **state)
{
	static const struct {
		const char *call;
		enum path_state state;
		enum path_by by;
		enum path_file file;
		bool other, outside, again, after;
		enum path_by_call by_call;
		enum path_kind kind;
		uint32_t detail;
	} cases[] = {
		{ "pread64", PATH_FOR_DISK, PATH_BY_DISK, .kind = PATH_DISK_READ, .detail = FILE_NAME },
		{ "pread64", PATH_ASLEEP, PATH_BY_DISK, .kind = PATH_DISK_READ, .detail = FILE_NAME },
		{ "fault", PATH_FOR_DISK, PATH_BY_DISK, .kind = PATH_DISK_FAULT, .detail = FILE_NAME },
		{ "newfstatat", PATH_FOR_DISK, PATH_BY_DISK, .kind = PATH_DISK_METADATA, .detail = FILE_NAME },
		{ "fsync", PATH_BLOCKED, PATH_BY_KERNEL, .other = true, .kind = PATH_DISK_SYNC, .detail = FILE_NAME },
		/* a writer that is held back, and a sleep */
		{ "write", PATH_FOR_DISK, PATH_BY_TIMER, .kind = PATH_DISK_WRITE, .detail = FILE_NAME },
		{ "nanosleep", PATH_ASLEEP, PATH_BY_TIMER, .kind = PATH_SLEEP },
		{ "nanosleep", PATH_ASLEEP, PATH_BY_TIMER, .again = true, .kind = PATH_POLL, .detail = CALL },
		{ "nanosleep", PATH_ASLEEP, PATH_BY_TIMER, .after = true, .kind = PATH_POLL, .detail = CALL },
		{ "nanosleep", PATH_ASLEEP, PATH_BY_SIGNAL, .after = true, .other = true, .kind = PATH_SIGNAL,
		  .detail = OTHER },
		{ "futex", PATH_ASLEEP, PATH_BY_TIMER, .kind = PATH_TIMEOUT, .detail = CALL },
		{ "recvfrom", PATH_ASLEEP, PATH_BY_NET, .other = true, .kind = PATH_NETWORK, .detail = OTHER },
		{ "recvfrom", PATH_ASLEEP, PATH_BY_INTERRUPT, .other = true, .kind = PATH_NETWORK, .detail = OTHER },
		{ "sendto", PATH_ASLEEP, PATH_BY_NET, .other = true, .kind = PATH_NETWORK_SEND, .detail = OTHER },
		{ "write", PATH_ASLEEP, PATH_BY_NET, PATH_SOCKET_FILE, .other = true, .kind = PATH_NETWORK_SEND,
		  .detail = OTHER },
		{ "sendmsg", PATH_ASLEEP, PATH_BY_INTERRUPT, .other = true, .kind = PATH_NETWORK_SEND,
		  .detail = OTHER },
		{ "sendmsg", PATH_ASLEEP, PATH_BY_TIMER, .other = true, .kind = PATH_TIMEOUT, .detail = CALL },
		{ "recvfrom", PATH_ASLEEP, PATH_BY_INTERRUPT, .kind = PATH_INTERRUPT, .detail = CALL },
		/* a server, whatever end of the network its clients are at */
		{ "accept4", PATH_ASLEEP, PATH_BY_THREAD, PATH_SOCKET_FILE, .other = true, .outside = true,
		  .kind = PATH_CLIENT },
		{ "accept", PATH_ASLEEP, PATH_BY_NET, PATH_SOCKET_FILE, .other = true, .kind = PATH_CLIENT },
		{ "accept4", PATH_ASLEEP, PATH_BY_TIMER, PATH_SOCKET_FILE, .kind = PATH_TIMEOUT, .detail = CALL },
		/* the line of a terminal comes by way of a kernel thread, or from the program that draws it */
		{ "read", PATH_ASLEEP, PATH_BY_KERNEL, PATH_TERMINAL_FILE, .other = true, .kind = PATH_TERMINAL },
		{ "read", PATH_ASLEEP, PATH_BY_THREAD, PATH_TERMINAL_FILE, .outside = true, .kind = PATH_TERMINAL },
		{ "read", PATH_ASLEEP, PATH_BY_KERNEL, PATH_ANY_FILE, .other = true, .kind = PATH_KERNEL,
		  .detail = OTHER },
		{ "poll", PATH_ASLEEP, PATH_BY_TIMER, PATH_TERMINAL_FILE, .kind = PATH_TIMEOUT, .detail = CALL },
		{ "ioctl", PATH_ASLEEP, PATH_BY_INTERRUPT, PATH_DEVICE_FILE, .kind = PATH_DEVICE, .detail = FILE_NAME },
		{ "ioctl", PATH_ASLEEP, PATH_BY_THREAD, PATH_DEVICE_FILE, .other = true, .outside = true,
		  .kind = PATH_OUTSIDE, .detail = OTHER },
		/* by a listener of fanotify, which signals do not cut short; the other end of a FIFO; a server of FUSE
		 */
		{ "openat", PATH_BLOCKED, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_HELD,
		  .detail = OTHER },
		{ "execve", PATH_BLOCKED, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_HELD,
		  .detail = OTHER },
		{ "read", PATH_BLOCKED, PATH_BY_THREAD, PATH_STORED_FILE, .other = true, .outside = true,
		  .kind = PATH_HELD, .detail = OTHER },
		{ "read", PATH_ASLEEP, PATH_BY_THREAD, PATH_STORED_FILE, .other = true, .outside = true,
		  .kind = PATH_DISK_READ, .detail = FILE_NAME },
		{ "openat", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_OUTSIDE,
		  .detail = OTHER },
		{ "openat", PATH_ASLEEP, PATH_BY_THREAD, PATH_FUSE_FILE, .other = true, .outside = true,
		  .kind = PATH_DISK_METADATA, .detail = FILE_NAME },
		{ "newfstatat", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_DISK_METADATA,
		  .detail = FILE_NAME },
		/* a slow disk: nobody but the disk, or the kernel, ends it */
		{ "openat", PATH_FOR_DISK, PATH_BY_DISK, .kind = PATH_DISK_METADATA, .detail = FILE_NAME },
		{ "openat", PATH_BLOCKED, PATH_BY_KERNEL, .other = true, .kind = PATH_DISK_METADATA,
		  .detail = FILE_NAME },
		{ "write", PATH_BLOCKED, PATH_BY_THREAD, PATH_STORED_FILE, .other = true, .outside = true,
		  .kind = PATH_DISK_WRITE, .detail = FILE_NAME },
		{ "flock", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_LOCK,
		  .detail = OTHER },
		/* a lease, a page that a process fills, a call on which it decides; a FIFO's other end, a message */
		{ "openat", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .by_call = PATH_BY_GIVING_BACK,
		  .kind = PATH_HELD, .detail = OTHER },
		{ "truncate", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true,
		  .by_call = PATH_BY_GIVING_BACK, .kind = PATH_HELD, .detail = OTHER },
		{ "fault", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_HELD,
		  .detail = OTHER },
		{ "newfstatat", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .by_call = PATH_BY_CONTROL,
		  .kind = PATH_HELD, .detail = OTHER },
		{ "connect", PATH_ASLEEP, PATH_BY_THREAD, PATH_SOCKET_FILE, .other = true, .outside = true,
		  .by_call = PATH_BY_CONTROL, .kind = PATH_HELD, .detail = OTHER },
		{ "read", PATH_ASLEEP, PATH_BY_THREAD, PATH_PIPE_FILE, .other = true, .outside = true,
		  .by_call = PATH_BY_CONTROL, .kind = PATH_OUTSIDE, .detail = OTHER },
		{ "read", PATH_ASLEEP, PATH_BY_THREAD, PATH_PIPE_FILE, .other = true, .outside = true,
		  .by_call = PATH_BY_GIVING_BACK, .kind = PATH_OUTSIDE, .detail = OTHER },
		{ "poll", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .by_call = PATH_BY_CONTROL,
		  .kind = PATH_OUTSIDE, .detail = OTHER },
		{ "fcntl", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .by_call = PATH_BY_GIVING_BACK,
		  .kind = PATH_LOCK, .detail = OTHER },
		{ "wait4", PATH_ASLEEP, PATH_BY_EXIT, .other = true, .outside = true, .kind = PATH_OUTSIDE,
		  .detail = OTHER },
		/* a record that has no room; other threads of the kernel are storage */
		{ "openat", PATH_BLOCKED, PATH_BY_KERNEL, .other = true, .by_call = PATH_BY_AUDIT, .kind = PATH_HELD,
		  .detail = OTHER },
		{ "connect", PATH_BLOCKED, PATH_BY_KERNEL, PATH_SOCKET_FILE, .other = true, .by_call = PATH_BY_AUDIT,
		  .kind = PATH_HELD, .detail = OTHER },
		{ "openat", PATH_BLOCKED, PATH_BY_KERNEL, .other = true, .kind = PATH_DISK_METADATA,
		  .detail = FILE_NAME },
		{ "futex", PATH_ASLEEP, PATH_BY_THREAD, .kind = PATH_SEVERAL, .detail = CALL },
		{ "stopped", PATH_ASLEEP, PATH_BY_SIGNAL, .kind = PATH_STOPPED },
		{ "stopped", PATH_ASLEEP, PATH_BY_THREAD, .other = true, .outside = true, .kind = PATH_STOPPED,
		  .detail = OTHER },
		{ "poll", PATH_ASLEEP, PATH_BY_END, .kind = PATH_UNENDED, .detail = CALL },
		/* it is known what it was for, without its end */
		{ "read", PATH_FOR_DISK, PATH_BY_END, .kind = PATH_DISK_READ, .detail = FILE_NAME },
		{ "read", PATH_ASLEEP, PATH_BY_UNKNOWN, .kind = PATH_UNKNOWN, .detail = CALL },
		{ "read", PATH_FOR_DISK, PATH_BY_UNKNOWN, .kind = PATH_DISK_READ, .detail = FILE_NAME },
		{ "mmap", PATH_BLOCKED, PATH_BY_UNKNOWN, .kind = PATH_UNKNOWN, .detail = CALL },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct path_ender e = {
			.call_name = CALL,
			.file_name = FILE_NAME,
			.other = cases[i].other ? OTHER : 0,
			.call = call(cases[i].call),
			.state = (uint8_t)cases[i].state,
			.by = (uint8_t)cases[i].by,
			.file = (uint8_t)cases[i].file,
			.outside = cases[i].outside,
			.again = cases[i].again,
			.after = cases[i].after,
			.by_call = (uint8_t)cases[i].by_call,
		};
		const struct path_leaf leaf = path_ender_leaf(&e, &e);

		assert_int_equal(leaf.open, cases[i].by == PATH_BY_END);
		if (leaf.kind != cases[i].kind || leaf.detail != cases[i].detail)
			fail_msg("case %u: %s with detail %u", i, path_kinds[leaf.kind].name, leaf.detail);
	}
}

static struct reader_field field(const char *text)
{
	return (struct reader_field){ text, strlen(text) };
}

static void words_of_later_versions_are_not_known(void **state)
{
	assert_int_equal(path_by_of(field("?")), PATH_BY_UNKNOWN);
	assert_int_equal(path_by_of(field("-")), PATH_BY_UNKNOWN);
	assert_int_equal(path_by_of(field("threads")), PATH_BY_UNKNOWN);
	assert_int_equal(path_by_of(field("exit")), PATH_BY_EXIT);
	assert_int_equal(path_state_of(field("-")), PATH_ASLEEP);
	assert_int_equal(path_state_of(field("throttled")), PATH_QUOTA);
}

static void different_leaves_have_different_keys(void **state)
{
	const struct path_leaf leaves[] = {
		{ .kind = PATH_RUNQ },
		{ .kind = PATH_CPU, .process = 1 },
		{ .kind = PATH_CPU, .detail = 1 },
		{ .kind = PATH_CPU, .thread = true },
		{ .kind = PATH_CPU, .held = true },
		{ .kind = PATH_CPU, .inferred = true },
		{ .kind = PATH_CPU, .rank = true },
		{ .kind = PATH_CPU, .starting = true },
		{ .kind = PATH_CPU, .gil = true },
		{ .kind = PATH_CPU, .open = true },
		{ .kind = PATH_CPU, .role = PATH_WORKER },
		{ .kind = PATH_CPU, .role = PATH_CHILD },
		{ .kind = PATH_CPU },
	};
	const unsigned int n = sizeof(leaves) / sizeof(leaves[0]);

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(path_leaf_key(&leaves[i]), path_leaf_key(&leaves[j]));
	for (unsigned int i = 0; i < PATH_KINDS; i++)
		assert_true(path_kinds[i].name && path_kinds[i].phrase);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_wait_has_one_leaf),
		cmocka_unit_test(words_of_later_versions_are_not_known),
		cmocka_unit_test(different_leaves_have_different_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
