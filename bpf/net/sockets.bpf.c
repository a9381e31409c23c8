/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs that the daemon runs each interval: one sends what a thread's calls on a socket have added, the other
 * looks whether a socket is still there. */
#include "net/net.bpf.h"

/* Set when the trace ends: what finds no room in a ring now is lost, as no later round sends it. */
volatile __u32 ended;

/* The identity in a program's first two arguments. */
static __always_inline struct dlt_file_id id_passed(const struct bpf_raw_tracepoint_args *ctx)
{
	__u64 dev_gen = ctx->args[1];

	return (struct dlt_file_id){ .ino = ctx->args[0], .dev = (__u32)dev_gen, .gen = dev_gen >> 32 };
}

/* COUNT calls, which counted as sent when they were added, are in no row. */
static __always_inline void count_unsent(__u64 count)
{
	struct dlt_stats *st = stats_of(DLT_net);

	if (!st)
		return;
	__sync_fetch_and_add(&st->emitted, -count);
	__sync_fetch_and_add(&st->lost, count);
}

static __always_inline void net_fill(struct dlt_net *rec, const struct dlt_net_key *key,
				     volatile struct dlt_net_cell *cell, __u64 count)
{
	__u64 bytes = cell->bytes, again = cell->again, failed = cell->failed, ns = cell->ns;

	rec->hdr.tgid = cell->tgid;
	rec->hdr.tid = key->tid;
	*(__u64 *)rec->hdr.comm = *(volatile __u64 *)cell->comm;
	*(__u64 *)(rec->hdr.comm + 8) = *(volatile __u64 *)(cell->comm + 8);
	rec->hdr.probe = DLT_net;
	rec->hdr.func = 0;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns(); /* after the reserve, as everywhere */
	rec->hdr.lat_ns = rec->hdr.ts_ns - cell->sent_at_ns;
	rec->id = key->id;
	rec->count = count - cell->sent_count;
	rec->bytes = bytes - cell->sent_bytes;
	rec->again = again - cell->sent_again;
	rec->failed = failed - cell->sent_failed;
	rec->ns = ns - cell->sent_ns;
	rec->max_ns = cell->max_ns;
	rec->ret = DLT_NONE;
	rec->call = key->call;
	rec->dir = key->dir;
	cell->sent_bytes = bytes;
	cell->sent_again = again;
	cell->sent_failed = failed;
	cell->sent_ns = ns;
	cell->sent_at_ns = rec->hdr.ts_ns;
	cell->sent_count = count;
}

/* A cell of which all has been sent, and to which nothing will be added: its thread has ended, or its socket. */
static __always_inline bool cell_is_over(const struct dlt_net_key *key, bool thread_ended)
{
	return thread_ended || (key->id.ino && !bpf_map_lookup_elem(&dlt_sockets, &key->id));
}

/* ARGS: the socket's identity; the thread, call << 32 and direction << 48; whether the thread has ended. */
SEC("raw_tp")
int net_send(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 rest = ctx->args[2];
	struct dlt_net_key key = { id_passed(ctx), (__u32)rest, (__u16)(rest >> 32), (__u16)(rest >> 48) };
	volatile struct dlt_net_cell *cell = bpf_map_lookup_elem(&dlt_net_cells, &key);
	__u64 count = cell ? cell->count : 0;
	struct dlt_net *rec;
	void *ring;

	if (!cell)
		return 0;
	if (count == cell->sent_count) {
		if (cell_is_over(&key, ctx->args[3]))
			bpf_map_delete_elem(&dlt_net_cells, &key);
		return 0;
	}
	ring = ring_here();
	rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;
	if (!rec) {
		if (ended)
			count_unsent(count - cell->sent_count);
		return 0;
	}
	net_fill(rec, &key, cell, count);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Whether ENTRY's socket is still open: the memory of a socket that has gone is another's, or has lost its struct sock.
 * It may be read in any case.
 */
static __always_inline bool is_open(const struct dlt_socket *entry)
{
	struct inode *inode = KCAST(inode, entry->inode);

	if ((KLOAD(inode, i_mode) & MODE_FMT) != MODE_SOCK || inode_ino(inode) != entry->row.id.ino)
		return false;
	return load_u64(entry->socket + bpf_core_field_offset(struct socket, sk)) == entry->sock &&
	       load_u64(entry->socket + bpf_core_field_offset(struct socket, file));
}

/* ARGS: a socket's identity. Sends it if it has been closed, or the trace ends. */
SEC("raw_tp")
int socket_look(struct bpf_raw_tracepoint_args *ctx)
{
	struct dlt_file_id id = id_passed(ctx);
	struct dlt_socket *entry = bpf_map_lookup_elem(&dlt_sockets, &id);
	__s64 resent;
	bool open;

	if (!entry)
		return 0;
	resent = sock_resent(entry->sock);
	open = is_open(entry); /* after the look, which is void if it has gone meanwhile */
	if (open)
		entry->row.resent = resent;
	if (open && !ended)
		return 0;
	if (socket_send(entry, open ? DLT_SOCKET_OPEN : DLT_SOCKET_CLOSED))
		bpf_map_delete_elem(&dlt_sockets, &id);
	else if (ended)
		count_socket(false);
	return 0;
}
