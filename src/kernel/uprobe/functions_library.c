/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/uprobe/functions_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "host/mapping.h"
#include "kernel/tracer.h"
#include "kernel/uprobe/uprobe.h"
#include "trace/probe.h"

void functions_end_if_abandoned(const struct functions *functions)
{
	if (__atomic_load_n(&functions->abandoned, __ATOMIC_SEQ_CST))
		pthread_exit(NULL);
}

/* Whether NAME begins with one of PREFIXES. */
static bool begins_with_one(const char *name, const char *prefixes)
{
	for (const char *p = prefixes; *p;) {
		size_t len = strcspn(p, "|");

		if (!strncmp(name, p, len))
			return true;
		p += len + (p[len] == '|');
	}
	return false;
}

void functions_add_line(struct functions *functions, char *line)
{
	if (line && functions->n_lines < LINES_MAX && !functions->began)
		functions->lines[functions->n_lines++] = line;
	else
		free(line);
}

bool functions_want(const struct functions *functions, const char *name)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		for (unsigned int k = 0; functions->t->loaded >> i & 1 && k < probes[i]->n_functions; k++)
			if (begins_with_one(name, probes[i]->functions[k].modules))
				return true;
	return false;
}

struct looking {
	struct library *library;
	const char *name;
	char probed[256];
};

static bool has_offset(const struct library *l, uint64_t offset)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (l->v[i].offset == offset)
			return true;
	return false;
}

/* Where in the library is this function? One that has two names counts once. */
static void look_for(struct functions *functions, struct looking *looking, const struct probe_object *object,
		     const struct probe_function *is)
{
	/* registers of arguments, in order */
	static const unsigned int args[] = { PROLOGUE_ARG1, PROLOGUE_ARG2, PROLOGUE_ARG3, PROLOGUE_ARG4 };
	struct prologue_need need = { .returns = is->ends };
	struct uprobe_point point;
	size_t len = strlen(looking->probed);
	int r;

	if (!begins_with_one(looking->name, is->modules) || looking->library->n == LIBRARY_FUNCTIONS)
		return;
	for (unsigned int i = 0; i < is->n_args && i < ARRAY_SIZE(args); i++)
		need.args |= args[i];
	r = uprobe_find(looking->library->fd, is->symbol, &need, &point);
	functions_end_if_abandoned(functions);
	if (r == -ENOTSUP) {
		util_count(&functions->counts.refused, 1);
		functions_add_line(functions,
				   util_fmt("%s of %s has no probe: %s", is->name, looking->name, point.why));
	}
	if (r < 0 || has_offset(looking->library, point.offset))
		return;
	looking->library->v[looking->library->n++] = (struct library_function){ is, object, point.offset };
	snprintf(looking->probed + len, sizeof(looking->probed) - len, "%s%s", len ? ", " : "", is->name);
}

struct library *functions_library(struct functions *functions, pid_t pid, const struct mapping *mapping)
{
	autoclose int fd = -1;
	struct looking looking = { .name = mapping_name(mapping) };
	struct library *library;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)mapping->begin,
		 (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	functions_end_if_abandoned(functions);
	if (fd < 0 || fstat(fd, &st) < 0) {
		util_count(&functions->counts.failed, 1);
		functions_add_line(functions, util_fmt("%s of process %d cannot be opened: %s", looking.name, pid,
						       strerror(errno)));
		return NULL;
	}
	for (unsigned int i = 0; i < functions->n_libraries; i++)
		if (functions->libraries[i].dev == st.st_dev && functions->libraries[i].ino == st.st_ino)
			return &functions->libraries[i];
	if (functions->n_libraries == LIBRARIES_MAX) {
		util_count(&functions->counts.failed, 1);
		return NULL;
	}
	library = looking.library = &functions->libraries[functions->n_libraries++];
	*library = (struct library){ .dev = st.st_dev, .ino = st.st_ino, .fd = TAKE_FD(fd) };
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		for (unsigned int k = 0; functions->t->loaded >> i & 1 && k < probes[i]->n_functions; k++)
			look_for(functions, &looking, &functions->t->objects[i], &probes[i]->functions[k]);
	if (library->n)
		functions_add_line(functions,
				   util_fmt("%s has probes on %s: each call takes about 1 us longer, and one with "
					    "a result and a stack another 2 us",
					    looking.name, looking.probed));
	return library;
}
