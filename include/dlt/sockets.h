/* SPDX-License-Identifier: BSD-2-Clause */
/* The sockets that the target's calls have used: bpf/net/socket.bpf.h notes and sends them. */
#ifndef DLT_SOCKETS_H
#define DLT_SOCKETS_H

#include "dlt/dlt.h"

enum dlt_socket_state {
	DLT_SOCKET_OPEN,
	DLT_SOCKET_CLOSED, /* by the last process that had it */
};

/* dlt_hdr.func of the records for DLT_sockets */
enum dlt_socket_record {
	DLT_SOCKET_ROW, /* struct dlt_sockets */
	DLT_SOCKET_HELLO, /* struct dlt_socket_naming: the first bytes sent, which are a TLS ClientHello's */
	DLT_SOCKET_DNS, /* the same: an answer of a name server */
};

#define DLT_UNIX_PATH 108 /* linux/un.h: UNIX_PATH_MAX */

/* A socket as of the row's time, and what the target's calls have moved until then. */
struct dlt_sockets {
	struct dlt_hdr hdr; /* of the thread that used it first; lat_ns: since then */
	struct dlt_file_id id;
	struct dlt_peer local, peer;
	__u32 family, type, protocol;
	__u32 state; /* enum dlt_socket_state */
	__s32 peer_tgid; /* of AF_UNIX; DLT_NONE32: not known */
	char path[DLT_UNIX_PATH]; /* of AF_UNIX: its own, or the one that it is connected to */
	__s64 received, sent;
	__s64 connect_ns; /* DLT_NONE: no connect that waited was seen */
	__s64 first_ns; /* from the begin of connect to the first byte received; DLT_NONE: likewise */
	__s64 resent; /* segments that TCP has sent again; DLT_NONE: no TCP */
	struct dlt_segs segs; /* 0: the name of the peer's host, which drain/rows/hosts.c adds */
};

/*
 * What names a peer, for drain/rows/hosts.c alone: no byte of it is written anywhere but the names in it. As large as
 * a UDP message of DNS (RFC 1035, 4.2.1); the name of a ClientHello is among its first bytes, too.
 */
#define DLT_NAMING_MAX 512
struct dlt_socket_naming {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__u32 len, pad;
	__u8 data[DLT_NAMING_MAX];
};

/* A socket that is known, with its row as it was sent last; later ones differ in what has been moved. */
struct dlt_socket {
	__u64 socket, inode, sock; /* the kernel's objects: struct socket, inode, sock */
	__u64 mark; /* stands for the addresses in the row */
	__u64 begin_ns;
	__u64 connect_at_ns; /* begin of the connect; 0: none was seen */
	__u32 unanswered; /* something was sent, and nothing has come since */
	struct dlt_peer queried; /* where the last one went that was sent without a connect */
	struct dlt_sockets row;
};
#define DLT_SOCKETS_MAX 8192 /* with their buckets 2.7 MiB */

/* The last socket on which a thread has sent a datagram: it may wait for the answer in a call on several descriptors.
 */
struct dlt_queried {
	struct dlt_file_id id;
	__u32 fd, pad;
};
#define DLT_QUERIED_MAX 4096 /* threads; of more, those that queried last; with their buckets 0.4 MiB */

DLT_ASSERT_SIZE(dlt_sockets, 280);
DLT_ASSERT_SIZE(dlt_socket, 352);
DLT_ASSERT_SIZE(dlt_queried, 24);

#endif
