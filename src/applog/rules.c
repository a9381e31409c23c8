/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of --phase. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "applog/applog_impl.h"
#include "applog/mllog.h"
#include "base/util.h"

#define RULE_BYTES 4096 /* of a line, to which rules are applied */
#define PARTS 10 /* \0 to \9 */

/* Returns the first \N in NAME that exceeds the pattern's groups, or NULL. */
static const char *beyond_groups(const char *name, size_t groups)
{
	for (const char *p = name; (p = strchr(p, '\\')); p++)
		if (is_digit(p[1]) && (size_t)(p[1] - '0') > groups)
			return p + 1;
	return NULL;
}

int applog_add_rule(struct applog_rules *rules, const char *text, char *error, size_t size)
{
	struct applog_rule *rule = &rules->rule[rules->n];
	const char *name = strrchr(text, '=');
	autofree char *regex = name ? strndup(text, (size_t)(name - text)) : NULL;
	const char *beyond;
	int res;

	if (rules->n == APPLOG_RULES_MAX) {
		snprintf(error, size, "at most %u rules", APPLOG_RULES_MAX);
		return -E2BIG;
	}
	snprintf(error, size, "not REGEX=NAME");
	if (!name || name == text || !name[1])
		return -EINVAL;
	if (strlen(name + 1) >= sizeof(rule->name)) {
		snprintf(error, size, "a name has at most %zu bytes", sizeof(rule->name) - 1);
		return -EINVAL;
	}
	if (!regex)
		return -ENOMEM;
	res = regcomp(&rule->regex, regex, REG_EXTENDED | REG_NEWLINE);
	if (res) {
		regerror(res, &rule->regex, error, size);
		return -EINVAL;
	}
	beyond = beyond_groups(name + 1, rule->regex.re_nsub);
	if (beyond) {
		snprintf(error, size, "\\%c has no group: the pattern has %zu ( )", *beyond, rule->regex.re_nsub);
		regfree(&rule->regex);
		return -EINVAL;
	}
	rule->text = strdup(text);
	if (!rule->text) {
		regfree(&rule->regex);
		return -ENOMEM;
	}
	strcpy(rule->name, name + 1);
	rule->lines = 0;
	rules->n++;
	return 0;
}

void applog_free_rules(struct applog_rules *rules)
{
	while (rules->n) {
		regfree(&rules->rule[--rules->n].regex);
		free(rules->rule[rules->n].text);
	}
}

/* Puts the rule's name, with \1 and the like replaced by their matches, cut to fit. */
static size_t substitute(char ret[PHASE_NAME_MAX], const char *name, const char *line, const regmatch_t part[PARTS])
{
	size_t len = 0;

	for (const char *p = name; *p && len < PHASE_NAME_MAX - 1; p++) {
		const regmatch_t *m = *p == '\\' && is_digit(p[1]) ? &part[p[1] - '0'] : NULL;
		size_t n;

		if (!m) {
			ret[len++] = *p;
			continue;
		}
		n = m->rm_so >= 0 ? MIN((size_t)(m->rm_eo - m->rm_so), PHASE_NAME_MAX - 1 - len) : 0;
		memcpy(ret + len, line + (n ? m->rm_so : 0), n);
		len += n;
		p++;
	}
	return len;
}

/* Splits "epoch 3": the number is not part of the name. */
static void split_number(struct applog_line *line)
{
	size_t len = line->entry.name_len, n = len;

	while (n && is_digit(line->name[n - 1]))
		n--;
	if (n == len || !n || !strchr(" _-", line->name[n - 1]))
		return;
	line->entry.number = applog_number_at((struct applog_piece){ line->name + n, line->name + len });
	if (line->entry.number >= 0)
		applog_set_name(line, line->name, n - 1);
}

static enum applog_found parse_rule(struct applog_line *applog_line, const struct applog_rule *rule, const char *line,
				    size_t len)
{
	regmatch_t part[PARTS] = { { .rm_so = 0, .rm_eo = (regoff_t)len } };
	char name[PHASE_NAME_MAX];
	size_t n;

	if (regexec(&rule->regex, line, PARTS, part, REG_STARTEND) != 0)
		return APPLOG_NOTHING;
	n = substitute(name, rule->name, line, part);
	applog_line->entry = (struct phase_entry){ .source = PHASE_LOG,
						   .by_rule = true,
						   .number = -1,
						   .rank = mllog_rank(line, MIN(len, APPLOG_RANK_BYTES)) };
	n = applog_event(name, n, &applog_line->entry.event);
	applog_set_name(applog_line, name, n);
	split_number(applog_line);
	return applog_line->entry.name_len ? APPLOG_PHASE : APPLOG_BROKEN;
}

enum applog_found applog_parse_rules(struct applog_line *applog_line, const struct applog_rules *rules,
				     const char *line, size_t len)
{
	char text[RULE_BYTES + 1]; /* the C library needs a string */
	enum applog_found found = APPLOG_NOTHING;

	len = MIN(len, RULE_BYTES);
	memcpy(text, line, len);
	text[len] = '\0';
	for (unsigned int i = 0; i < rules->n && found == APPLOG_NOTHING; i++)
		if ((found = parse_rule(applog_line, &rules->rule[i], text, len)) != APPLOG_NOTHING)
			applog_line->rule = i + 1;
	return found;
}
