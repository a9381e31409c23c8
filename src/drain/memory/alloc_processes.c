/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/memory/alloc_processes.h"

#include <stdlib.h>

static struct alloc_process **slot_of(struct alloc_processes *all, uint32_t tgid)
{
	return &all->slots[tgid % ALLOC_PROCESS_SLOTS];
}

struct alloc_process *alloc_process_find(const struct alloc_processes *all, uint32_t tgid)
{
	struct alloc_process *p = all->slots[tgid % ALLOC_PROCESS_SLOTS];

	while (p && (p->tgid != tgid || p->gone))
		p = p->next;
	return p;
}

struct alloc_process *alloc_process_get(struct alloc_processes *all, uint32_t tgid)
{
	struct alloc_process *process = alloc_process_find(all, tgid), **slot = slot_of(all, tgid);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->tgid = tgid;
	process->next = *slot;
	*slot = process;
	return process;
}

void alloc_process_forked(struct alloc_processes *all, uint32_t tgid, uint32_t parent_tgid)
{
	struct alloc_process *parent = alloc_process_get(all, parent_tgid), *child = alloc_process_get(all, tgid);

	if (!parent || !child || child == parent || child->parent)
		return;
	child->covered = parent->covered;
	if (parent->depth == ALLOC_DEPTH_MAX)
		return;
	child->depth = parent->depth + 1;
	child->parent = parent;
	child->names.parent = &parent->names;
	parent->children++;
}

static void process_free(struct alloc_process *p)
{
	alloc_blocks_free(&p->blocks);
	alloc_numbers_free(&p->names.sites);
	alloc_numbers_free(&p->names.modules);
	alloc_numbers_free(&p->names.codes);
	free(p);
}

/* PROCESS is freed, and its parents that were kept for it. */
void alloc_process_gone(struct alloc_processes *all, struct alloc_process *process)
{
	process->gone = true;
	while (process && process->gone && !process->children) {
		struct alloc_process *parent = process->parent, **at = slot_of(all, process->tgid);

		while (*at != process)
			at = &(*at)->next;
		*at = process->next;
		process_free(process);
		if (parent)
			parent->children--;
		process = parent;
	}
}

void alloc_processes_free(struct alloc_processes *all)
{
	for (unsigned int i = 0; i < ALLOC_PROCESS_SLOTS; i++)
		for (struct alloc_process *p = all->slots[i], *next; p; p = next) {
			next = p->next;
			process_free(p);
		}
}
