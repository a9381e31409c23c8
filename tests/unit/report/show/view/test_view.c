/* SPDX-License-Identifier: BSD-2-Clause */
/* One table with all kinds of columns, in each form of a view, compared with texts here. */
#include "report/show/view/view.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/util.h"
#include "stats/table.h"
#include "tree.h"

struct animal {
	uint64_t pid, legs, ns, bytes;
	uint32_t n_young;
	bool tame;
	double share;
	char name[24];
	const char *sound; /* NULL: none */
	uint64_t young[2];
};

struct zoo {
	struct animal animal[3];
	unsigned int n;
	uint64_t all;
};

static const struct zoo zoo = {
	.animal = {
		{ 1, 4, 1500, 2048, 2, true, 0.25, "cat", "me\\040ow", { 10, 11 } },
		{ 2, 0, 0, 0, 0, false, NAN, "=ee\\011l", NULL, { 0 } },
		{ 3, 6, 2000000000, 7, 1, false, 1, "ant", "", { 12 } },
	},
	.n = 3, .all = 5,
};

VIEW_ROWS_OF(young, struct zoo, z, struct animal, a)
{
	for (uint32_t i = 0; i < a->n_young; i++)
		view_add(rows, &a->young[i]);
}

VIEW_GET(twice, struct zoo, z, struct animal, a)
{
	cell->n = 2 * a->legs;
	if (!a->legs)
		strcpy(cell->shown, "none");
}

static const struct view_column young_columns[] = {
	{ "id", "ID", VIEW_ID, 4, .as = VIEW_AS_U64, .at = 0 },
	{ 0 },
};
static const struct view animals;
static const struct view young_view = {
	.key = "young", .title = "Young", .columns = young_columns, .rows = young, .parent = &animals
};

static const struct view_column columns[] = {
	{ "pid", "PID", VIEW_ID, 5, 0, VIEW_AT(struct animal, pid) },
	{ "name", "NAME", VIEW_TEXT, 6, VIEW_KEY, VIEW_AT(struct animal, name) },
	{ "legs", "LEGS", VIEW_COUNT, 6, VIEW_DASH | VIEW_SUM, VIEW_AT(struct animal, legs) },
	{ "sound", "SOUND", VIEW_TEXT, 0, 0, VIEW_AT(struct animal, sound) },
	{ NULL, "TWICE", VIEW_COUNT, 6, .get = twice },
	{ "life_ns", "LIFE", VIEW_NS, 8, VIEW_SUM, VIEW_AT(struct animal, ns), .what = "how long it lived" },
	{ "bytes", "BYTES", VIEW_BYTES, 9, 0, VIEW_AT(struct animal, bytes) },
	{ "share", "SHARE", VIEW_SHARE, 8, 0, VIEW_AT(struct animal, share) },
	{ "tame", NULL, VIEW_FLAG, 0, 0, VIEW_AT(struct animal, tame) },
	{ "young", NULL, VIEW_ROWS, .list = &young_view },
	{ 0 },
};
#define ANIMALS .columns = columns, VIEW_ARRAY(struct zoo, animal, n)

static const struct view animals = {
	.key = "animals",
	.title = "Animals",
	.note = "of a zoo",
	ANIMALS,
	VIEW_TOTAL(struct zoo, all),
	.total = "n_animals",
	.left_out = "animals_left_out",
	.most = 2,
	.least = 1,
};

static uint64_t add(void *sum, const void *row)
{
	((struct animal *)sum)->legs += ((const struct animal *)row)->legs;
	((struct animal *)sum)->ns += ((const struct animal *)row)->ns;
	return 1;
}

static bool has_legs(const void *of, const void *row)
{
	return ((const struct animal *)row)->legs > 4;
}

static void name(const void *of, uint64_t n, char *buf, size_t size)
{
	snprintf(buf, size, "%u others", (unsigned int)n);
}

static const struct view_rest others = {
	.key = "others",
	.size = sizeof(struct animal),
	.add = add,
	.is_shown = has_legs,
	.is_kept = has_legs,
	.name = name,
};
static const struct view many = { .key = "many", .title = "Many", ANIMALS, .rest = &others, .most = 1, .least = 1 };

static const char *part(const void *row)
{
	return ((const struct animal *)row)->legs ? NULL : "legless";
}

static const struct view_column part_columns[] = {
	{ "pid", "PID", VIEW_ID, 5, 0, VIEW_AT(struct animal, pid) },
	{ "bytes", "BYTES", VIEW_BYTES, 9, VIEW_PART, VIEW_AT(struct animal, bytes) },
	{ 0 },
};
static const struct view parts = {
	.key = "parts",
	.title = "Parts",
	.columns = part_columns,
	VIEW_ARRAY(struct zoo, animal, n),
	.part = part,
};

static void is_text(const struct view *v, const char *want)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	view_text(v, &zoo, out);
	fclose(out);
	assert_string_equal(text, want);
}

