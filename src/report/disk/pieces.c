/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/disk/pieces.h"

#include <stdlib.h>

#include "base/util.h"

/*
 * A piece's row is stamped shortly before or after its request's. A piece that is older belongs to a request without a
 * row.
 */
#define SLACK_NS 10000000

struct place {
	uint32_t first, last; /* 1 + number; 0: none */
};

void report_pieces_init(struct report_pieces *p)
{
	*p = (struct report_pieces){ .n = 0 };
	table_init(&p->places, sizeof(struct place), PIECES_MAX);
}

void report_pieces_free(struct report_pieces *p)
{
	free(p->v);
	table_free(&p->places);
}

static uint64_t key_of(struct reader_field disk, uint64_t sector)
{
	return table_key_more(table_key(disk.p, disk.len), (const char *)&sector, sizeof(sector));
}

static bool grow(struct report_pieces *pieces)
{
	return pieces->n < PIECES_MAX && util_room(&pieces->v, pieces->n, sizeof(*pieces->v)) == 0;
}

static bool take(struct scan *scan, void *own)
{
	struct report_pieces *pieces = own;
	struct report_piece piece = { .at_ns = scan->time_ns };
	struct place *place;
	uint64_t sector;

	if (!scan_u64(scan, COL_SECTOR, &sector) || !scan_u64(scan, COL_BYTES, &piece.bytes))
		return false;
	place = table_get(&pieces->places, key_of(scan_field(scan, COL_DISK), sector));
	if (!place || !grow(pieces)) {
		pieces->left_out++;
		return true;
	}
	if (!scan_u64(scan, COL_FOFF, &piece.off) || !scan_u64(scan, COL_FID, &piece.fid))
		piece.fid = 0;
	scan_u64(scan, COL_WPID, &piece.pid);
	piece.kind = pieces->kind_of(scan_field(scan, COL_KIND));
	pieces->v[pieces->n++] = piece;
	if (place->last)
		pieces->v[place->last - 1].next = pieces->n;
	else
		place->first = pieces->n;
	place->last = pieces->n;
	return true;
}

void report_pieces_read(struct report_pieces *p, struct scan_folder *folder,
			uint32_t (*kind_of)(struct reader_field name))
{
	struct scan_taker taker = { .take = take, .own = p };

	p->kind_of = kind_of;
	scan_walk(folder, "bio_map", &taker);
}

const struct report_piece *report_pieces_take(struct report_pieces *pieces, struct reader_field disk, uint64_t sector,
					      uint64_t issued_ns, uint64_t done_ns)
{
	struct place *place = pieces->n ? table_find(&pieces->places, key_of(disk, sector)) : NULL;

	while (place && place->first) {
		const struct report_piece *piece = &pieces->v[place->first - 1];

		if (piece->at_ns > done_ns)
			return NULL;
		place->first = piece->next;
		if (!place->first)
			place->last = 0;
		if (piece->at_ns + SLACK_NS >= issued_ns)
			return piece;
	}
	return NULL;
}
