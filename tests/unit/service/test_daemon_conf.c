/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/daemon_impl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/file.h>

#include "tree.h"

static char messages[4096];

/* Reads TEXT as the config; its message goes to SAID. */
static int read_text(struct daemon_conf *c, const char *text)
{
	autofree char *path = tree_path("c.conf");
	FILE *f = fopen(path, "we"), *out = tmpfile();
	int r;

	assert_true(fputs(text, f) >= 0 && !fclose(f));
	log_to(fileno(out));
	r = daemon_conf_read(c, path, false);
	log_to(STDERR_FILENO);
	rewind(out);
	messages[fread(messages, 1, sizeof(messages) - 1, out)] = '\0';
	fclose(out);
	return r;
}

static void missing_keys_have_a_default(void **state)
{
	struct daemon_conf c;

	assert_int_equal(read_text(&c, "# nothing\n[service]\n"), 0);
	assert_string_equal(c.socket, "/run/dltraced/dltraced.sock");
	assert_string_equal(c.group, "dltraced");
	assert_true(c.users);
	assert_int_equal(c.max_traces_per_user, 4);
	assert_int_equal(c.max_buffer_bytes, 256 << 20);
	assert_int_equal(c.n_traces, 0);
	daemon_conf_free(&c);
}

static void a_trace_has_the_options_of_start(void **state)
{
	struct daemon_conf c;

	assert_int_equal(read_text(&c, "[service]\nkeep-bytes = 1G\nkeep-time = 2d\n[trace node]\nall = yes\n"
				       "probes = open,sync\nrotate=64M ; as it is\nno-args = no\ncomm = a*\ncomm = b\n"
				       "[trace off]\nenabled = no\n"),
			 0);
	assert_int_equal(c.keep_bytes, 1 << 30);
	assert_int_equal(c.keep_ns, 2 * 24 * 3600 * NSEC_PER_SEC);
	assert_int_equal(c.n_traces, 2);
	assert_string_equal(c.traces[0].name, "node");
	assert_int_equal(c.traces[0].n_words, 5);
	assert_string_equal(c.traces[0].words[0], "--all");
	assert_string_equal(c.traces[0].words[1], "--probes=open,sync");
	assert_string_equal(c.traces[0].words[2], "--rotate=64M");
	assert_string_equal(c.traces[0].words[4], "--comm=b");
	assert_false(c.traces[1].enabled);
	daemon_conf_free(&c);
}

static void the_last_word_counts(void **state)
{
	autofree char *a = tree_path("conf.d/10.conf"), *b = tree_path("conf.d/20.conf");
	autofree char *no = tree_path("conf.d/30.bak");
	struct daemon_conf c;
	FILE *f;

	assert_true((f = fopen(b, "we")) && fputs("[trace t]\nprobes = sync\n[service]\nusers = no\n", f) >= 0 &&
		    !fclose(f));
	assert_true((f = fopen(a, "we")) && fputs("[trace t]\nprobes = open\nall=yes\n", f) >= 0 && !fclose(f));
	assert_true((f = fopen(no, "we")) && fputs("nonsense", f) >= 0 && !fclose(f));
	assert_int_equal(read_text(&c, "[service]\nusers = yes\n"), 0);
	assert_false(c.users);
	assert_int_equal(c.traces[0].n_words, 2);
	assert_string_equal(c.traces[0].words[1], "--probes=sync");
	daemon_conf_free(&c);
	unlink(a);
	unlink(b);
	unlink(no);
}

static void all_mistakes_are_reported_at_once(void **state)
{
	static const char *const wanted[] = {
		"c.conf:2: neither [section] nor key = value",
		"c.conf:3: users = maybe",
		"c.conf:4: neither",
		"c.conf:5: [sevrice]",
		"c.conf:7: probes = opne",
		"c.conf:10: [trace b] names nothing to trace",
		"c.conf:12: [trace c] --keep sums writes no rows",
		"c.conf:16: [trace d] --keep is less than --rotate",
		"c.conf:20: [trace e] names nothing to trace",
	};
	struct daemon_conf c;
	unsigned int lines = 0;

	assert_int_equal(
		read_text(
			&c,
			"[service]\nnothing\nusers = maybe\n[unfinished\n[sevrice]\n[trace a]\nprobes = opne\n"
			"enabled = yes\n\n[trace b]\nprobes = open\n[trace c]\nall = yes\nkeep = sums\nrotate = 1h\n"
			"[trace d]\nall = yes\nkeep = 1M\nrotate = 2M\n[trace e]\ncomm = x\n[trace f]\ncomm = x\nall = yes\n"),
		-EINVAL);
	for (const char *p = messages; *p; p++)
		lines += *p == '\n';
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!strstr(messages, wanted[i]))
			fail_msg("not said: %s\nbut: %s", wanted[i], messages);
	assert_int_equal(lines, ARRAY_SIZE(wanted));
}

