/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/peers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/part.h"
#include "stats/top.h"

#define SOCKETS_MAX (1U << 18)
#define PORTS 65536U
#define HOST_BEGIN " (" /* between a peer's address and its host's name */

/* A socket: the peer that it belongs to, and what its last row says. */
struct peer_socket {
	uint64_t peer; /* a hash of its name; 0: no row of it was read */
	uint64_t connect_ns, first_ns, resent;
	uint64_t sends, receives; /* calls that moved bytes */
	uint64_t received_from_ns, received_ns; /* the time that the last row of such receives covers */
	uint32_t port; /* its own; 0: none is known */
	bool has_connect, has_first, datagrams, has_peer;
};

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_peers *peers = r->peers = calloc(1, sizeof(*peers));

	if (!peers)
		return -ENOMEM;
	table_init(&peers->sockets, sizeof(struct peer_socket), SOCKETS_MAX);
	table_init(&peers->peers, sizeof(struct report_peer), PEERS_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	if (!r->peers)
		return;
	table_free(&r->peers->sockets);
	table_free(&r->peers->peers);
	free(r->peers);
}

/* --- sockets ---------------------------------------------------------------------------------------------- */

static bool is_empty(struct reader_field f)
{
	return f.len == 0 || (f.len == 1 && *f.p == '-');
}

/* Puts what the row's peer is called into NAME: its address, with the host's name, its path, or its process. */
static void peer_name(const struct scan *s, char name[PEER_NAME_MAX])
{
	struct reader_field address = scan_field(s, COL_PEER), path = scan_field(s, COL_PATH);
	struct reader_field local = scan_field(s, COL_LOCAL), pid = scan_field(s, COL_PEER_PID);
	struct reader_field host = scan_field(s, COL_PEER_HOST);

	if (!is_empty(address) && !is_empty(host))
		snprintf(name, PEER_NAME_MAX, "%.*s" HOST_BEGIN "%.*s)", (int)address.len, address.p, (int)host.len,
			 host.p);
	else if (!is_empty(address))
		snprintf(name, PEER_NAME_MAX, "%.*s", (int)address.len, address.p);
	else if (!is_empty(path))
		snprintf(name, PEER_NAME_MAX, "%.*s", (int)path.len, path.p);
	else if (!is_empty(pid))
		snprintf(name, PEER_NAME_MAX, "process %.*s", (int)pid.len, pid.p);
	else if (!is_empty(local))
		snprintf(name, PEER_NAME_MAX, "any, at %.*s", (int)local.len, local.p);
	else
		snprintf(name, PEER_NAME_MAX, "-");
}

/* FNV-1a; never 0. */
static uint64_t hash_of(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
	return hash ?: 1;
}

/* Returns the port of "ADDRESS:PORT"; 0: there is none. */
static uint32_t port_of(struct reader_field address)
{
	uint32_t port = 0;
	size_t at = address.len;

	while (at && address.p[at - 1] >= '0' && address.p[at - 1] <= '9')
		at--;
	if (!at || address.p[at - 1] != ':')
		return 0;
	for (; at < address.len && port < PORTS; at++)
		port = 10 * port + (uint32_t)(address.p[at] - '0');
	return port < PORTS ? port : 0;
}

/* A later row of a socket has more: its peer is that of the last one. */
static bool take_socket(struct scan *scan, void *own)
{
	struct report_peers *peers = own;
	struct reader_field family = scan_field(scan, COL_FAMILY);
	char name[PEER_NAME_MAX];
	struct peer_socket *socket;
	struct report_peer *peer;
	uint64_t fid;

	if (!scan_u64(scan, COL_FID, &fid))
		return false;
	socket = table_get(&peers->sockets, fid);
	if (!socket)
		return true;
	peer_name(scan, name);
	socket->peer = hash_of(name);
	socket->has_connect = scan_u64(scan, COL_CONNECT_NS, &socket->connect_ns);
	socket->has_first = scan_u64(scan, COL_FIRST_NS, &socket->first_ns);
	socket->resent = scan_number(scan, COL_RESENT);
	socket->datagrams = scan_is(scan, COL_TYPE, "dgram");
	socket->port = port_of(scan_field(scan, COL_LOCAL));
	socket->has_peer = !is_empty(scan_field(scan, COL_PEER));
	peer = table_get(&peers->peers, socket->peer);
	if (peer && !*peer->name) {
		snprintf(peer->name, sizeof(peer->name), "%s", name);
		snprintf(peer->family, sizeof(peer->family), "%.*s", (int)family.len, family.p);
	}
	return true;
}

