/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on sockets. What a call has done is added to its thread's cell for the socket, which the daemon has sent each
 * interval (bpf/net/sockets.bpf.c). A connect, and a call of 1 ms, has a row of its own instead, as has a call for
 * which there is no cell: nothing is dropped, and no call is in both.
 */
#ifndef NET_BPF_H
#define NET_BPF_H

#include "net/naming.bpf.h"
#include "net/socket.bpf.h"

#include "dlt/net.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct dlt_net_key);
	__type(value, struct dlt_net_cell);
} dlt_net_cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct dlt_queried);
} dlt_queried SEC(".maps");

/* --- the socket ------------------------------------------------------------------------------------ */

/*
 * Notes the socket of the file that scratch has as WHERE_FILE, which is not known, for this thread's call. A global
 * function, as the others here that few calls need: verified once, not at each caller.
 */
__noinline int socket_begin(void)
{
	/* in scratch, behind what the name of a file takes: it is too large for the stack */
	struct scratch *s = scratch_get();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct task_struct *task = task_current();
	struct dlt_call *call = call_find(tid);
	struct dlt_socket *entry;
	struct file *file;

	if (!s || !call)
		return 0;
	file = KCAST(file, s->where_file);
	file_note(task, file, call, tid, &s->id);
	entry = (struct dlt_socket *)s->rec;
	__builtin_memset(entry, 0, sizeof(*entry));
	entry->socket = (__u64)BPF_CORE_READ(file, private_data);
	entry->inode = (__u64)BPF_CORE_READ(file, f_inode);
	entry->sock = load_u64(entry->socket + bpf_core_field_offset(struct socket, sk));
	entry->begin_ns = call->start_ns;
	entry->row.id = s->id;
	entry->row.connect_ns = entry->row.first_ns = DLT_NONE;
	entry->row.hdr.tgid = call->tgid;
	entry->row.hdr.tid = tid;
	comm_read(entry->row.hdr.comm, task);
	if (bpf_map_update_elem(&dlt_sockets, &s->id, entry, BPF_NOEXIST) && !bpf_map_lookup_elem(&dlt_sockets, &s->id))
		count_lost_room(DLT_sockets);
	return 0;
}

/* The addresses of the socket that scratch has the identity of are others than in its last row, or it has none yet. */
__noinline int socket_report(__u64 mark)
{
	struct scratch *s = scratch_get();
	struct dlt_socket *entry = s ? bpf_map_lookup_elem(&dlt_sockets, &s->id) : NULL;
	__u64 sock;

	if (!entry)
		return 0;
	sock = entry->sock;
	if (sock_is_over(&entry->row, sock)) {
		entry->mark = mark;
		return 0;
	}
	sock_fill(&entry->row, sock);
	entry->row.resent = sock_resent(sock);
	if (socket_send(entry, DLT_SOCKET_OPEN))
		entry->mark = mark;
	return 0;
}

/* FILE, which is a socket, has been used in this thread's call: ID is its identity. Returns NULL where there is no room
 * for it. */
static __always_inline struct dlt_socket *socket_note(struct file *file, struct dlt_file_id *id)
{
	struct dlt_socket *entry;
	struct scratch *s;
	__u64 mark;

	id_begin(KLOAD(file, f_inode), id);
	entry = bpf_map_lookup_elem(&dlt_sockets, id);
	if (!entry) {
		s = scratch_get();
		if (!s)
			return NULL;
		s->where_file = (__u64)file;
		socket_begin();
		/* by itself each, as id_begin() does: the verifier compares what is on the stack */
		id->ino = s->id.ino;
		id->dev = s->id.dev;
		id->gen = s->id.gen;
		entry = bpf_map_lookup_elem(&dlt_sockets, id);
	}
	if (!entry)
		return NULL;
	mark = sock_mark(entry->sock) | 1; /* 0: it has no row yet */
	s = mark != entry->mark ? scratch_get() : NULL;
	if (s) {
		s->id = *id;
		socket_report(mark);
	}
	return entry;
}

/* --- sums and rows ----------------------------------------------------------------------------------- */

/* What a call has done with a socket. */
struct net_use {
	struct dlt_net_key key;
	__u64 bytes, ns;
	__s64 ret;
};

static __always_inline bool use_failed(const struct net_use *use)
{
	return use->ret < 0 && use->ret != -EAGAIN && use->ret != -EINPROGRESS;
}

static __noinline int net_row(const struct net_use *use, const struct dlt_call *call, struct task_struct *task)
{
	struct dlt_net *rec = rec_reserve(DLT_net, sizeof(*rec), false);

	if (!rec)
		return 0;
	rec->id = use->key.id;
	rec->count = 1;
	rec->bytes = use->bytes;
	rec->again = use->ret == -EAGAIN;
	rec->failed = use_failed(use);
	rec->ret = use->ret;
	rec->call = use->key.call;
	rec->dir = use->key.dir;
	hdr_fill(&rec->hdr, call, task, use->key.tid, sizeof(*rec));
	rec->hdr.probe = DLT_net;
	rec->hdr.func = 0;
	rec->ns = rec->max_ns = rec->hdr.lat_ns;
	rec_submit(rec, DLT_net);
	return 0;
}

static __noinline struct dlt_net_cell *cell_make(const struct dlt_net_key *key, const struct dlt_call *call)
{
	struct dlt_net_cell cell = { .tgid = call->tgid, .sent_at_ns = call->start_ns };

	bpf_map_update_elem(&dlt_net_cells, key, &cell, BPF_NOEXIST);
	return bpf_map_lookup_elem(&dlt_net_cells, key);
}

