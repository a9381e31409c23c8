/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/interference.h"

#include "base/util.h"

void interference_write(struct interference *i, uint64_t at_ns)
{
	const uint64_t bin = 1 + at_ns / INTERFERENCE_BIN_NS;

	for (uint64_t b = MAX(i->bin + 1, bin > INTERFERENCE_BINS ? bin - INTERFERENCE_BINS + 1 : 0); b <= bin; b++)
		i->wrote[b % INTERFERENCE_BINS / 64] &= ~(1ULL << b % 64);
	i->bin = MAX(i->bin, bin);
	i->wrote[bin % INTERFERENCE_BINS / 64] |= 1ULL << bin % 64;
}

bool interference_read(const struct interference *i, uint64_t begin_ns)
{
	const uint64_t bin =
		begin_ns / INTERFERENCE_BIN_NS; /* that of the bin before, as WROTE counts: 1 + its number */

	if (bin > i->bin || bin + INTERFERENCE_BINS <= i->bin)
		return false;
	return i->wrote[bin % INTERFERENCE_BINS / 64] >> bin % 64 & 1;
}
