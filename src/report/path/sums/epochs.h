/* SPDX-License-Identifier: BSD-2-Clause */
/* In which part of the job's training a moment is. */
#ifndef REPORT_PATH_SUMS_EPOCHS_H
#define REPORT_PATH_SUMS_EPOCHS_H

#include <stdint.h>

struct phases;

enum path_when {
	PATH_BEFORE, /* the first epoch */
	PATH_FIRST, /* in the first epoch */
	PATH_LATER, /* from its end to the end of the last one */
	PATH_AFTER,
	PATH_WHENS, /* not known */
};

struct path_epochs {
	uint32_t n; /* 0: none is known */
	uint64_t end_ns[PATH_WHENS]; /* of each part */
};

/* PHASES may be NULL. */
struct path_epochs path_epochs_of(const struct phases *phases);
/* Returns the part that AT is in; *UNTIL_NS: its end. */
enum path_when path_epochs_at(const struct path_epochs *epochs, uint64_t at_ns, uint64_t *until_ns);

#endif
