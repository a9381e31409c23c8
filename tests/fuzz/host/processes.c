/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/PID/stat, status and maps, of which a process chooses names, and what a container runtime prints. */
#include "fuzz.h"

#include "host/cgroup/container.c"
#include "host/mapping.h"
#include "host/process.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = fuzz_text(data, size);
	char id[ID_LEN + 1];
	struct mapping m;
	struct process p;
	unsigned long long tgid;
	pid_t pid = 0;

	if (process_parse(&p, 1, text) == 0)
		EXPECT(strnlen(p.comm, sizeof(p.comm)) < sizeof(p.comm));
	process_numbers(text, "\nTgid:\t", 10, &tgid, 1);
	if (parse_answer(text, &pid, id) == 0)
		EXPECT(pid >= 0 && (!*id || strlen(id) == ID_LEN));
	if (mapping_parse(text, &m))
		EXPECT(m.path > text && m.path <= text + strlen(text) && mapping_name(&m) >= m.path);
	return 0;
}
