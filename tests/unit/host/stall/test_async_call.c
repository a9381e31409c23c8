/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/async_call.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "host/stall/folder_watch.h"
#include "host/stall/proxy.h"
#include "temp.h"

struct gate {
	int fds[2];
	uid_t files_of;
	int passed;
};

static void pass(void *ctx)
{
	struct gate *g = ctx;
	char c;

	g->files_of = (uid_t)setfsuid((uid_t)-1);
	g->passed += read(g->fds[0], &c, 1) == 1;
}

static void goes_on_while_it_is_done(void **state)
{
	struct async_call c = ASYNC_CALL_NONE;
	struct gate g = {};

	assert_int_equal(pipe(g.fds), 0);
	assert_true(async_call_wait(&c, -1)); /* there is none */
	assert_int_equal(async_call_busy_ns(&c), 0);
	assert_int_equal(async_call_begin(&c, pass, &g), 0);
	assert_false(async_call_wait(&c, 0));
	assert_false(async_call_wait(&c, 1));
	assert_true(async_call_busy_ns(&c) > 0);
	assert_int_equal(async_call_begin(&c, pass, &g), -EBUSY);
	assert_int_equal(write(g.fds[1], "x", 1), 1);
	assert_true(async_call_wait(&c, -1));
	assert_int_equal(g.passed, 1);
	assert_int_equal(async_call_busy_ns(&c), 0);
	async_call_free(&c);
	close(g.fds[0]);
	close(g.fds[1]);
}

static void is_done_as_often_as_it_is_begun(void **state)
{
	struct async_call c = ASYNC_CALL_NONE;
	struct gate g = {};

	assert_int_equal(pipe(g.fds), 0);
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(write(g.fds[1], "x", 1), 1);
		assert_int_equal(async_call_begin(&c, pass, &g), 0);
		assert_true(async_call_wait(&c, -1));
		assert_int_equal(g.passed, i);
	}
	async_call_free(&c);
	assert_int_equal(c.done_fd, -1);
	close(g.fds[0]);
	close(g.fds[1]);
}

static void reaches_files_with_the_rights_of_the_caller(void **state)
{
	struct async_call c = ASYNC_CALL_NONE;
	struct gate g = {};

	if (geteuid()) {
		print_message("not root\n");
		skip();
	}
	assert_int_equal(pipe(g.fds), 0);
	assert_int_equal(write(g.fds[1], "xx", 2), 2);
	setfsuid(12345);
	assert_int_equal(async_call_begin(&c, pass, &g), 0);
	setfsuid(0);
	assert_true(async_call_wait(&c, -1));
	assert_int_equal(g.files_of, 12345);
	assert_int_equal(async_call_begin(&c, pass, &g), 0);
	assert_true(async_call_wait(&c, -1));
	assert_int_equal(g.files_of, 0);
	async_call_free(&c);
	close(g.fds[0]);
	close(g.fds[1]);
}

static void looks_whether_a_folder_is_there(void **state)
{
	struct folder_watch l = FOLDER_WATCH_NONE;
	char path[TEMP_MAX];
	autoclose int fd = -1;

	assert_non_null(mkdtemp(temp_template(path, "lookout")));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(folder_watch_request(&l, fd, 0, -1));
	assert_false(l.gone);
	assert_int_equal(l.refused, 0);
	assert_false(l.space.low);
	assert_true(l.space.free_bytes > 0);
	assert_true(folder_watch_request(&l, fd, UINT64_MAX / 2, -1));
	assert_true(l.space.low);
	assert_int_equal(rmdir(path), 0);
	assert_true(folder_watch_request(&l, fd, 0, -1));
	assert_true(l.gone);
	assert_true(folder_watch_request(&l, -1, 0, -1)); /* counts as a server's error: the folder is not gone */
	assert_false(l.gone);
	assert_int_equal(l.refused, -EBADF);
	assert_false(folder_watch_hangs(&l));
	async_call_free(&l.call);
}

static void stands_in_front_of_servers_only(void **state)
{
	int code = -1;

	assert_true(proxy_is_remote(0x6969)); /* nfs */
	assert_true(proxy_is_remote(0x65735546)); /* fuse */
	assert_true(proxy_is_remote(0xff534d42)); /* cifs: the sign bit of an int */
	assert_false(proxy_is_remote(0xef53)); /* ext4 */
	assert_false(proxy_is_remote(0x01021994)); /* tmpfs */
	assert_false(proxy_stand("/proc/self/not/there/%e", &code));
	assert_int_equal(proxy_pid(), 0);
	assert_int_equal(proxy_gone_fd(), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goes_on_while_it_is_done),
		cmocka_unit_test(is_done_as_often_as_it_is_begun),
		cmocka_unit_test(reaches_files_with_the_rights_of_the_caller),
		cmocka_unit_test(looks_whether_a_folder_is_there),
		cmocka_unit_test(stands_in_front_of_servers_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
