/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/cpuid.h"

#include <stddef.h>

uint32_t cpuid_extensions;

#ifdef __x86_64__
#include <cpuid.h>
#include <string.h>

#include "base/util.h"

/* Intel SDM volume 1, 13.2 and 14.3: registers that the kernel saves, as bits of XCR0. */
#define SAVES_YMM 0x06U
#define SAVES_ZMM 0xe6U
#define XGETBV_WORKS (1U << 27) /* OSXSAVE, in ECX of leaf 1 */

enum { EAX, EBX, ECX, EDX, REGISTERS };

/* Intel SDM volume 2, CPUID. */
static const struct {
	enum cpuid_extension extension;
	unsigned int leaf, reg, bit;
	uint32_t saved;
} places[] = {
	{ CPUID_AVX2, 7, EBX, 5, SAVES_YMM },
	{ CPUID_AVX512BW, 7, EBX, 30, SAVES_ZMM },
	{ CPUID_AVX512F, 7, EBX, 16, SAVES_ZMM },
	{ CPUID_AVX512VBMI2, 7, ECX, 6, SAVES_ZMM },
	{ CPUID_BMI, 7, EBX, 3, 0 },
	{ CPUID_POPCNT, 1, ECX, 23, 0 },
};

/* Fills the registers of LEAF; with zeros where the CPU has no such leaf. */
static void read_leaf(unsigned int leaf, uint32_t regs[REGISTERS])
{
	if (!__get_cpuid_count(leaf, 0, &regs[EAX], &regs[EBX], &regs[ECX], &regs[EDX]))
		memset(regs, 0, REGISTERS * sizeof(*regs));
}

static uint32_t saved_registers(void)
{
	uint32_t regs[REGISTERS], low, high;

	read_leaf(1, regs);
	if (!(regs[ECX] & XGETBV_WORKS))
		return 0;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

static __attribute__((constructor)) void look(void)
{
	const uint32_t saved = saved_registers();

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint32_t regs[REGISTERS];

		read_leaf(places[i].leaf, regs);
		if (regs[places[i].reg] >> places[i].bit & 1 && (saved & places[i].saved) == places[i].saved)
			cpuid_extensions |= places[i].extension;
	}
}
#endif
