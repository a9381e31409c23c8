/* SPDX-License-Identifier: BSD-2-Clause */
/* See regions.h. */
#include "drain/rows/regions.h"

#include <stddef.h>
#include <string.h>

#include "base/util.h"
#include "dlt/pids.h"
#include "drain/rows/decode.h"
#include "drain/rows/live_regions.h"
#include "drain/rows/stage.h"

_Static_assert(sizeof(struct dltraced_msg) == DLT_REGIONS_MSG_MAX, "the message");
_Static_assert(offsetof(struct dltraced_msg, text) == DLT_REGIONS_HEAD, "its head");
_Static_assert(DLTRACED_PRCTL == DLT_REGIONS_PRCTL, "the operation");

/* --- rows ------------------------------------------------------------------------------------------------- */

static void seg_put(struct regions_row *row, unsigned int i, const char *text, size_t len)
{
	const char *nul = memchr(text, '\0', len);

	if (nul)
		len = (size_t)(nul - text);
	memcpy((char *)row + row->hdr.size, text, len);
	row->hdr.size += (uint32_t)len;
	((char *)row)[row->hdr.size++] = '\0';
	row->segs.len[i] = (uint16_t)(len + 1);
}

/* "ai.compute.step" is compute, step; "my.own.name" my, own.name; a name without a dot the application's. */
static void name_put(struct regions_row *row, const struct dltraced_msg *msg)
{
	const char *name = msg->text, *end = name + msg->name_len, *dot;

	if (msg->op == DLTRACED_OP_MARK || msg->op == DLTRACED_OP_META) {
		seg_put(row, 0, msg->op == DLTRACED_OP_MARK ? "mark" : "meta", 4);
		seg_put(row, 1, name, msg->name_len);
		return;
	}
	if (end - name > 3 && !memcmp(name, "ai.", 3))
		name += 3;
	dot = memchr(name, '.', (size_t)(end - name));
	if (dot && dot > name && dot + 1 < end) {
		seg_put(row, 0, name, (size_t)(dot - name));
		name = dot + 1;
	} else {
		seg_put(row, 0, "app", 3);
	}
	seg_put(row, 1, name, (size_t)(end - name));
}

static void row_make(struct regions_row *row, const struct dlt_hdr *hdr, const struct dltraced_msg *msg)
{
	bool instant = msg->op == DLTRACED_OP_MARK || msg->op == DLTRACED_OP_META;

	row->hdr = *hdr;
	row->hdr.size = offsetof(struct regions_row, text);
	row->segs = (struct dlt_segs){};
	row->hdr.lat_ns =
		instant || msg->start_ns > hdr->ts_ns ? 0 : hdr->ts_ns - msg->start_ns; /* a start to come is none */
	row->ret = msg->flags & DLTRACED_FAILED ? -1 : 0;
	row->epoch = msg->epoch;
	row->step = msg->step;
	row->bytes = msg->bytes;
	row->lane = msg->lane;
	row->source = msg->source;
	row->pad = 0;
	name_put(row, msg);
	if (msg->args_len)
		seg_put(row, 2, msg->text + msg->name_len, msg->args_len);
}

static void row_put(struct decode *d, const struct dlt_hdr *hdr, const struct dltraced_msg *m, bool running)
{
	struct regions_row row;

	row_make(&row, hdr, m);
	if (running)
		row.ret = DLT_UNKNOWN;
	if (m->source == DLTRACED_SOURCE_NVTX)
		util_count(&d->counts[DLT_regions].nvtx, 1);
	decode_row(d, DLT_regions, &row.hdr);
}

/* --- live regions ----------------------------------------------------------------------------------------- */

/* A begin that becomes no row of its own. */
static void leave_out(struct decode *d)
{
	util_count(&d->counts[DLT_regions].filtered, 1);
}

static void live_begin(struct decode *d, const struct dlt_hdr *hdr, const struct dltraced_msg *m)
{
	struct live_regions *regions = d->state[DLT_regions] = d->state[DLT_regions] ?: live_regions_new();

	if (!regions || !live_regions_add(regions, hdr, m))
		leave_out(d);
}

static void live_end(struct decode *d, const struct dlt_hdr *hdr, const struct dltraced_msg *m)
{
	if (live_regions_remove(d->state[DLT_regions], hdr->tgid, m->id))
		leave_out(d);
}

struct ended {
	struct decode *d;
	uint64_t now_ns;
};

static void put_running(void *ctx, const struct dlt_hdr *begin, const struct dltraced_msg *m)
{
	const struct ended *e = ctx;
	struct dlt_hdr hdr = *begin;

	hdr.ts_ns = e->now_ns;
	row_put(e->d, &hdr, m, true);
}

const struct live_regions *regions_live(const struct decode *d)
{
	return d->state[DLT_regions];
}

static void life(struct decode *d, const struct dlt_pids *rec)
{
	if (rec->event == DLT_PIDS_EXIT && rec->status != DLT_NONE)
		live_regions_end(d->state[DLT_regions], rec->hdr.tgid, put_running,
				 &(struct ended){ d, rec->hdr.ts_ns });
}

static void end(struct decode *d, uint64_t end_ns)
{
	live_regions_end(d->state[DLT_regions], 0, put_running, &(struct ended){ d, end_ns });
}

const struct drain_stage regions_stage = {
	.probe = DLT_regions,
	.life = life,
	.end = end,
};

/* --- messages --------------------------------------------------------------------------------------------- */

void regions_take(struct decode *decode, const struct dlt_regions *rec)
{
	size_t room = MIN(rec->msg_len, rec->hdr.size - offsetof(struct dlt_regions, msg)), text;
	struct dltraced_msg m = {};

	memcpy(&m, rec->msg, MIN(room, sizeof(m)));
	text = room > DLT_REGIONS_HEAD ? room - DLT_REGIONS_HEAD : 0;
	m.name_len = (uint8_t)MIN((size_t)m.name_len, MIN(text, (size_t)DLTRACED_NAME_MAX));
	m.args_len = (uint8_t)MIN((size_t)m.args_len, MIN(text - m.name_len, (size_t)DLTRACED_ARGS_MAX));
	if (m.op == DLTRACED_OP_BEGIN) {
		live_begin(decode, &rec->hdr, &m);
		return;
	}
	if (m.op == DLTRACED_OP_END)
		live_end(decode, &rec->hdr, &m);
	row_put(decode, &rec->hdr, &m, false);
}
