/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on sockets, added up by thread, socket and call (bpf/net/net.bpf.h), and the record that carries them. */
#ifndef DLT_NET_H
#define DLT_NET_H

#include "dlt/dlt.h"

/* dlt_callinfo.shape: bits */
#define DLT_NET_SENDS 1 /* else receives */
#define DLT_NET_FLAGS_3 2 /* its flags are the fourth argument, else the third */
#define DLT_NET_TO_4 4 /* the address that it sends to is its fifth argument */
#define DLT_NET_BUFFER 8 /* its second argument is the data; also a flag of net_used() */
#define DLT_NET_MANY 16 /* it sends or receives a list of messages */
#define DLT_NET_ACCEPTS 32
#define DLT_NET_CONNECTS 64
#define DLT_NET_SOCKOPT 128 /* getsockopt(2) */

#define DLT_NET_ROW_NS 1000000 /* a call of this time has a row of its own */
#define DLT_NET_MESSAGES_MAX 1024 /* UIO_MAXIOV, linux/uio.h: the kernel takes no more in a call */

enum dlt_net_dir {
	DLT_NET_NEITHER, /* connect, accept */
	DLT_NET_R,
	DLT_NET_W,
};

/* COUNT calls: those of a cell since it was sent last, or a single one, whose result is RET. */
struct dlt_net {
	struct dlt_hdr hdr; /* lat_ns: the time that the row covers */
	struct dlt_file_id id; /* of the socket */
	__s64 count;
	__s64 bytes;
	__s64 again; /* failed with EAGAIN: nothing to receive, or no room to send */
	__s64 failed; /* otherwise */
	__s64 ns;
	__s64 max_ns;
	__s64 ret; /* DLT_NONE: of several */
	__u32 call; /* its number */
	__u32 dir; /* enum dlt_net_dir */
};

/* A thread's calls of one number and direction on a socket. The thread alone adds, so there is no atomic operation. */
struct dlt_net_key {
	struct dlt_file_id id;
	__u32 tid;
	__u16 call;
	__u16 dir;
};
struct dlt_net_cell {
	__u64 count, bytes, again, failed, ns;
	__u64 max_ns; /* of what has not been sent */
	__u32 tgid;
	__u32 pad;
	char comm[DLT_COMM_LEN];
	/* written by the program that sends: */
	__u64 sent_count, sent_bytes, sent_again, sent_failed, sent_ns;
	__u64 sent_at_ns;
};
#define DLT_NET_CELLS 16384 /* with their buckets 3 MiB */

DLT_ASSERT_SIZE(dlt_net, 128);
DLT_ASSERT_SIZE(dlt_net_key, 24);
DLT_ASSERT_SIZE(dlt_net_cell, 120);

#endif
