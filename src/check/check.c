/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of needs, and what its row functions share. Single thread. See check.h. */
#include "check/check.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/util.h"

static enum check_state (*const needs[])(struct check *c) = { CHECK_NEEDS(CHECK_FUNCTION) };

void check_run(struct check *c)
{
	c->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		needs[i](c);
}

static const struct check_row *first_failure(const struct check *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->rows[i].state == CHECK_FAIL)
			return &c->rows[i];
	return NULL;
}

bool check_possible(const struct check *c)
{
	return !first_failure(c);
}

/* The answer, in one sentence, for all that do not read the rows. */
enum check_state check_verdict(struct check *check)
{
	const struct check_row *failure = first_failure(check);
	const char *but = *check->without ? ", without " : "";

	if (failure && *check->by)
		return check_put(check, CHECK_VERDICT, CHECK_FAIL,
				 "This machine can be traced, by %s%s%s, but not like this: %s: %s", check->by, but,
				 check->without, failure->need, failure->found);
	if (failure)
		return check_put(check, CHECK_VERDICT, CHECK_FAIL, "This machine cannot be traced: %s: %s",
				 failure->need, failure->found);
	if (!*check->by)
		return check_put(check, CHECK_VERDICT, CHECK_FAIL,
				 "This machine cannot be traced: no probe can be attached");
	return check_put(check, CHECK_VERDICT, CHECK_OK, "This machine can be traced, by %s%s%s.", check->by, but,
			 check->without);
}

enum check_state check_lacks(struct check *check, const char *need, enum check_state state, const char *remedy,
			     const char *found, ...)
{
	struct check_row *row = &check->rows[MIN(check->n, CHECK_ROWS_MAX - 1)];
	va_list ap;

	*row = (struct check_row){ .state = state };
	snprintf(row->need, sizeof(row->need), "%s", need);
	snprintf(row->remedy, sizeof(row->remedy), "%s", remedy ? remedy : "");
	va_start(ap, found);
	vsnprintf(row->found, sizeof(row->found), found, ap);
	va_end(ap);
	check->n = (unsigned int)(row - check->rows) + 1;
	return state;
}

enum check_state check_remedy(struct check *c, const char *fmt, ...)
{
	struct check_row *row = &c->rows[c->n - 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(row->remedy, sizeof(row->remedy), fmt, ap);
	va_end(ap);
	return row->state;
}

int check_read(const struct check *c, const char *path, char *buf, size_t size)
{
	char whole[PATH_MAX];

	buf[0] = '\0';
	snprintf(whole, sizeof(whole), "%s%s", c->root, path);
	return util_read_line(whole, buf, size);
}

bool check_has_word(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (list += strspn(list, "\"' \n"); *list; list += strspn(list, "\"' \n")) {
		size_t word = strcspn(list, "\"' \n");

		if (word == len && !memcmp(list, id, len))
			return true;
		list += word;
	}
	return false;
}

const char *check_install(const struct check *check, const char *package, char *buf, size_t size)
{
	static const struct {
		const char *id, *command;
	} managers[] = {
		{ "debian", "apt-get install" }, { "ubuntu", "apt-get install" }, { "rhel", "dnf install" },
		{ "fedora", "dnf install" },     { "suse", "zypper install" },    { "opensuse", "zypper install" },
		{ "arch", "pacman -S" },
	};
	const char *command = "install the package";
	char text[4096];

	if (check_read(check, "/etc/os-release", text, sizeof(text)) == 0) {
		char *line, *rest = text;

		while ((line = strsep(&rest, "\n"))) {
			const char *value = NULL;

			if (!strncmp(line, "ID=", 3))
				value = line + 3;
			else if (!strncmp(line, "ID_LIKE=", 8))
				value = line + 8;

			for (size_t i = 0; value && i < ARRAY_SIZE(managers); i++)
				if (check_has_word(value, managers[i].id))
					command = managers[i].command;
		}
	}
	snprintf(buf, size, "%s %s", command, package);
	return buf;
}