/* Compares without blanks and line ends. */
static void is_json(const struct view *v, unsigned int thin, const char *want)
{
	struct json j = { 0 };
	char text[2048], *to = text;

	json_object(&j, NULL);
	view_json(v, &zoo, thin, &j);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	for (size_t i = 0; i < j.len; i++)
		if (j.buf[i] != ' ' && j.buf[i] != '\n')
			*to++ = j.buf[i];
	*to = '\0';
	assert_string_equal(text, want);
	json_free(&j);
}

static void is_csv(const struct view *v, const char *file, const char *want)
{
	autoclose int fd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autofree char *text = NULL;

	assert_int_equal(view_csv(v, &zoo, fd), 0);
	text = tree_get(file);
	assert_string_equal(text, want);
}

static void text_has_the_free_column_last(void **state)
{
	is_text(&animals, "\nAnimals (of a zoo)\n"
			  "  PID  NAME     LEGS  TWICE     LIFE     BYTES    SHARE  SOUND\n"
			  "    1  cat         4      8  1.50 us  2.00 KiB   25.0 %  me ow\n"
			  "    2  =ee\\011l      -   none     0 ns       0 B        -  -\n"
			  "    3  ant         6     12   2.00 s       7 B  100.0 %  -\n"
			  "and 2 more\n");
}

static void text_sums_up_what_has_no_line(void **state)
{
	is_text(&many, "\nMany\n"
		       "  PID  NAME     LEGS  TWICE     LIFE     BYTES    SHARE  SOUND\n"
		       "    3  ant         6     12   2.00 s       7 B  100.0 %  -\n"
		       "                   4         1.50 us                     2 others\n");
}

static void text_of_a_list_begins_with_its_row(void **state)
{
	is_text(&young_view, "\nYoung\nNAME     ID\ncat      10\ncat      11\nant      12\n");
}

#define CAT                                                                                                                              \
	"{\"pid\":1,\"name\":\"cat\",\"legs\":4,\"sound\":\"me\\\\040ow\",\"life_ns\":1500,\"bytes\":2048,\"share\":0.25,\"tame\":true," \
	"\"young\":[{\"id\":10},{\"id\":11}]}"
#define EEL \
	"{\"pid\":2,\"name\":\"=ee\\\\011l\",\"legs\":0,\"sound\":null,\"life_ns\":0,\"bytes\":0,\"share\":null,\"tame\":false,\"young\":[]}"
#define ANT                                                                                                                    \
	"{\"pid\":3,\"name\":\"ant\",\"legs\":6,\"sound\":null,\"life_ns\":2000000000,\"bytes\":7,\"share\":1,\"tame\":false," \
	"\"young\":[{\"id\":12}]}"

static void json_has_keys_lists_and_how_many_there_are(void **state)
{
	is_json(&animals, 0, "{\"n_animals\":5,\"animals\":[" CAT "," EEL "],\"animals_left_out\":3}");
	is_json(&animals, 1, "{\"n_animals\":5,\"animals\":[" CAT "],\"animals_left_out\":4}");
	is_json(&animals, 8, "{\"n_animals\":5,\"animals\":[" CAT "],\"animals_left_out\":4}");
}

static void json_keeps_some_and_sums_up_the_rest(void **state)
{
	is_json(&many, 0, "{\"many\":[" CAT "," ANT "],\"others\":{\"n\":1,\"legs\":0,\"life_ns\":0}}");
}

static void json_has_parts_in_their_row(void **state)
{
	is_json(&parts, 0,
		"{\"parts\":[{\"pid\":1,\"bytes\":2048,\"legless\":{\"bytes\":0}},{\"pid\":3,\"bytes\":7}]}");
}

static void csv_has_all_rows(void **state)
{
	is_csv(&animals, "animals.csv",
	       "pid,name,legs,sound,life_s,bytes,share,tame\n"
	       "1,cat,4,me ow,0.000001500,2048,0.250000,1\n"
	       "2,\"'=ee\tl\",0,,0.000000000,0,,0\n"
	       "3,ant,6,,2.000000000,7,1.000000,0\n");
	is_csv(&young_view, "animals_young.csv", "name,id\ncat,10\ncat,11\nant,12\n");
}

/* --- rows that a view lists itself, and columns that find their own values -------------------------------------------
 */

struct keeper {
	uint32_t boss; /* number of the keeper who is the boss */
	uint8_t shift;
	bool paid;
	uint64_t wage;
	char name[8];
};

struct staff {
	struct table keepers, shared; /* shared: by the numbers of two keepers, how often they fed together */
	uint64_t wages, fixed[4];
	const struct keeper *old;
	uint32_t n_old;
};

static const char *const shifts[] = { "day", "night" };

static bool is_paid(const void *of, const void *row)
{
	return ((const struct keeper *)row)->paid;
}

#define STAFF                                                                  \
	{ "name", "NAME", VIEW_TEXT, 5, 0, VIEW_AT(struct keeper, name) },     \
	{                                                                      \
		"boss", "BOSS", VIEW_TEXT, 5, 0, VIEW_AT(struct keeper, name), \
			VIEW_VIA(struct keeper, boss, struct staff, keepers)   \
	}

