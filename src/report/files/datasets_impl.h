/* SPDX-License-Identifier: BSD-2-Clause */
/* Between datasets.c, which knows files, and datasets_gather.c, which chooses prefixes. */
#ifndef REPORT_FILES_DATASETS_IMPL_H
#define REPORT_FILES_DATASETS_IMPL_H

#include "report/files/datasets.h"

/* A folder, and the files of one kind in and below it. */
struct gather_folder {
	uint64_t below[DATASET_SUMS]; /* first of its direct entries, later of all below it as well */
	uint64_t rest[DATASET_SUMS]; /* of BELOW, the part that is in no data set further down */
	uint64_t own_files, own_bytes; /* of files directly in it */
	uint64_t largest_bytes;
	uint32_t largest, other; /* 1 + place of the largest of these files, and of another one; 0: none */
	/* Parts: each direct subfolder with files, its own files together, and a file of its own that stands apart. */
	uint32_t parts, folders, large, small;
	uint64_t small_files, small_bytes;
	uint64_t large_name; /* hash of the large parts' common name but for digits; 0: none */
	bool apart; /* its largest file is a part of its own */
	bool whole; /* it is one data set with all below, if it is one at all */
	bool open; /* no folder above it is whole */
};

/* The folders of D, with what lies right in each. */
struct gather {
	const struct folders *tree;
	struct gather_folder *folder; /* by number */
	enum dataset_kind kind;
	uint64_t many_files, many_bytes;
	/* Gets the sums of the file at place I; takes a data set, of FOLDER or of the file at FILE - 1. OWN is passed
	 * to both. */
	void (*file_sums)(void *own, uint32_t i, uint64_t sum[DATASET_SUMS]);
	void (*take)(void *own, enum dataset_kind kind, uint32_t folder, uint32_t file,
		     const uint64_t sum[DATASET_SUMS]);
	void *own;
};

void gather(struct gather *g);

static inline void dataset_sums_add(uint64_t to[DATASET_SUMS], const uint64_t sum[DATASET_SUMS])
{
	for (unsigned int i = 0; i < DATASET_SUMS; i++)
		to[i] += sum[i];
}

static inline void dataset_sums_subtract(uint64_t from[DATASET_SUMS], const uint64_t sum[DATASET_SUMS])
{
	for (unsigned int i = 0; i < DATASET_SUMS; i++)
		from[i] -= sum[i];
}

#endif
