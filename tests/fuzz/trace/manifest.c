/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace folder's manifest.json, which may be anybody's: report reads it, and start --force as root. */
#include "fuzz.h"
#include "trace/manifest_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct manifest_facts m;
	autofree char *text = fuzz_text(data, size);

	manifest_parse(&m, text);
	EXPECT(m.n_probes <= MANIFEST_PROBES_MAX && m.n_collectors <= MANIFEST_COLLECTORS_MAX);
	for (unsigned int i = 0; i < m.n_probes; i++)
		EXPECT(manifest_probe(&m, m.probes[i].name));
	EXPECT(strlen(m.cmdline) < sizeof(m.cmdline) && strlen(m.argv) < sizeof(m.argv));
	return 0;
}
