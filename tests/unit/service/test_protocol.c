/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/util.h"
#include "session/start_options.h"

static void a_request_comes_back_unchanged(void **state)
{
	char *cmd[] = { "dltraced", "start", "--all", "--", "ls", "-l", NULL };
	char *env[] = { "RANK=3", "HOME=/root", "NCCL_DEBUG=", NULL };
	static char *argv[] = { "ls", "-l", "", NULL };
	static struct config cfg = {
		.argv = argv,
		.log = true,
		.experiment = "ls",
		.given = { { "probes", "open" }, { "all", NULL }, { "no-args", NULL }, { "experiment", "x" } },
		.n_given = 4,
	};
	struct service_request rq = {};
	autofree char *text = NULL;
	size_t len;

	assert_int_equal(service_request_pack(&cfg, cmd, env, "/work", &text, &len), 0);
	assert_int_equal(service_request_parse(&rq, text, len), 0);
	assert_int_equal(rq.n_options, 3);
	assert_string_equal(rq.options[0].name, "probes");
	assert_string_equal(rq.options[0].value, "open");
	assert_string_equal(rq.options[1].name, "no-args");
	assert_null(rq.options[1].value);
	assert_string_equal(rq.options[2].value, "ls");
	assert_string_equal(rq.cmdline[2], "--all"); /* the typed command, for the manifest; it is not a request */
	assert_string_equal(rq.argv[1], "-l");
	assert_string_equal(rq.argv[2], "");
	assert_null(rq.argv[3]);
	assert_string_equal(rq.environ[0], "RANK=3");
	assert_string_equal(rq.environ[1], "NCCL_DEBUG=");
	assert_null(rq.environ[2]);
	assert_string_equal(rq.cwd, "/work");
	assert_true(rq.log);
	service_request_free(&rq);
}

static void a_long_command_line_loses_its_end(void **state)
{
	static char big[40000], *words[] = { "a", big, big, NULL };
	static struct config cfg = { .argv = words, .experiment = "a" };
	struct service_request rq = {};
	autofree char *text = NULL;
	size_t len;

	memset(big, 'x', sizeof(big) - 1);
	assert_int_equal(service_request_pack(&cfg, words, NULL, "/", &text, &len), 0);
	assert_true(len <= SERVICE_REQUEST_MAX);
	assert_int_equal(service_request_parse(&rq, text, len), 0);
	assert_string_equal(rq.argv[0], "a");
	assert_null(rq.argv[1]);
	service_request_free(&rq);
}

static int parse(const char *text, size_t len)
{
	struct service_request rq = {};
	int r = service_request_parse(&rq, text, len);

	service_request_free(&rq);
	return r;
}

#define PARSE(text) parse(text, sizeof(text))

static void what_is_no_request_is_refused(void **state)
{
	char options[CONFIG_GIVEN_MAX * 6 + 64] = "dltraced 1";
	size_t len = sizeof("dltraced 1");

	assert_int_equal(PARSE(""), -EPROTO);
	assert_int_equal(PARSE("status"), -EPROTO);
	assert_int_equal(PARSE("dltraced 2\0opt=all"), -EPROTONOSUPPORT);
	assert_int_equal(PARSE("dltraced 1\0what"), -EPROTO);
	assert_int_equal(PARSE("dltraced 1\0\0"), -EPROTO);
	assert_int_equal(parse("dltraced 1\0cwd=/x", 16), -EPROTO); /* without its end */
	assert_int_equal(PARSE("dltraced 1"), 0);
	for (int i = 0; i <= CONFIG_GIVEN_MAX; i++, len += 6)
		memcpy(options + len, "opt=x", 6);
	assert_int_equal(parse(options, len), -EPROTO);
}

static void only_harmless_options_pass(void **state)
{
	static const char *const never[] = {
		"all",      "cgroup", "container", "user",       "output",      "collect", "archive",
		"workload", "pid",    "force",     "background", "drop-caches", "log",     "verbose",
	};

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		assert_false(service_option_allowed(never[i]));
	assert_true(service_option_allowed("probes"));
}

static void last_words_come_from_a_client_that_did_not_listen(void **state)
{
	char word[8];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(service_send(ends[1], "stop", 4, NULL, 0), 0);
	assert_int_equal(service_send(ends[0], "why", 3, NULL, 0), 0);
	close(ends[0]);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), NULL, 0, NULL), 3);
	assert_memory_equal(word, "why", 3);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), NULL, 0, NULL), -ECONNRESET);
	close(ends[1]);
}

