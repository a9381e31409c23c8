/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/control.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "control/client.h"
#include "os/loop.h"
#include "temp.h"

static struct loop loop;
static struct control control;
static unsigned int stayed, left;
static char folder[TEMP_MAX];

/* "big N": N bytes; "stay": the connection stays open; everything else is an error. */
static int serve(void *ctx, const struct control_request *rq, FILE *out)
{
	if (!strcmp(rq->verb, "big")) {
		for (long n = atol(rq->text); n > 0; n--)
			fputc('a' + (int)(n % 26), out);
		return 0;
	}
	if (!strcmp(rq->verb, "stay")) {
		stayed = rq->client;
		fputs("hello\n", out);
		return CONTROL_STAYS;
	}
	fputs("what?\n", out);
	return -EINVAL;
}

static void gone(void *ctx, unsigned int client)
{
	left += client == stayed;
}

static int set_up(void **state)
{
	if (geteuid() && setenv("XDG_RUNTIME_DIR", folder, 1) < 0)
		return -1;
	left = 0;
	if (loop_init(&loop) < 0)
		return -1;
	return control_open(&control, &loop, geteuid(), "/nowhere", serve, gone, NULL);
}

static int tear_down(void **state)
{
	control_close(&control);
	loop_free(&loop);
	return 0;
}

/* Runs FN as a client, in a process of its own since both ends wait; the status is what FN returns. */
static int client(int (*fn)(const struct trace *t))
{
	struct trace t = {};
	int status = -1;
	pid_t pid;

	strcpy(t.socket, control.path);
	pid = fork();
	if (!pid)
		_exit(fn(&t));
	while (waitpid(pid, &status, WNOHANG) == 0)
		loop_once(&loop, 10);
	return status;
}

#define BIG (9 * 1000 * 1000)

static int big_request(const struct trace *t)
{
	autofree char *answer = NULL;

	if (trace_request(t, "big", "9000000", &answer) || strlen(answer) != BIG)
		return 1;
	for (long i = 0; i < BIG; i++)
		if (answer[i] != 'a' + (BIG - i) % 26)
			return 2;
	return 0;
}

static void an_answer_may_be_larger_than_a_packet(void **state)
{
	assert_int_equal(client(big_request), 0);
}

static int wrong_request(const struct trace *t)
{
	autofree char *answer = NULL;

	return trace_request(t, "nonsense", "big", &answer) != -EPROTO || !answer || strcmp(answer, "what?\n");
}

static void an_error_comes_with_its_reason(void **state)
{
	assert_int_equal(client(wrong_request), 0);
}

/*
 * More clients than there are places connect and send nothing, or send a request and do not read; then one sends a
 * request.
 */
static int request_beside_silent_clients(const struct trace *t)
{
	autofree char *answer = NULL;
	int r;

	for (int i = 0; i < 3 * CONTROL_CLIENTS_MAX; i++) {
		r = trace_connect(t, i % 2 ? "big" : "", "5000000");
		if (r < 0)
			return 1;
	}
	return trace_request(t, "big", "5", &answer) || strlen(answer) != 5;
}

static void silent_ones_keep_nobody_out(void **state)
{
	assert_int_equal(client(request_beside_silent_clients), 0);
}

/* Waits until the server has noticed that N have left. */
static void await_left(unsigned int n)
{
	for (int i = 0; i < 3000 && left < n; i++)
		loop_once(&loop, 10);
	assert_int_equal(left, n);
}

static int say(int fd, char *buf, size_t size)
{
	ssize_t n;

	for (int i = 0; i < 3000; i++) {
		loop_once(&loop, 1);
		n = recv(fd, buf, size - 1, MSG_DONTWAIT);
		if (n >= 0) {
			buf[n] = '\0';
			return (int)n;
		}
	}
	return -1;
}

static void one_that_stays_hears_more(void **state)
{
	struct trace t = {};
	char buf[CONTROL_PACKET_MAX + 1], *much;
	int fd, r = 0;
	size_t got = 0, sent = 0;

	strcpy(t.socket, control.path);
	fd = trace_connect(&t, "stay", NULL);
	assert_true(fd >= 0);
	assert_true(say(fd, buf, sizeof(buf)) > 0);
	assert_string_equal(buf, "ok\nhello\n");
	assert_int_equal(control_push(&control, stayed, "more", 4), 0);
	assert_int_equal(say(fd, buf, sizeof(buf)), 4);
	assert_string_equal(buf, "more");

	/* the data that it does not read is limited, and arrives complete */
	much = calloc(1, 1000000);
	for (int i = 0; i < 100 && !r; i++) {
		r = control_push(&control, stayed, much, 1000000);
		sent += r ? 0 : 1000000;
	}
	free(much);
	assert_int_equal(r, -EAGAIN);
	while (got < sent && (r = say(fd, buf, sizeof(buf))) > 0)
		got += (size_t)r;
	assert_int_equal(got, sent);
	assert_int_equal(control_push(&control, stayed, "again", 5), 0);
	assert_int_equal(say(fd, buf, sizeof(buf)), 5);

	/* also after it has received everything */
	control_dismiss(&control, stayed);
	assert_int_equal(say(fd, buf, sizeof(buf)), 0);
	close(fd);
	assert_int_equal(left, 0);
	assert_int_equal(control_push(&control, stayed, "x", 1), -ENOTCONN);
}

static void one_that_leaves_is_noticed(void **state)
{
	struct trace t = {};
	char buf[64];
	int fd;

	strcpy(t.socket, control.path);
	fd = trace_connect(&t, "stay", NULL);
	assert_true(say(fd, buf, sizeof(buf)) > 0);
	close(fd);
	await_left(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_answer_may_be_larger_than_a_packet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_error_comes_with_its_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(silent_ones_keep_nobody_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_stays_hears_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_leaves_is_noticed, set_up, tear_down),
	};
	char path[TEMP_MAX + 16];
	int failed;

	if (!mkdtemp(temp_template(folder, "control")))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(path, sizeof(path), "%s/dltraced", folder);
	rmdir(path);
	rmdir(folder);
	return failed;
}
