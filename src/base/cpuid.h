/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The extensions of x86-64 that this CPU has and the kernel allows, for code that has faster ways with them. In place
 * of the compiler's __builtin_cpu_supports(): with a runtime that does not fill its table, as zig's, that is 0 for all.
 */
#ifndef BASE_CPUID_H
#define BASE_CPUID_H

#include <stdbool.h>
#include <stdint.h>

enum cpuid_extension {
	CPUID_AVX2 = 1 << 0,
	CPUID_AVX512BW = 1 << 1,
	CPUID_AVX512F = 1 << 2,
	CPUID_AVX512VBMI2 = 1 << 3,
	CPUID_BMI = 1 << 4,
	CPUID_POPCNT = 1 << 5,
};

/* Of enum cpuid_extension; set before main(), 0 on other machines. */
extern uint32_t cpuid_extensions;

static inline bool cpuid_has(uint32_t all_of)
{
	return (cpuid_extensions & all_of) == all_of;
}

#endif
