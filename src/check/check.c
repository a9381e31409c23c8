/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of needs, and what their row functions share. Single thread. See check.h. */
#include "check/check.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "base/util.h"

/* In this order: later ones rely on what earlier ones found. */
static void (*const needs[])(struct check *c) = {
	check_rights,
	check_pid_namespace,
	check_btf,
	check_lockdown,
	check_bpf,
	check_memlock,
	check_ring_buffer,
	check_backends,
	check_probes,
	check_open_files,
	check_file_size,
	check_preemption,
	check_rings,
	check_tracefs,
	check_cgroups,
	check_clock_source,
	check_clock_synchronised,
	check_collectors,
	check_containers,
	check_folder,
	check_other_traces,
};

void check_run(struct check *c)
{
	c->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++)
		needs[i](c);
}

bool check_possible(const struct check *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->rows[i].state == CHECK_FAIL)
			return false;
	return true;
}

void check_put(struct check *c, const char *need, enum check_state state, const char *found, ...)
{
	struct check_row *row = &c->rows[MIN(c->n, CHECK_ROWS_MAX - 1)];
	va_list ap;

	*row = (struct check_row){ .state = state };
	snprintf(row->need, sizeof(row->need), "%s", need);
	va_start(ap, found);
	vsnprintf(row->found, sizeof(row->found), found, ap);
	va_end(ap);
	c->n = (unsigned int)(row - c->rows) + 1;
}

void check_remedy(struct check *c, const char *fmt, ...)
{
	struct check_row *row = &c->rows[c->n - 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(row->remedy, sizeof(row->remedy), fmt, ap);
	va_end(ap);
}

int check_read(const struct check *c, const char *path, char *buf, size_t size)
{
	char whole[PATH_MAX];

	buf[0] = '\0';
	snprintf(whole, sizeof(whole), "%s%s", c->root, path);
	return util_read_line(whole, buf, size);
}

/* Does LIST, the value of ID= or ID_LIKE= in os-release(5), name the distribution ID? */
static bool names(const char *list, const char *id)
{
	size_t len = strlen(id);

	for (list += strspn(list, "\"' "); *list && *list != '\n'; list += strspn(list, "\"' ")) {
		size_t word = strcspn(list, "\"' \n");

		if (word == len && !memcmp(list, id, len))
			return true;
		list += word;
	}
	return false;
}

const char *check_install(const struct check *c, const char *package, char *buf, size_t size)
{
	static const struct {
		const char *id, *command;
	} managers[] = {
		{ "debian", "apt-get install" }, { "ubuntu", "apt-get install" },
		{ "rhel", "dnf install" },	 { "fedora", "dnf install" },
		{ "suse", "zypper install" },	 { "opensuse", "zypper install" },
		{ "arch", "pacman -S" },
	};
	const char *command = "install the package";
	char text[4096];

	if (check_read(c, "/etc/os-release", text, sizeof(text)) == 0) {
		char *line, *rest = text;

		while ((line = strsep(&rest, "\n"))) {
			const char *value = !strncmp(line, "ID=", 3) ? line + 3 :
					    !strncmp(line, "ID_LIKE=", 8) ? line + 8 : NULL;

			for (size_t i = 0; value && i < ARRAY_SIZE(managers); i++)
				if (names(value, managers[i].id))
					command = managers[i].command;
		}
	}
	snprintf(buf, size, "%s %s", command, package);
	return buf;
}
