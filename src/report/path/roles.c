/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/roles.h"

#include <stdlib.h>

#include "base/util.h"

/* Of each process. */
struct facts {
	uint32_t served; /* waits that it ended of a process above it */
	uint32_t children; /* short ones that served nobody, or by another program */
};

/* --- who serves ---------------------------------------------------------------------------------------- */

/*
 * BY has ended N waits of LIFE: it and those above it, up to the process of LIFE, serve that one. A rank serves nobody:
 * it calls its launcher's store.
 */
static void serve(struct facts *facts, const struct path_lives *lives, uint32_t life, uint32_t by, uint32_t n)
{
	const uint32_t master = lives->life[life].process, servant = lives->life[by].process;
	uint32_t process = servant;

	if (process == master || !path_lives_is_below(lives, process, master))
		return;
	for (unsigned int i = 0; process != master && i < PATH_GENERATIONS_MAX; i++) {
		if (path_lives_is_rank(lives, process))
			return;
		facts[process].served += MIN(n, PATH_SERVES);
		process = lives->process[process].parent;
	}
}

static void add_waits(struct facts *facts, const struct path_shorts *shorts)
{
	const struct path_waits *waits = shorts->waits;

	for (uint32_t i = 0; i < waits->n; i++)
		if (waits->v[i].ender.life && waits->v[i].ender.by == PATH_BY_THREAD)
			serve(facts, waits->lives, waits->v[i].row.life, waits->v[i].ender.life, 1);
	for (uint32_t i = 0; i < shorts->n; i++)
		if (shorts->v[i].ns && shorts->v[i].ender.life && shorts->v[i].ender.by == PATH_BY_THREAD)
			serve(facts, waits->lives, shorts->v[i].row.life, shorts->v[i].ender.life, shorts->v[i].waits);
}

/* --- children ------------------------------------------------------------------------------------------ */

static bool is_short(const struct path_process *p, uint64_t root_ns)
{
	return p->parent && p->end_ns != UINT64_MAX && p->end_ns - p->begin_ns <= root_ns / PATH_CHILD_PART;
}

/* Whether it executes a program that its parent does not: gzip or ffmpeg, which hand their results over by a pipe. */
static bool is_other_program(const struct path_lives *lives, uint32_t process)
{
	const struct path_process *p = &lives->process[process];

	return p->born && p->program && p->born != p->program;
}

/* Whether it is as short as a program that is executed for one piece of work. */
static bool may_be_child(const struct facts *facts, const struct path_lives *lives, uint32_t process, uint64_t root_ns)
{
	return is_short(&lives->process[process], root_ns) &&
	       (facts[process].served < PATH_SERVES || is_other_program(lives, process));
}

static bool is_child(const struct facts *facts, const struct path_lives *lives, uint32_t process, uint64_t root_ns)
{
	return may_be_child(facts, lives, process, root_ns) &&
	       facts[lives->process[process].parent].children >= PATH_CHILDREN;
}

static void count_children(struct facts *facts, const struct path_lives *lives, uint64_t root_ns)
{
	for (uint32_t i = 1; i < lives->n_processes; i++)
		if (may_be_child(facts, lives, i, root_ns))
			facts[lives->process[i].parent].children++;
}

/* --- roles --------------------------------------------------------------------------------------------- */

/* Those above it count first: what a worker starts is a worker. */
static enum path_role role_of(const struct facts *facts, const struct path_lives *lives, uint32_t process,
			      uint64_t root_ns)
{
	enum path_role role = PATH_OWN;

	for (unsigned int i = 0; process && i < PATH_GENERATIONS_MAX; i++) {
		if (is_child(facts, lives, process, root_ns))
			role = role == PATH_OWN ? PATH_CHILD : role;
		else if (facts[process].served >= PATH_SERVES)
			role = PATH_WORKER;
		process = lives->process[process].parent;
	}
	return role;
}

/* Returns how long ROOT lived. Of a part of a trace, which it outlived, its children are as short as in the whole. */
static uint64_t life_of(const struct path_lives *lives, const struct path_root *root)
{
	const struct path_process *p = path_lives_process(lives, root->life);
	const uint64_t begin_ns = MAX(p->begin_ns, p->exec_ns), seen_ns = root->end_ns - root->begin_ns;

	return begin_ns && p->end_ns != UINT64_MAX && p->end_ns > begin_ns ? MAX(p->end_ns - begin_ns, seen_ns) :
									     seen_ns;
}

uint8_t *path_roles_of(const struct path_shorts *shorts, const struct path_root *root)
{
	const struct path_lives *lives = shorts->waits->lives;
	const uint64_t root_ns = life_of(lives, root);
	struct facts *facts = calloc(lives->n_processes + 1ULL, sizeof(*facts));
	uint8_t *roles = calloc(lives->n_processes + 1ULL, sizeof(*roles));

	if (facts && roles) {
		add_waits(facts, shorts);
		count_children(facts, lives, root_ns);
		for (uint32_t i = 1; i < lives->n_processes; i++)
			roles[i] = (uint8_t)role_of(facts, lives, i, root_ns);
	}
	if (!facts) {
		free(roles);
		roles = NULL;
	}
	free(facts);
	return roles;
}
