/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's files that the manifest is made from: one text in place of each of them. */
#include "fuzz.h"

#include "base/json.h"
#include "host/machine/machine.h"

static const char *const files[] = {
	"proc/cpuinfo",
	"proc/driver/nvidia/gpus/0000:01:00.0/information",
	"proc/meminfo",
	"proc/self/cgroup",
	"proc/self/mounts",
	"run/.containerenv",
	"sys/block/sda/queue/scheduler",
	"sys/block/sda/size",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json j = { 0 };
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *text = fuzz_piece(&data, &size, "===\n");

		fuzz_put(files[i], text, strlen(text));
	}
	json_object(&j, NULL);
	machine_put(&j, fuzz_folder());
	json_end(&j);
	EXPECT(json_finish(&j) == 0);
	json_free(&j);
	machine_dirty_bytes(fuzz_folder(), &bytes);
	return 0;
}