static void descriptors_beyond_are_closed(void **state)
{
	int ends[2], fds[2], many[4], got[2], before = dup(0), after;
	unsigned int n;
	char word[8];

	close(before);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	for (int i = 0; i < 4; i++)
		many[i] = fds[0];
	assert_int_equal(service_send(ends[0], "two", 3, many, 2), 0);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), got, 2, &n), 3);
	assert_int_equal(n, 2);
	close(got[0]);
	close(got[1]);
	assert_int_equal(service_send(ends[0], "four", 4, many, 4), 0);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), got, 2, &n), -E2BIG);
	assert_int_equal(n, 2);
	close(got[0]);
	close(got[1]);
	assert_int_equal(service_send(ends[0], "none wanted", 11, many, 1), 0);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), NULL, 0, NULL), -EMSGSIZE);
	close(ends[0]);
	assert_int_equal(service_recv(ends[1], word, sizeof(word), NULL, 0, NULL), -ECONNRESET);
	close(ends[1]);
	close(fds[0]);
	close(fds[1]);
	after = dup(0);
	assert_int_equal(after, before);
	close(after);
}

/* Leaves of *TEXT what is between FIRST and LAST. */
static void list(char **text, const char *first, const char *last)
{
	char *begin = strstr(*text, first), *end = begin ? strstr(begin, last) : NULL;

	assert_non_null(end);
	*end = '\0';
	memmove(*text, begin, (size_t)(end - begin) + 1);
}

/* What neither the service nor its client handles, docs/service.md and the manual page list as root's. */
static void the_docs_list_every_option_for_root(void **state)
{
	autofree char *service = NULL, *manual = NULL;
	size_t len;

	assert_int_equal(util_read_file("docs/service.md", 1 << 20, &service, &len), 0);
	assert_int_equal(util_read_file("docs/dltraced.8", 1 << 20, &manual, &len), 0);
	list(&service, "The service refuses what only root may do", "The client itself");
	list(&manual, ".Fl -all , -cgroup , -container", "are for root");
	for (const struct option_row *o = start_options; o->name || o->help; o++) {
		char name[64];

		if (!o->name || o->flags & (START_BY_SERVICE | START_BY_USER))
			continue;
		snprintf(name, sizeof(name), "`--%s`", o->name);
		assert_true(strstr(service, name));
		snprintf(name, sizeof(name), "-%s", o->name);
		assert_true(strstr(manual, name));
	}
}

static void the_end_of_a_workload_comes_back_unchanged(void **state)
{
	const uint64_t usage[USAGES] = { 0, 1, UINT64_MAX, 3, 4, 5, 6, 7 };
	struct service_end end;
	char word[SERVICE_WORD_MAX];

	service_end_put(word, 1792, 12, usage);
	assert_true(service_end_parse(&end, word));
	assert_int_equal(end.status, 1792);
	assert_int_equal(end.lost, 12);
	assert_true(end.has_usage);
	assert_memory_equal(end.usage, usage, sizeof(usage));
}

static void the_end_of_a_workload_may_lack_what_it_used(void **state)
{
	struct service_end end;

	assert_true(service_end_parse(&end, "exit 9 3"));
	assert_int_equal(end.status, 9);
	assert_int_equal(end.lost, 3);
	assert_false(end.has_usage);
	assert_true(service_end_parse(&end, "exit 9"));
	assert_true(service_end_parse(&end, "exit 9 3 1 2 3 4 5 6"));
	assert_false(end.has_usage);
	assert_true(service_end_parse(&end, "exit 9 3 1 2 x"));
	assert_false(end.has_usage);
	assert_false(service_end_parse(&end, "exit"));
	assert_false(service_end_parse(&end, "stop"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_comes_back_unchanged),
		cmocka_unit_test(a_long_command_line_loses_its_end),
		cmocka_unit_test(what_is_no_request_is_refused),
		cmocka_unit_test(only_harmless_options_pass),
		cmocka_unit_test(last_words_come_from_a_client_that_did_not_listen),
		cmocka_unit_test(descriptors_beyond_are_closed),
		cmocka_unit_test(the_docs_list_every_option_for_root),
		cmocka_unit_test(the_end_of_a_workload_comes_back_unchanged),
		cmocka_unit_test(the_end_of_a_workload_may_lack_what_it_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