static const struct view_column keeper_columns[] = {
	STAFF,
	{ "shift", "SHIFT", VIEW_TEXT, 5, 0, VIEW_AT(struct keeper, shift), .names = shifts },
	{ "wage", "WAGE", VIEW_COUNT, 5, 0, VIEW_AT(struct keeper, wage), VIEW_KNOWN(struct keeper, paid) },
	{ "share", "SHARE", VIEW_SHARE, 7, 0, VIEW_AT(struct keeper, wage), VIEW_WHOLE(struct staff, wages) },
	{ 0 },
};
static const struct view_column name_columns[] = { STAFF, { 0 } };
static const struct view_column fixed_columns[] = { { "n", "N", VIEW_COUNT, 3, .as = VIEW_AS_U64, .at = 0 }, { 0 } };

VIEW_GET(times, struct staff, s, struct view_pair, p)
{
	cell->n = view_number(c, p->value);
}

static const struct view_column pair_columns[] = {
	{ "a", "A", VIEW_TEXT, 4, 0, VIEW_AT(struct keeper, name),
	  VIEW_VIA(struct view_pair, first, struct staff, keepers) },
	{ "b", "B", VIEW_TEXT, 4, 0, VIEW_AT(struct keeper, name),
	  VIEW_VIA(struct view_pair, second, struct staff, keepers) },
	{ "n", "TIMES", VIEW_COUNT, 5, .get = times },
	{ 0 },
};

#define KEEPERS VIEW_TABLE(struct staff, keepers)

static const struct view by_wage = { .columns = keeper_columns, KEEPERS, VIEW_MOST(struct keeper, wage) };
static const struct view paid = { .columns = name_columns, KEEPERS, .has = is_paid };
static const struct view by_night = { .columns = name_columns, KEEPERS, VIEW_HAVING(struct keeper, shift) };
static const struct view old = { .columns = name_columns, VIEW_POINTED(struct staff, old, n_old) };
static const struct view fixed = { .columns = fixed_columns, VIEW_FIXED(struct staff, fixed) };
static const struct view fed_together = { .columns = pair_columns, VIEW_PAIRS(struct staff, shared, 1) };

static void hire(struct staff *s, const struct keeper *k)
{
	*(struct keeper *)table_get(&s->keepers, s->keepers.n + 100) = *k;
}

static void feed(struct staff *s, uint64_t a, uint64_t b, uint64_t times)
{
	*(uint64_t *)table_get(&s->shared, a << 32 | b) = times;
}

static void staff_is(const struct staff *s, const struct view *v, const char *want)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	view_text(v, s, out);
	fclose(out);
	assert_string_equal(text, want);
}

static void rows_are_those_of_a_table_or_an_array(void **state)
{
	static const struct keeper gone = { .name = "Tom", .boss = 1 };
	struct staff s = { .wages = 40, .fixed = { 3, 0, 1, 2 }, .old = &gone, .n_old = 1 };

	table_init(&s.keepers, sizeof(struct keeper), 8);
	table_init(&s.shared, sizeof(uint64_t), 8);
	hire(&s, &(struct keeper){ .name = "Ann", .boss = 1, .shift = 1, .paid = true, .wage = 10 });
	hire(&s, &(struct keeper){ .name = "Bob", .boss = 1, .wage = 20 });
	hire(&s, &(struct keeper){ .name = "Cy", .boss = 0, .shift = 1, .paid = true, .wage = 10 });
	feed(&s, 9, 9, 1);
	feed(&s, 2, 0, 7);
	feed(&s, 0, 2, 8);
	feed(&s, 0, 1, 9);
	/* those with equal wages stay in the order in which they were hired */
	staff_is(&s, &by_wage,
		 "NAME  BOSS  SHIFT  WAGE   SHARE\n"
		 "Bob   Bob   day       -  50.0 %\n"
		 "Ann   Bob   night    10  25.0 %\n"
		 "Cy    Ann   night    10  25.0 %\n");
	staff_is(&s, &paid, "NAME  BOSS \nAnn   Bob  \nCy    Ann  \n");
	staff_is(&s, &by_night, "NAME  BOSS \nAnn   Bob  \nCy    Ann  \n");
	staff_is(&s, &old, "NAME  BOSS \nTom   Bob  \n");
	staff_is(&s, &fixed, "  N\n  3\n  0\n  1\n  2\n");
	staff_is(&s, &fed_together, "A    B    TIMES\nAnn  Bob      9\nAnn  Cy       8\nCy   Ann      7\n");
	s.wages = 0;
	s.keepers.n = 1;
	staff_is(&s, &by_wage, "NAME  BOSS  SHIFT  WAGE   SHARE\nAnn   Bob   night    10       -\n");
	s.n_old = 0;
	staff_is(&s, &old, "");
	table_free(&s.keepers);
	table_free(&s.shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_the_free_column_last),
		cmocka_unit_test(text_sums_up_what_has_no_line),
		cmocka_unit_test(text_of_a_list_begins_with_its_row),
		cmocka_unit_test(json_has_keys_lists_and_how_many_there_are),
		cmocka_unit_test(json_keeps_some_and_sums_up_the_rest),
		cmocka_unit_test(json_has_parts_in_their_row),
		IN_TREE(csv_has_all_rows),
		cmocka_unit_test(rows_are_those_of_a_table_or_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