static void each_mistake_has_its_line(void **state)
{
	static const struct {
		const char *text, *messages;
	} cases[] = {
		{ "[service]\n\ncolour = red\n", "c.conf:3: no such key in [service]: 'colour'" },
		{ "[service]\nmax-trace = 3\n",
		  "no such key in [service]: 'max-trace': did you mean max-traces? (man" },
		{ "[trace t]\nall = yes\nprobs = open\n",
		  "no such key in [trace t]: 'probs': did you mean probes? (man" },
		{ "[service]\nusers = maybe\n", "c.conf:2: users = maybe: not yes or no" },
		{ "[service]\nmax-traces = 33\n", "c.conf:2: max-traces = 33: not a number from 1 to 32" },
		{ "[service]\nkeep-bytes = much\n", "c.conf:2: keep-bytes = much: not a size" },
		{ "[service]\nsocket = here\n", "c.conf:2: socket = here: not an absolute path" },
		{ "[other]\na = b\n", "c.conf:1: [other]: a section is [service] or [trace NAME]" },
		{ "a = b\n", "c.conf:1: a line before the first section" },
		{ "[service]\nwhat is this\n", "c.conf:2: neither [section] nor key = value" },
		{ "[trace a/b]\nall = yes\n", "c.conf:1: [trace a/b]: a name has" },
		{ "[trace t]\nall = yes\nrotate = 3\n", "c.conf:3: rotate = 3: not a size (64M, 1G) nor a time" },
		{ "[trace t]\nall = yes\noutput = /x\n", "c.conf:3: no such key in [trace t]: 'output'" },
		{ "[trace t]\nall = yes\nexclude-comm = x\n", "c.conf:3: exclude-comm is gone: use comm=!GLOB" },
		{ "[trace t]\nall = yes\nsched = off\n", "c.conf:3: sched is gone: use probes=-sched" },
		{ "[trace t]\nprobes = open\n", "[trace t] names nothing to trace" },
		{ "[trace t]\nall = no\n", "[trace t] names nothing to trace" },
		{ "[trace t]\n", "[trace t] names nothing to trace" },
		{ "\xef\xbb\xbf[trace t]", "[trace t] names nothing to trace" },
		{ "[service]\n[trace t] ; later\n# all = yes\n", "[trace t] names nothing to trace" },
		{ "[trace]\n", "c.conf:1: [trace]: a section is" },
		{ "[service]\n\n[sevrice]\n[trace t]\nall = yes\n", "c.conf:3: [sevrice]: a section is" },
		{ "[trace abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz]\nall = yes\n",
		  "c.conf:1: a section's name of more than 49 bytes" },
	};
	char text[512] = "[service]\nstate = /", *end = text + strlen(text);
	struct daemon_conf c;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(read_text(&c, cases[i].text), -EINVAL);
		if (!strstr(messages, cases[i].messages))
			fail_msg("%s\nsays: %s\nnot: %s", cases[i].text, messages, cases[i].messages);
	}
	memset(end, 'x', 300);
	strcpy(end + 300, "\n");
	assert_int_equal(read_text(&c, text), -EINVAL);
	assert_non_null(strstr(messages, "c.conf:2: longer than"));
	assert_int_equal(read_text(&c, "[service]\na = 1\nb = 2\n"), -EINVAL);
	assert_non_null(strstr(messages, "c.conf:2:"));
	assert_non_null(strstr(messages, "c.conf:3:"));
}

/* --- existing traces ----------------------------------------------------------------------------------- */

static char gone[512];

static void note(const char *path, uint64_t bytes, int error)
{
	assert_int_equal(error, 0);
	assert_true(bytes >= 4096);
	strcat(strcat(gone, path), " ");
}

/* STATE/NAME with a manifest that was changed AGE_S seconds ago. */
static void make_trace(const char *name, int age_s)
{
	autofree char *manifest = util_fmt("state/%s/manifest.json", name),
		      *more = util_fmt("state/%s/sub/f.out", name);
	autofree char *path = tree_path(manifest), *other = tree_path(more);
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - age_s } };
	FILE *f;

	assert_true((f = fopen(path, "we")) && fprintf(f, "%4096s", "x") > 0 && !fclose(f));
	assert_true((f = fopen(other, "we")) && fprintf(f, "%4096s", "x") > 0 && !fclose(f));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_oldest_traces_go_first(void **state)
{
	autofree char *top = tree_path("state"), *left = tree_path("state/a/1/manifest.json");
	autofree char *link = tree_path("state/a/3/sub/link"), *outside = tree_path("outside");
	uint64_t now_ns = clock_now_ns(CLOCK_REALTIME);
	FILE *f;

	make_trace("a/1", 300);
	make_trace("a/2", 100);
	make_trace("a/3", 400);
	make_trace("b/1", 200);
	assert_true((f = fopen(outside, "we")) && !fclose(f));
	assert_int_equal(symlink(outside, link), 0);
	*gone = '\0';
	assert_int_equal(prune_traces(top, 0, 350 * NSEC_PER_SEC, now_ns, note), 1);
	assert_string_equal(gone, "a/3 ");
	assert_int_equal(access(outside, F_OK), 0);
	*gone = '\0';
	assert_int_equal(prune_traces(top, 0, 0, now_ns, note), 0);
	assert_int_equal(prune_traces(top, 1, 0, now_ns, note), 3);
	assert_string_equal(gone, "a/1 b/1 a/2 ");
	assert_int_equal(access(left, F_OK), -1);
}

static void one_that_runs_stays(void **state)
{
	autofree char *top = tree_path("state"), *path = tree_path("state/c/1");
	int fd;

	make_trace("c/1", 100);
	make_trace("c/2", 50);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	*gone = '\0';
	assert_int_equal(prune_traces(top, 1, NSEC_PER_SEC, clock_now_ns(CLOCK_REALTIME), note), 1);
	assert_string_equal(gone, "c/2 ");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_keys_have_a_default), cmocka_unit_test(a_trace_has_the_options_of_start),
		cmocka_unit_test(the_last_word_counts),        cmocka_unit_test(all_mistakes_are_reported_at_once),
		cmocka_unit_test(each_mistake_has_its_line),   cmocka_unit_test(the_oldest_traces_go_first),
		cmocka_unit_test(one_that_runs_stays),
	};

	return cmocka_run_group_tests(tests, tree_make, tree_remove);
}
