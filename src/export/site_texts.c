/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/site_texts.h"

#include <stdlib.h>

#include "base/util.h"
#include "report/memory/stacks.h"
#include "report/scan/scan.h"

char **site_texts_read(int dirfd, const uint64_t *sites, uint32_t n)
{
	autofree struct stack_place *places = calloc(n + 1, sizeof(*places));
	autofree char **texts = calloc(n + 1, sizeof(*texts));
	struct scan_folder *folder = scan_folder_new(dirfd);

	if (places && texts && folder) {
		for (uint32_t i = 0; i < n; i++)
			places[i] = (struct stack_place){ sites[i], &texts[i] };
		stacks_read(folder, places, n);
	}
	if (folder)
		scan_folder_free(folder);
	return places && folder ? TAKE_PTR(texts) : NULL;
}

void site_texts_free(char **texts, uint32_t n)
{
	for (uint32_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}
