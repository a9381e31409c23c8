/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dlt/meta.h"
#include "drain/rows/decode.h"
#include "drain/rows/stage.h"
#include "trace/probe.h"
#include "trace/record.h"

#define BUCKETS 8192

struct folder {
	struct folder *next;
	struct dlt_meta_key key;
	size_t len;
	char path[];
};

struct folders {
	struct folder *bucket[BUCKETS];
	uint32_t n;
};

/* Returns the place of the pointer to KEY's folder, or that of the NULL at the end of its list. */
static struct folder **folder_at(struct folders *f, const struct dlt_meta_key *key)
{
	uint64_t hash = (key->folder ^ key->request ^ (uint64_t)key->tgid << 32 ^ key->func) * 0x9e3779b97f4a7c15ULL;
	struct folder **at = &f->bucket[hash >> 32 & (BUCKETS - 1)];

	while (*at && memcmp(&(*at)->key, key, sizeof(*key)) != 0)
		at = &(*at)->next;
	return at;
}

static void forget(struct folders *f, const struct dlt_meta_key *key)
{
	struct folder **at = folder_at(f, key), *gone = *at;

	if (!gone)
		return;
	*at = gone->next;
	free(gone);
	f->n--;
}

/* Without memory the folder of the sums is not known. */
static void learn(struct folders *f, const struct dlt_meta *rec)
{
	char path[RECORD_PATH_MAX];
	const size_t len = record_abs_seg(path, &meta_probe, &rec->hdr, offsetof(struct dlt_meta, segs), 0, 2);
	struct folder *folder;

	if (!len || *folder_at(f, &rec->key) || f->n >= DLT_META_CELLS)
		return;
	folder = malloc(sizeof(*folder) + len);
	if (!folder)
		return;
	folder->key = rec->key;
	folder->len = len;
	memcpy(folder->path, path, len);
	folder->next = NULL;
	*folder_at(f, &rec->key) = folder;
	f->n++;
}

static void put_row(struct decode *d, const struct dlt_meta_sums *sums)
{
	const struct folder *folder = *folder_at(d->state[DLT_meta_sums], &sums->key);
	struct {
		struct dlt_meta_sums rec;
		char path[RECORD_PATH_MAX + 1];
	} row; /* only as much of it as is used */

	row.rec = *sums;
	row.rec.hdr.size = sizeof(row.rec);
	row.rec.segs = (struct dlt_segs){};
	if (folder) {
		*(char *)mempcpy(row.path, folder->path, folder->len) = '\0';
		row.rec.segs.len[0] = (uint16_t)(folder->len + 1);
		row.rec.hdr.size += (uint32_t)folder->len + 1;
	}
	decode_row(d, DLT_meta_sums, &row.rec.hdr);
}

void folders_take(struct decode *d, const struct dlt_hdr *hdr)
{
	struct folders *f = d->state[DLT_meta_sums];

	if (hdr->func != DLT_META_SUMS)
		d->counts[DLT_meta_sums].records--; /* no row */
	if (!f)
		return;
	if (hdr->func == DLT_META_NAME)
		learn(f, (const struct dlt_meta *)hdr);
	else if (hdr->func == DLT_META_FORGET)
		forget(f, &((const struct dlt_meta_sums *)hdr)->key);
	else
		put_row(d, (const struct dlt_meta_sums *)hdr);
}

static int folders_open(struct decode *d)
{
	d->state[DLT_meta_sums] = calloc(1, sizeof(struct folders));
	return d->state[DLT_meta_sums] ? 0 : -ENOMEM;
}

static void folders_free(void *state)
{
	struct folders *f = state;

	for (unsigned int i = 0; f && i < BUCKETS; i++)
		while (f->bucket[i])
			forget(f, &f->bucket[i]->key);
	free(f);
}

const struct drain_stage folders_stage = {
	.probe = DLT_meta_sums,
	.open = folders_open,
	.free = folders_free,
};
