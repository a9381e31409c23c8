/* SPDX-License-Identifier: BSD-2-Clause */
/* What a summary has: the members of a struct summary and of a struct report, by which it is written and read. */
#ifndef REPORT_HOSTS_SUMMARY_TABLES_H
#define REPORT_HOSTS_SUMMARY_TABLES_H

#include "base/json_bind.h"
#include "report/hosts/hosts.h"
#include "report/rules/rules.h"

/* A finding of the host. */
struct summary_finding {
	char code[48], title[160]; /* of its rule; two rules have the same code */
	double share;
	bool is_answer;
};

/* What is not in the report itself, in a form of its own. */
struct summary {
	uint64_t version;
	int64_t utc_ns;
	uint64_t begin_ns, end_ns, error_ns; /* of the clock, as struct job_host has them; END_NS: of the last row */
	bool synchronised;
	double window_ns;
	struct summary_finding finding[RULES_MAX + 1];
	unsigned int n_findings;
};

/* The kinds of a summary beside those of base/json_bind.h. */
enum member_kind {
	MEMBER_OWNED = JSON_OWN, /* char *, to be freed */
	MEMBER_DOUBLE, /* a string with all of its digits */
	MEMBER_CODE, /* enum missing_kind, by its code */
	MEMBER_OF, /* one of summary_ofs */
	MEMBER_HIST
};

/* An array of structs; as JSON an array of objects, without those whose members are all zero where the array is fixed.
 */
struct member_list {
	const char *key; /* NULL: after the last */
	const struct json_member *members;
	size_t at, stride;
	unsigned int n; /* at most */
	size_t count; /* offset of an unsigned int, how many there are; 0: N, and each is identified by NAME */
	const char *const *names; /* NULL: by number, too */
};

extern const struct json_member summary_members[], summary_report_members[];
extern const struct member_list summary_lists[], summary_report_lists[];
/* The values of missing_reason.of. */
extern const char *const summary_ofs[];

#endif
