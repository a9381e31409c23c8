/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of rules, and what they need: see ../job.h for the traces. */
#include "report/rules/rules.h"

#include "../job.h"

static void missing_files_are_noted(void **state)
{
	struct report *r;

	put_job(0);
	put_reads(10, MiB, MiB, 0, 2);
	r = loaded();
	assert_true(lacks(r, "fault-storm: needs fault.out"));
	report_free(r);
}

/* Finds in LIST, the output of report --rules, the row of RULE, with its number and threshold. */
static void listed(const struct rule *rule, const char *list)
{
	autofree char *row = util_fmt("\n| `%s` | %s | %g |", rule->code, rule->number, rule->threshold);
	autofree char *answer = util_fmt("\n| `%s` |", rule->code);

	assert_non_null(rule->number);
	if (!strstr(list, rule->threshold > 0 ? row : answer))
		fail_msg("report --rules lacks %s", rule->code);
}

static void each_rule_is_listed(void **state)
{
	autofree char *list = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&list, &len);

	report_rules_markdown(out);
	fclose(out);
	for (const struct rule *const *table = rules_tables; *table; table++)
		for (const struct rule *rule = *table; rule->code; rule++)
			listed(rule, list);
	for (const struct rule *const *answer = rules_answers; *answer; answer++)
		listed(*answer, list);
	for (const struct rule *const *answer = rules_of_path; *answer; answer++)
		listed(*answer, list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(missing_files_are_noted),
		cmocka_unit_test(each_rule_is_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