static __always_inline void cell_add(volatile struct dlt_net_cell *cell, const struct net_use *use,
				     struct task_struct *task)
{
	if (use->ns > cell->max_ns || cell->count == cell->sent_count)
		cell->max_ns = use->ns;
	comm_read((char *)cell->comm, task);
	cell->bytes += use->bytes;
	cell->again += use->ret == -EAGAIN;
	cell->failed += use_failed(use);
	cell->ns += use->ns;
	cell->count++; /* last: the sender looks at it first */
}

/* Whether sums are sent: not where the kernel has refused the programs that do that. */
static __always_inline bool net_sums(void)
{
	struct dlt_shared *sh = shared();

	return sh && sh->net_sums;
}

static __always_inline void net_count(const struct net_use *use, const struct dlt_call *call, struct task_struct *task,
				      bool single)
{
	struct dlt_stats *st = stats_of(DLT_net);
	struct dlt_net_cell *cell = NULL;

	if (!st)
		return;
	/* the dispatcher has counted another probe's call, or none */
	if (call->probe != DLT_net || call->flags & DLT_CALL_NO_ROW)
		st->seen++;
	if (!single && !dlt_cfg.net_rows && use->ns < DLT_NET_ROW_NS && net_sums()) {
		cell = bpf_map_lookup_elem(&dlt_net_cells, &use->key);
		if (!cell)
			cell = cell_make(&use->key, call);
	}
	if (!cell) {
		net_row(use, call, task);
		return;
	}
	cell_add(cell, use, task);
	st->emitted++;
}

/* Reads the address at ADDR that was passed for a socket of FAMILY, which is inet or inet6, into PEER. */
static __always_inline void peer_read(struct dlt_peer *peer, __u64 addr, __u32 family)
{
	struct sockaddr_in6 passed = {};

	if (bpf_probe_read_user(&passed, family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(passed), (void *)addr))
		return;
	peer->family = family;
	peer->port = __builtin_bswap16(passed.sin6_port); /* at the same place in both */
	if (family == AF_INET)
		*(__u32 *)peer->addr = passed.sin6_flowinfo; /* sin_addr */
	else
		__builtin_memcpy(peer->addr, &passed.sin6_addr, sizeof(peer->addr));
}

/* A datagram was sent on ENTRY in CALL. */
static __noinline int socket_queries(struct dlt_socket *entry, const struct dlt_call *call)
{
	struct dlt_queried queried = { .id = entry->row.id, .fd = call->args[0] };
	const struct sock *sk = (void *)entry->sock;
	__u32 family = entry->row.family, tid = call->tid;

	bpf_map_update_elem(&dlt_queried, &tid, &queried, BPF_ANY);
	if (call->shape & DLT_NET_TO_4 && call->probe == DLT_net && call->args[4] &&
	    (family == AF_INET || family == AF_INET6) && !BPF_CORE_READ(sk, __sk_common.skc_dport))
		peer_read(&entry->queried, call->args[4], family);
	return 0;
}

static __always_inline bool peer_is(const struct dlt_peer *one, const struct dlt_peer *other)
{
	const __u64 *a = (const __u64 *)one->addr, *b = (const __u64 *)other->addr;

	return a[0] == b[0] && a[1] == b[1] && one->port == other->port;
}

/* A call has waited in vain for an answer on ENTRY: its peer is the one that was sent to, if it has no other. */
static __noinline int socket_unanswered(struct dlt_socket *entry)
{
	if (!entry->queried.port || peer_is(&entry->row.peer, &entry->queried))
		return 0;
	entry->row.peer = entry->queried;
	socket_send(entry, DLT_SOCKET_OPEN);
	return 0;
}

static __always_inline void socket_moved(struct dlt_socket *entry, const struct net_use *use,
					 const struct dlt_call *call, __u64 now)
{
	bool datagram = entry->row.type == SOCK_DGRAM;

	if (use->key.dir == DLT_NET_W) {
		__sync_fetch_and_add(&entry->row.sent, use->bytes);
		if (use->ret < 0)
			return;
		entry->unanswered = 1;
		if (datagram)
			socket_queries(entry, call);
		return;
	}
	if (use->key.dir != DLT_NET_R)
		return;
	if (use->ret >= 0)
		entry->unanswered = 0;
	else if (datagram && entry->unanswered && use->ret == -EAGAIN && use->ns >= DLT_NET_ROW_NS)
		socket_unanswered(entry);
	if (use->bytes && entry->connect_at_ns && entry->row.first_ns == DLT_NONE)
		entry->row.first_ns = now - entry->connect_at_ns;
	__sync_fetch_and_add(&entry->row.received, use->bytes);
}

/*
 * This thread's call is ending: it has used descriptor FD, in direction HOW, to move BYTES, and returns RET. HOW may
 * have DLT_NET_BUFFER. A global function: verified once, not at each caller.
 */
__noinline int net_used(__u64 fd, __u32 how, __u64 bytes, __s64 ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct task_struct *task = task_current();
	struct dlt_call *call = call_find(tid);
	struct dlt_socket *entry = NULL;
	struct net_use use = {};
	struct file *file;
	__u64 now;

	if (!call)
		return 0;
	use.key.tid = tid;
	use.key.call = call->nr;
	use.key.dir = how & ~DLT_NET_BUFFER;
	use.bytes = bytes;
	use.ret = ret;
	now = bpf_ktime_get_ns();
	use.ns = now - call->start_ns;
	file = file_of_fd(task, fd);
	if (file && file_is_socket(file))
		entry = socket_note(file, &use.key.id);
	if (entry && how & DLT_NET_BUFFER)
		naming_look(entry, &use.key.id, use.key.dir == DLT_NET_W, call->args[1], bytes);
	if (entry)
		socket_moved(entry, &use, call, now);
	net_count(&use, call, task, false);
	return 0;
}

#endif
