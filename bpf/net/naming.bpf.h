/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What names the peer of a socket and is in clear for every library: the first bytes of a TLS connection (ClientHello,
 * RFC 8446, 4.1.2), and the answers of name servers. They are sent to the daemon, which reads the names.
 */
#ifndef NET_NAMING_BPF_H
#define NET_NAMING_BPF_H

#include "net/socket.bpf.h"

#define DNS_PORT 53
#define TLS_HANDSHAKE 22 /* the type of a record, RFC 8446, 5.1 */
#define TLS_CLIENT_HELLO 1 /* the type of its message */

struct tls_begin {
	__u8 type, version[2], len[2], message;
};

static __always_inline bool is_hello(__u64 buf)
{
	struct tls_begin begin = {};

	return !bpf_probe_read_user(&begin, sizeof(begin), (void *)buf) && begin.type == TLS_HANDSHAKE &&
	       begin.version[0] == 3 && begin.message == TLS_CLIENT_HELLO;
}

/* Sends the first of BYTES at BUF, as a record of KIND; a name that is lost is no row. */
static __noinline int naming_send(const struct dlt_file_id *id, __u64 buf, __u64 bytes, __u32 kind)
{
	void *ring = ring_here();
	struct dlt_socket_naming *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	__u32 len = bytes < DLT_NAMING_MAX ? bytes : DLT_NAMING_MAX;

	if (!rec)
		return 0;
	__builtin_memset(&rec->hdr, 0, sizeof(rec->hdr));
	rec->hdr.probe = DLT_sockets;
	rec->hdr.func = kind;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec->id = *id;
	rec->pad = 0;
	asm volatile("" : "+r"(len)); /* the verifier needs the bounds of what is passed */
	if (len > DLT_NAMING_MAX || bpf_probe_read_user(rec->data, len, (void *)buf))
		len = 0;
	rec->len = len;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/* A call has sent or received BYTES at BUF on ENTRY, the socket ID, whose sums do not have them yet. */
static __always_inline void naming_look(const struct dlt_socket *entry, const struct dlt_file_id *id, bool sends,
					__u64 buf, __u64 bytes)
{
	const struct dlt_sockets *row = &entry->row;

	if (!dlt_cfg.net_names || (row->family != AF_INET && row->family != AF_INET6))
		return;
	if (sends && row->type == SOCK_STREAM && !row->sent && bytes > sizeof(struct tls_begin) && is_hello(buf))
		naming_send(id, buf, bytes, DLT_SOCKET_HELLO);
	else if (!sends && row->type == SOCK_DGRAM && bytes &&
		 (row->peer.port == DNS_PORT || entry->queried.port == DNS_PORT))
		naming_send(id, buf, bytes, DLT_SOCKET_DNS);
}

#endif
