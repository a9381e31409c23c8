/* SPDX-License-Identifier: BSD-2-Clause */
/* The .git of the workload's folder, which is the user's and is read by root. */
#include "fuzz.h"

#include "host/git.h"

static const char *const files[] = {
	".git/HEAD", ".git/commondir", ".git/packed-refs", ".git/refs/heads/main", "w/.git",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *folder = util_fmt("%s/w", fuzz_folder());
	struct git_head h;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		autofree char *text = fuzz_piece(&data, &size, "===\n");

		fuzz_put(files[i], text, strlen(text));
	}
	git_head_read(&h, folder);
	EXPECT(strspn(h.commit, "0123456789abcdef") == strlen(h.commit));
	EXPECT(!h.ref[0] || !strncmp(h.ref, "refs/", 5));
	return 0;
}
