/* SPDX-License-Identifier: BSD-2-Clause */
/* How report/show prints a path: see trace.h. */
#include "report/show/json.h"
#include "report/show/show.h"

#include "base/json.h"
#include "report/show/tables/tables.h"
#include "report/show/text.h"
#include "../path/trace.h"

/* Ten files of 60 ms each are read ahead by a loader for whose batches the trainer waits for 10 ms each. */
static struct report *loaded(void)
{
	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	put_process(20, 10, "loader", 0, 1000 * MS);
	for (uint64_t at = 0; at < 1000 * MS; at += 100 * MS) {
		put_wait(.pid = 20, .from = at + 40 * MS, .to = at + 100 * MS, .call = "pread64", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x\\0407.bin");
		put_wait(.pid = 10, .from = at + 90 * MS, .to = at + 100 * MS, .by = "thread", .by_pid = 20);
	}
	return path_loaded();
}

static char *text_of(const struct report *r, unsigned int width)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	path_text(r, width, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void text_has_the_parts_and_the_pace(void **state)
{
	struct report *r = loaded();
	autofree char *text = text_of(r, 0);

	assert_string_equal(text, "where the job's 1.00 s went (as its first process saw it; adds up to 100 %):\n"
				  " 90.0 %   on a CPU (python)\n"
				  " 10.0 %   reading from disk: x #.bin (loader, a worker)\n"
				  "what sets the pace: 60.0 % reading from disk: x #.bin (loader, a worker)\n\n");
	report_free(r);
}

static void the_screen_breaks_lines(void **state)
{
	struct report *r = loaded();
	autofree char *text = text_of(r, 40);
	unsigned int lines = 0;

	for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++)
		assert_true(strlen(line) <= 40);
	assert_in_range(lines, 6, 10);
	report_free(r);
}

/* So many parts have one line together. */
static void many_parts_have_eight_lines(void **state)
{
	static const char *const calls[] = {
		"read", "openat", "fsync", "write", "fault", "nanosleep", "futex", "poll"
	};
	autofree char *text = NULL;
	unsigned int lines = 0;
	struct report *r;

	put_workload(10, 1000 * MS);
	put_root(10, "python", 1000 * MS);
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		put_wait(.pid = 10, .from = (100 * i + 10) * MS, .to = (100 * i + 90 - i) * MS, .call = calls[i],
			 .by = i < 5 ? "disk" : "timer");
	r = path_loaded();
	text = text_of(r, 0);
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	assert_non_null(strstr(text, " 29.8 %   other\n"));
	assert_int_equal(lines, 8); /* an empty one, and none about the pace */
	report_free(r);
}

static char *json_of(const struct report *r)
{
	struct json j = { .flat = true };

	json_object(&j, NULL);
	report_path_json(r, &j);
	json_end(&j);
	return json_text(&j);
}

static void json_has_the_parts(void **state)
{
	struct report *r = loaded();
	autofree char *text = json_of(r);

	assert_non_null(strstr(text, "\"root\": 10,\"begin_ns\": 1000000000000,\"end_ns\": 1001000000000,"
				     "\"wall_ns\": 1000000000"));
	assert_non_null(strstr(
		text,
		"{\"kind\": \"disk-read\",\"what\": \"reading from disk\",\"who\": \"loader\",\"detail\": \"x\\\\040#.bin\","
		"\"ns\": 100000000,\"chain_ns\": 600000000,\"role\": \"worker\",\"doing\": null,\"starting\": false,\"rank\": false,\"gil\": false,\"held\": false,\"inferred\": false"));
	report_free(r);
}

static void json_has_what_the_edges_add_up_to(void **state)
{
	struct report *r = loaded();
	autofree char *text = json_of(r);

	assert_non_null(strstr(text, "\"edges\": {\"waits\": 20,\"wait_ns\": 700000000,\"path_ns\": 200000000}"));
	report_free(r);
}

static char *edges_of(const struct report *r, bool json)
{
	struct json j = { .flat = true };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	if (!json)
		view_text(&view_path_edges, r, out);
	assert_int_equal(fclose(out), 0);
	if (!json)
		return text;
	free(text);
	json_object(&j, NULL);
	view_json(&view_path_nodes, r, 0, &j);
	view_json(&view_path_edges, r, 0, &j);
	json_end(&j);
	return json_text(&j);
}

static void a_table_lists_waits_between_nodes(void **state)
{
	struct report *r = loaded();
	autofree char *text = edges_of(r, false);
	const char *heads = strstr(text, "\nWAITER");

	assert_non_null(heads);
	assert_string_equal(
		heads + 1,
		"WAITER                           WAITED FOR                       KIND           WAITS  ON PATH   IN ALL\n"
		"loader (a worker)                storage                          read              10   100 ms   600 ms\n"
		"python (the first process)       loader (a worker)                call              10   100 ms   100 ms\n");
	report_free(r);
}

/* A name with markup, quotes, escapes, and of more bytes than there is room for. */
static void hostile_names_of_nodes_stay_text(void **state)
{
	char *long_name = calloc(1, 1000), *peer = NULL;
	autofree char *json = NULL, *text = NULL;
	struct report *r;

	for (unsigned int i = 0; i < 240; i++)
		strcat(long_name, "\\011");
	peer = util_fmt("\"><script>%s", long_name);
	put_workload(10, 1000 * MS);
	put_root(10, "</script>\\033[2J\\042", 1000 * MS);
	put_wait(.pid = 10, .from = 0, .to = 100 * MS, .call = "recvfrom", .by = "net", .peer = peer);
	r = path_loaded();
	json = edges_of(r, true);
	text = edges_of(r, false);
	assert_non_null(strstr(json, "\"label\": \"</script>\\\\033[2J\\\\042 (the first process)\""));
	assert_non_null(strstr(json, "\"label\": \"\\\"><script>\\\\011"));
	assert_non_null(strstr(json, " (peer)\",\"role\": null"));
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\t'));
	report_free(r);
	free(long_name);
	free(peer);
}

static void without_waits_there_is_no_section(void **state)
{
	autofree char *text = NULL, *json = NULL;
	struct report *r;

	put_root(10, "python", 1000 * MS);
	r = path_loaded_with(&(struct report_options){ .timed = false });
	text = text_of(r, 0);
	json = json_of(r);
	assert_string_equal(text, "");
	assert_string_equal(json, "{\"path\": null}");
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(text_has_the_parts_and_the_pace),   IN_TREE(the_screen_breaks_lines),
		IN_TREE(many_parts_have_eight_lines),       IN_TREE(json_has_the_parts),
		IN_TREE(json_has_what_the_edges_add_up_to), IN_TREE(a_table_lists_waits_between_nodes),
		IN_TREE(hostile_names_of_nodes_stay_text),  IN_TREE(without_waits_there_is_no_section),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