static void socket_add(struct report_peer *peer, const struct peer_socket *socket)
{
	peer->sockets++;
	peer->resent += socket->resent;
	if (socket->has_connect) {
		peer->connected++;
		peer->connect_ns += socket->connect_ns;
	}
	if (socket->has_first) {
		peer->answered++;
		peer->first_ns += socket->first_ns;
	}
}

static struct report_peer *peer_of(struct report_peers *peers, const struct peer_socket *socket)
{
	return socket ? table_find(&peers->peers, socket->peer) : NULL;
}

const char *report_peer_of(const struct report_peers *peers, uint64_t fid)
{
	const struct peer_socket *socket = table_find(&peers->sockets, fid);
	const struct report_peer *peer = socket ? table_find(&peers->peers, socket->peer) : NULL;

	return peer && *peer->name ? peer->name : NULL;
}

void report_peers_named(const struct report_peers *peers,
			void (*fn)(void *ctx, const char *address, size_t len, const char *name), void *ctx)
{
	for (uint32_t i = 0; i < peers->peers.n; i++) {
		const struct report_peer *peer = table_at(&peers->peers, i);
		const char *host = strstr(peer->name, HOST_BEGIN);

		if (host)
			fn(ctx, peer->name, (size_t)(host - peer->name), peer->name);
	}
}

bool report_peer_is_client(const struct report_peers *peers, const char *name)
{
	const struct report_peer *peer = peers ? table_find(&peers->peers, hash_of(name)) : NULL;

	return peer && peer->accepted > 0;
}

bool report_peer_datagrams(const struct report_peers *peers, uint64_t fid)
{
	const struct peer_socket *socket = table_find(&peers->sockets, fid);

	return socket && socket->datagrams;
}

uint64_t report_peer_sends(const struct report_peers *peers, uint64_t fid, uint64_t *receives)
{
	const struct peer_socket *socket = table_find(&peers->sockets, fid);

	*receives = socket ? socket->receives : 0;
	return socket ? socket->sends : 0;
}

/* A row of sums covers a time: only one that begins behind AT_NS is surely of calls behind it. */
bool report_peer_answers_after(const struct report_peers *peers, uint64_t fid, uint64_t at_ns)
{
	const struct peer_socket *socket = table_find(&peers->sockets, fid);

	if (!socket || !socket->receives)
		return false;
	return socket->received_from_ns >= at_ns || (socket->received_ns >= at_ns && socket->receives >= socket->sends);
}

/* --- calls ------------------------------------------------------------------------------------------------ */

static void calls_add(struct report_peer *peer, const struct scan *s)
{
	const uint64_t bytes = scan_number(s, COL_BYTES);

	if (scan_is(s, COL_RW, "R"))
		peer->received += bytes;
	else if (scan_is(s, COL_RW, "W"))
		peer->sent += bytes;
	peer->calls += scan_number(s, COL_COUNT);
	peer->again += scan_number(s, COL_AGAIN);
	peer->failed += scan_number(s, COL_FAILED);
	peer->time_ns += scan_number(s, COL_TIME_NS);
	peer->max_ns = MAX(peer->max_ns, scan_number(s, COL_MAX_NS));
	peer->connects += scan_is(s, COL_CALL, "connect");
}

/* Returns how many calls of the row have moved nothing. */
static uint64_t failed_calls(const struct scan *scan)
{
	return MIN(scan_number(scan, COL_AGAIN) + scan_number(scan, COL_FAILED), scan_number(scan, COL_COUNT));
}

