/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that code is in, as numbers, which are defined once by an event of DLT_ALLOC_MODULE. */
#ifndef PRELOAD_MODULE_H
#define PRELOAD_MODULE_H

#include <stdint.h>

/*
 * Writes to FRAMES the N addresses IP as struct dlt_alloc_event has them, and events of modules that had no number.
 * Called while thread.busy.
 */
void module_frames(const uintptr_t *ip, unsigned int n, uint64_t *frames);

#endif
