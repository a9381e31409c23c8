/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the network, by peer, of a struct report. */
#include "report/files/peers.h"
#include "report/show/tables/tables.h"

#define GET(name) VIEW_GET(name, struct report, r, struct report_peer, v)

GET(name)
{
	cell->text = *v->name ? v->name : "(others)";
}

GET(family)
{
	cell->known = *v->family;
	cell->text = v->family;
}

/* Of those connects that waited, and that got an answer. */
GET(connect_mean)
{
	cell->known = v->connected;
	cell->n = v->connected ? v->connect_ns / v->connected : 0;
}

GET(first_mean)
{
	cell->known = v->answered;
	cell->n = v->answered ? v->first_ns / v->answered : 0;
}

#define AT(member) VIEW_AT(struct report_peer, member)

static const struct view_column columns[] = {
	{ "time_ns", "IN CALLS", VIEW_NS, 10, 0, AT(time_ns), .what = "in calls on its sockets, of all threads" },
	{ "max_ns", "LONGEST", VIEW_NS, 9, 0, AT(max_ns), VIEW_KNOWN(struct report_peer, max_ns) },
	{ "calls", "CALLS", VIEW_COUNT, 8, 0, AT(calls) },
	{ "received_bytes", "RECEIVED", VIEW_BYTES, 10, VIEW_DASH, AT(received) },
	{ "sent_bytes", "SENT", VIEW_BYTES, 10, VIEW_DASH, AT(sent) },
	{ "sockets", "SOCKETS", VIEW_COUNT, 8, 0, AT(sockets) },
	{ "connects", "CONNECTS", VIEW_COUNT, 9, VIEW_DASH, AT(connects) },
	{ "connect_ns", "EACH", VIEW_NS, 9, .get = connect_mean, .what = "a connect that waited, on average" },
	{ "first_ns", "TO FIRST", VIEW_NS, 9, .get = first_mean,
	  .what = "from the begin of a connect to the first byte received, on average" },
	{ "again", "AGAIN", VIEW_COUNT, 7, VIEW_DASH, AT(again), .what = "calls that found nothing there, or no room" },
	{ "failed", "FAILED", VIEW_COUNT, 7, VIEW_DASH, AT(failed) },
	{ "resent", "RESENT", VIEW_COUNT, 7, VIEW_DASH, AT(resent), .what = "segments that TCP has sent again" },
	{ "family", NULL, VIEW_TEXT, 0, 0, .get = family },
	{ "peer", "PEER", VIEW_TEXT, 0, 0, .get = name, .what = "address and port, path or process at the other end" },
	{ 0 },
};

const struct view view_network = {
	.key = "network",
	.title = "Network by peer",
	.note = "EACH: a connect that waited; TO FIRST: from the begin of a connect to the first byte",
	.what = "twenty of the peers of net.out, by time in calls, and the others as one",
	.columns = columns,
	VIEW_BEHIND(struct report, peers),
	VIEW_ARRAY(struct report_peers, row, n),
};
