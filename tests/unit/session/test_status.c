/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages about a running trace. */
#include "session/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/util.h"
#include "drain/drain.h"

/* MESSAGE gets the output of status_warn() for S. */
static void warned(struct status *s, char *message, size_t size)
{
	struct drain *d = calloc(1, sizeof(*d));
	FILE *out = tmpfile();

	log_to(fileno(out));
	atomic_store(&d->decode.same_dev, !s->same_dev_logged);
	status_warn(s, d, "/t", false);
	log_to(STDERR_FILENO);
	rewind(out);
	message[fread(message, 1, size - 1, out)] = '\0';
	fclose(out);
	free(d);
}

static void lose(struct status *s, enum loss why, uint64_t n)
{
	s->lost += n;
	s->lost_by[why] += n;
}

static void what_the_kernel_hides_is_not_lost(void **state)
{
	struct status s = { .same_dev_logged = true };
	char message[1024];

	lose(&s, LOSS_UNSEEN, 7);
	warned(&s, message, sizeof(message));
	assert_non_null(strstr(
		message, "7 events are so far not in the trace: the kernel did not report when they began or ended"));
	assert_null(strstr(message, "lost"));
	warned(&s, message, sizeof(message));
	assert_string_equal(message, "");
}

static void losses_have_their_reasons(void **state)
{
	struct status s = { .same_dev_logged = true };
	char message[1024];

	lose(&s, LOSS_UNSEEN, 7);
	lose(&s, LOSS_BUFFER, 2);
	warned(&s, message, sizeof(message));
	assert_non_null(strstr(message, "7 events are so far"));
	assert_non_null(
		strstr(message, "warning: 2 rows lost so far: the ring buffers were full (use a larger --buffer)\n"));
	assert_null(strstr(strstr(message, "2 rows lost"), "7"));
}

static void several_reasons_have_their_numbers(void **state)
{
	struct status s = { .same_dev_logged = true };
	char message[1024];

	lose(&s, LOSS_BUFFER, 2);
	lose(&s, LOSS_DISK, 30);
	warned(&s, message, sizeof(message));
	assert_non_null(strstr(
		message,
		"warning: 32 rows lost so far: the ring buffers were full (use a larger --buffer) [2]; "
		"the disk was full, refused them, or had less than --min-free left (put the trace on another disk) [30]\n"));
}

/* A trace of the service's config has keys there, and no options. */
static void another_folder_is_chosen_where_the_config_is(void **state)
{
	struct status by_hand = { .by_config = false }, by_config = { .by_config = true };
	char message[1024];

	warned(&by_hand, message, sizeof(message));
	assert_non_null(strstr(message, "(choose another one with -o DIR)"));
	warned(&by_config, message, sizeof(message));
	assert_non_null(strstr(message, "(choose another one with state = PATH in dltraced.conf)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_folder_is_chosen_where_the_config_is),
		cmocka_unit_test(losses_have_their_reasons),
		cmocka_unit_test(several_reasons_have_their_numbers),
		cmocka_unit_test(what_the_kernel_hides_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
