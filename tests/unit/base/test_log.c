/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int out[2];

static int into_a_pipe(void **state)
{
	unsetenv("JOURNAL_STREAM");
	log_set_level(LOG_LEVEL_INFO);
	if (pipe(out) < 0)
		return -1;
	log_to(out[1]);
	return 0;
}

static int close_pipe(void **state)
{
	close(out[0]);
	close(out[1]);
	return 0;
}

static void expect(const char *text)
{
	char got[256];
	ssize_t n = read(out[0], got, sizeof(got) - 1);

	assert_true(n > 0);
	got[n] = '\0';
	assert_string_equal(got, text);
}

static void controls_of_a_terminal_are_not_passed_on(void **state)
{
	log_warn("%s: bad", "\033[31m\a\tred\x7f");
	expect("dltraced: warning: ?[31m??red?: bad\n");
	log_warn("%s", "\xc2\x80\xc2\x9b"
		       "31m");
	expect("dltraced: warning: ????31m\n");
}

static void one_message_is_one_line(void **state)
{
	struct stat st;
	char stream[64];

	assert_int_equal(fstat(out[1], &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_err_r(-ENOENT, "%s", "a\n<0>forged");
	expect("<3>error: a?<0>forged: No such file or directory\n");
	/* a child of a service, whose messages go elsewhere */
	setenv("JOURNAL_STREAM", "8:1", 1);
	log_info("x");
	expect("dltraced: x\n");
}

static void utf8_is_passed_on_and_what_is_none_is_not(void **state)
{
	log_info("%s", "\xc2\xa0\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80 \xff \xc3");
	expect("dltraced: \xc2\xa0\xc3\xbc\xe6\x97\xa5\xf0\x9f\x98\x80 ? ?\n");
}

static void messages_of_libraries_are_plain_too(void **state)
{
	FILE *stream = log_stream();
	char name[1100];

	assert_non_null(stream);
	fprintf(stream, "%s: option '--\033[31m\t'\nTry \xc3\xbc\xff", "name");
	fputc(0, stream);
	fclose(stream);
	expect("name: option '--?[31m?'\nTry \xc3\xbc??");

	/* a character is never split */
	stream = log_stream();
	memset(name, 'a', sizeof(name));
	memcpy(name + 1022, "\xf0\x9f\x98\x80", 4);
	fwrite(name, 1, 1026, stream);
	fclose(stream);
	assert_int_equal(read(out[0], name, sizeof(name)), 1026);
	assert_memory_equal(name + 1022, "\xf0\x9f\x98\x80", 4);
}

static void errors_go_to_another_log_too_and_nothing_else_does(void **state)
{
	int log[2], place = log_where();

	assert_int_equal(pipe(log), 0);
	log_to(log[1]);
	log_errors_also(out[1], "ada: ");
	log_warn("a warning");
	log_err("no \n%s", "\033way");
	log_errors_also(-1, NULL);
	log_err("alone");
	log_to(place);
	expect("dltraced: ada: no ??way\n");
	close(log[0]);
	close(log[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(controls_of_a_terminal_are_not_passed_on, into_a_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(errors_go_to_another_log_too_and_nothing_else_does, into_a_pipe,
						close_pipe),
		cmocka_unit_test_setup_teardown(one_message_is_one_line, into_a_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(utf8_is_passed_on_and_what_is_none_is_not, into_a_pipe, close_pipe),
		cmocka_unit_test_setup_teardown(messages_of_libraries_are_plain_too, into_a_pipe, close_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
