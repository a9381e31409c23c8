/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of the hosts in sockets.out (PEER_HOST): that which a socket's ClientHello has, else the last one for which
 * a name server has answered the job with the peer's address. Bounded. Drain thread.
 */
#ifndef DRAIN_ROWS_HOSTS_H
#define DRAIN_ROWS_HOSTS_H

struct decode;
struct dlt_hdr;
struct drain_stage;

/* A record for DLT_sockets: a socket, which becomes a row, or what names a peer. */
void hosts_take(struct decode *d, const struct dlt_hdr *rec);

extern const struct drain_stage hosts_stage;

#endif
