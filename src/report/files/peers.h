/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of net.out and sockets.out by peer: the remote address and port, the path of a Unix socket, or its process.
 * Bounded: peers without room are only in the sums of all.
 */
#ifndef REPORT_FILES_PEERS_H
#define REPORT_FILES_PEERS_H

#include "report/scan/scan.h"

struct report_part;

#define PEERS_MAX 4096
#define PEERS_SHOWN 20
#define PEER_NAME_MAX 320 /* an address, a port, and the longest name of a host */

struct report_peer {
	char name[PEER_NAME_MAX]; /* escaped as in sockets.out; "": all the others */
	char family[16];
	uint64_t sockets, connects, resent;
	uint64_t accepted; /* of the sockets: it is a client of theirs */
	uint64_t received, sent; /* bytes */
	uint64_t calls, again, failed, time_ns, max_ns;
	uint64_t connect_ns, connected; /* the connects that waited */
	uint64_t first_ns, answered; /* from the connect to the first byte */
};

struct report_peers {
	struct table sockets; /* by FID */
	struct table peers; /* by a hash of the name */
	struct report_peer all;
	struct report_peer row[PEERS_SHOWN + 1]; /* those with the most time in calls; the last is of all others */
	uint32_t n;
};

extern const struct report_part report_peers_part;

/* Returns the name of the peer of socket FID, once the files of sockets have been read; NULL: not known. */
const char *report_peer_of(const struct report_peers *peers, uint64_t fid);
/* Calls FN with the address of each peer whose host has a name, and what the peer is called with that. */
void report_peers_named(const struct report_peers *peers,
			void (*fn)(void *ctx, const char *address, size_t len, const char *name), void *ctx);
/* Whether the peer called NAME is one whose connections the job has accepted. */
bool report_peer_is_client(const struct report_peers *peers, const char *name);
/* Whether socket FID is known, and one of datagrams. */
bool report_peer_datagrams(const struct report_peers *peers, uint64_t fid);
/* Returns how often the job has sent on socket FID, and in *RECEIVES how often it has received something there. */
uint64_t report_peer_sends(const struct report_peers *peers, uint64_t fid, uint64_t *receives);
/* Whether the job has received something on socket FID behind AT_NS, or as often as it has sent. */
bool report_peer_answers_after(const struct report_peers *peers, uint64_t fid, uint64_t at_ns);

#endif