static void take_receives(struct peer_socket *socket, const struct scan *scan)
{
	socket->receives += scan_number(scan, COL_COUNT) - failed_calls(scan);
	socket->received_ns = scan->time_ns;
	socket->received_from_ns = scan->time_ns - MIN(scan_number(scan, COL_SPAN_NS), scan->time_ns);
}

static bool take_calls(struct scan *scan, void *own)
{
	struct report_peers *peers = own;
	struct peer_socket *socket;
	struct report_peer *peer;
	uint64_t fid = 0;

	scan_u64(scan, COL_FID, &fid);
	socket = table_find(&peers->sockets, fid);
	peer = peer_of(peers, socket);
	calls_add(&peers->all, scan);
	if (peer)
		calls_add(peer, scan);
	if (socket && scan_is(scan, COL_RW, "W"))
		socket->sends += scan_number(scan, COL_COUNT) - failed_calls(scan);
	else if (socket && scan_is(scan, COL_RW, "R") && scan_number(scan, COL_BYTES))
		take_receives(socket, scan);
	return true;
}

/* A stream that has no peer, and a port, listens there: others with this port are those that it has accepted. */
static void find_clients(struct report_peers *peers)
{
	autofree bool *listens = calloc(PORTS, sizeof(*listens));

	for (uint32_t i = 0; listens && i < peers->sockets.n; i++) {
		const struct peer_socket *socket = table_at(&peers->sockets, i);

		listens[socket->port] |= !socket->has_peer && !socket->datagrams;
	}
	for (uint32_t i = 0; listens && i < peers->sockets.n; i++) {
		const struct peer_socket *socket = table_at(&peers->sockets, i);
		struct report_peer *peer = peer_of(peers, socket);

		if (peer && socket->has_peer && !socket->datagrams && socket->port && listens[socket->port])
			peer->accepted++;
	}
}

static void part_read(struct report *r)
{
	struct report_peers *peers = r->peers;
	struct scan_taker sockets = { .take = take_socket, .own = peers };
	struct scan_taker calls = { .take = take_calls, .own = peers };

	scan_walk(r->folder, "sockets", &sockets);
	for (uint32_t i = 0; i < peers->sockets.n; i++) {
		const struct peer_socket *socket = table_at(&peers->sockets, i);
		struct report_peer *peer = peer_of(peers, socket);

		socket_add(&peers->all, socket);
		if (peer)
			socket_add(peer, socket);
	}
	find_clients(peers);
	scan_walk(r->folder, "net", &calls);
}

/* --- what is shown ---------------------------------------------------------------------------------------- */

static void peer_less(struct report_peer *rest, const struct report_peer *peer)
{
	rest->sockets -= peer->sockets;
	rest->connects -= peer->connects;
	rest->resent -= peer->resent;
	rest->received -= peer->received;
	rest->sent -= peer->sent;
	rest->calls -= peer->calls;
	rest->again -= peer->again;
	rest->failed -= peer->failed;
	rest->time_ns -= peer->time_ns;
	rest->connect_ns -= peer->connect_ns;
	rest->connected -= peer->connected;
	rest->first_ns -= peer->first_ns;
	rest->answered -= peer->answered;
}

static void part_end(struct report *r)
{
	struct report_peers *peers = r->peers;
	struct report_peer rest = peers->all;

	for (uint32_t i = 0; i < peers->peers.n; i++) {
		const struct report_peer *peer = table_at(&peers->peers, i);
		struct report_peer *at;

		if (!peer->sockets) /* its sockets have got another peer since */
			continue;
		at = TOP_PLACE(peers->row, peers->n, PEERS_SHOWN, e, e->time_ns, peer->time_ns);
		if (at)
			*at = *peer;
	}
	for (uint32_t i = 0; i < peers->n; i++)
		peer_less(&rest, &peers->row[i]);
	rest.max_ns = 0; /* not known */
	if (rest.calls || rest.sockets)
		peers->row[peers->n++] = rest;
}

const struct report_part report_peers_part = {
	.new = part_new,
	.read = part_read,
	.end = part_end,
	.free = part_free,
};
