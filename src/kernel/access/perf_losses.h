/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel reports to be lost of a sampled perf event, by records in the event's ring (linux/perf_event.h). The
 * samples themselves go to a BPF program, not into the ring.
 */
#ifndef KERNEL_ACCESS_PERF_LOSSES_H
#define KERNEL_ACCESS_PERF_LOSSES_H

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct perf_losses {
	uint64_t throttled; /* times that the kernel stopped the event until its next tick, as there were too many
			       samples */
	uint64_t lost_samples; /* that the CPU took and the kernel could not use */
	uint64_t lost_records; /* of any kind, these here too, that found no room in the ring */
};

/* Adds to SUM what the records in RING, of BYTES (a power of two), report, and gives their room back. PAGE: the ring's
 * state. */
void perf_losses_read(struct perf_losses *sum, struct perf_event_mmap_page *page, const uint8_t *ring, size_t bytes);
void perf_losses_add(struct perf_losses *sum, const struct perf_losses *more);

#endif
