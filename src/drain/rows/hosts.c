/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "dlt/sockets.h"
#include "drain/rows/decode.h"
#include "drain/rows/naming.h"
#include "drain/rows/stage.h"
#include "stats/table.h"
#include "trace/probe.h"

#define ADDRESSES_MAX 16 /* of an answer */

struct host {
	char name[NAMING_HOST_MAX];
};

struct hosts {
	struct table by_socket, by_address; /* struct host, by a hash */
};

static uint64_t socket_key(const struct dlt_file_id *id)
{
	return table_key((const char *)id, sizeof(*id));
}

static uint64_t address_key(const struct dlt_peer *peer)
{
	return table_key_more(table_key((const char *)&peer->family, sizeof(peer->family)), (const char *)peer->addr,
			      sizeof(peer->addr));
}

/* A table that is full begins anew: old names are worth the least. */
static void learn(struct table *table, uint64_t key, const char *name)
{
	struct host *host = table_get(table, key);

	if (!host && table->n) {
		const uint32_t max = table->max;

		table_free(table);
		table_init(table, sizeof(struct host), max);
		host = table_get(table, key);
	}
	if (host)
		snprintf(host->name, sizeof(host->name), "%s", name);
}

static void hear(struct hosts *hosts, const struct dlt_socket_naming *naming)
{
	const size_t len = MIN((size_t)naming->len, sizeof(naming->data));
	struct dlt_peer addresses[ADDRESSES_MAX];
	char name[NAMING_HOST_MAX];
	size_t n;

	if (naming->hdr.func == DLT_SOCKET_HELLO) {
		if (naming_hello(naming->data, len, name))
			learn(&hosts->by_socket, socket_key(&naming->id), name);
		return;
	}
	n = naming_dns(naming->data, len, name, addresses, ADDRESSES_MAX);
	for (size_t i = 0; i < n; i++)
		learn(&hosts->by_address, address_key(&addresses[i]), name);
}

static const struct host *host_of(const struct hosts *hosts, const struct dlt_sockets *row)
{
	const struct host *host = table_find(&hosts->by_socket, socket_key(&row->id));

	return host || !row->peer.family ? host : table_find(&hosts->by_address, address_key(&row->peer));
}

static void put_row(struct decode *d, const struct hosts *hosts, const struct dlt_sockets *socket)
{
	const struct host *host = hosts ? host_of(hosts, socket) : NULL;
	struct {
		struct dlt_sockets rec;
		char name[NAMING_HOST_MAX];
	} row; /* only as much of it as is used */

	row.rec = *socket;
	row.rec.hdr.size = sizeof(row.rec);
	row.rec.segs = (struct dlt_segs){};
	if (host) {
		row.rec.segs.len[0] = (uint16_t)(strlen(host->name) + 1);
		memcpy(row.name, host->name, row.rec.segs.len[0]);
		row.rec.hdr.size += row.rec.segs.len[0];
	}
	decode_file_used(d, &row.rec.hdr, &row.rec.id);
	decode_row(d, DLT_sockets, &row.rec.hdr);
}

void hosts_take(struct decode *d, const struct dlt_hdr *hdr)
{
	struct hosts *hosts = d->state[DLT_sockets];

	if (hdr->func == DLT_SOCKET_ROW) {
		put_row(d, hosts, (const struct dlt_sockets *)hdr);
		return;
	}
	d->counts[DLT_sockets].records--; /* no row */
	if (hosts && hdr->size >= sizeof(struct dlt_socket_naming))
		hear(hosts, (const struct dlt_socket_naming *)hdr);
}

static int hosts_open(struct decode *d)
{
	struct hosts *hosts = calloc(1, sizeof(*hosts));

	if (!hosts)
		return -ENOMEM;
	table_init(&hosts->by_socket, sizeof(struct host), DLT_SOCKETS_MAX);
	table_init(&hosts->by_address, sizeof(struct host), DLT_SOCKETS_MAX);
	d->state[DLT_sockets] = hosts;
	return 0;
}

static void hosts_free(void *state)
{
	struct hosts *hosts = state;

	if (!hosts)
		return;
	table_free(&hosts->by_socket);
	table_free(&hosts->by_address);
	free(hosts);
}

const struct drain_stage hosts_stage = {
	.probe = DLT_sockets,
	.open = hosts_open,
	.free = hosts_free,
};
