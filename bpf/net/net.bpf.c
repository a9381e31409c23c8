/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that are of sockets alone. Those of files, read to splice, count here from vfs_rw.bpf.c. */
#include "net/net.bpf.h"

#define MSG_PEEK 2 /* linux/socket.h */
#define SOL_SOCKET 1 /* asm-generic/socket.h */
#define SO_ERROR 4
#define POLLIN 1 /* asm-generic/poll.h */

/* The bytes that a call on messages moved, which returned RET: none that it has only looked at. */
static __always_inline __u64 moved(const struct dlt_call *call, long ret)
{
	__u64 flags = call->shape & DLT_NET_FLAGS_3 ? call->args[3] : call->args[2];

	return ret <= 0 || (!(call->shape & DLT_NET_SENDS) && flags & MSG_PEEK) ? 0 : ret;
}

static __always_inline __u32 dir_of(const struct dlt_call *call)
{
	return call->shape & DLT_NET_SENDS ? DLT_NET_W : DLT_NET_R;
}

#define BATCH 32
/* Returns the bytes of messages FROM to TO, at most a batch, of the list at ADDR. */
__noinline __u64 batch_bytes(__u64 addr, __u32 from, __u32 to)
{
	struct mmsghdr *list = (void *)addr;
	__u64 sum = 0;
	__u32 len;

	for (__u32 i = 0; i < BATCH && from + i < to; i++)
		if (!bpf_probe_read_user(&len, sizeof(len), &list[from + i].msg_len))
			sum += len;
	return sum;
}

/* Returns the bytes of the N messages of the list at ADDR. Global, as batch_bytes() is: verified once. */
__noinline __u64 list_bytes(__u64 addr, __u32 n)
{
	__u64 sum = 0;

#pragma nounroll
	for (__u32 i = 0; i < DLT_NET_MESSAGES_MAX && i < n; i += BATCH)
		sum += batch_bytes(addr, i, n);
	return sum;
}

/* A call on messages has ended; recvmmsg and sendmmsg return their number, and write the bytes into the list. */
static __always_inline void messages_used(const struct dlt_call *call, long ret)
{
	__u64 n = moved(call, ret);

	if (call->shape & DLT_NET_MANY)
		n = list_bytes(call->args[1], n);
	net_used(call->args[0], dir_of(call) | (call->shape & DLT_NET_BUFFER), n, ret);
}

/*
 * What follows are global functions for this thread's call: verified once, not after each way to them.
 *
 * accept: the connection RET is another socket than the one that is called, FD.
 */
__noinline int accepted(__u64 fd, __s64 ret)
{
	struct dlt_file_id id;
	struct file *file;

	net_used(fd, DLT_NET_NEITHER, 0, ret);
	file = ret >= 0 ? file_of_fd(task_current(), ret) : NULL;
	if (file && file_is_socket(file))
		socket_note(file, &id);
	return 0;
}

/* Returns the error that a getsockopt(SO_ERROR) has returned; 0: none. */
static __always_inline int socket_error(const struct dlt_call *call)
{
	int error = 0;

	if ((int)call->args[1] != SOL_SOCKET || (int)call->args[2] != SO_ERROR ||
	    bpf_probe_read_user(&error, sizeof(error), (void *)call->args[3]))
		return 0;
	return error;
}

/* A connect that has failed leaves no address behind: ENTRY's peer is the one that was passed, at ADDR. */
static __always_inline void peer_passed(struct dlt_socket *entry, __u64 addr)
{
	__u32 family = entry->row.family;

	if (entry->row.peer.port || (family != AF_INET && family != AF_INET6))
		return;
	peer_read(&entry->row.peer, addr, family);
	socket_send(entry, DLT_SOCKET_OPEN);
}

/* A connect has returned RET, or a getsockopt has returned the error of one: a row. */
__noinline int connected(__s64 ret)
{
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_socket *entry = NULL;
	struct net_use use = {};
	struct file *file;

	if (!call)
		return 0;
	use.key.tid = tid;
	use.key.call = call->nr;
	use.ret = ret;
	file = file_of_fd(task, call->args[0]);
	if (file && file_is_socket(file))
		entry = socket_note(file, &use.key.id);
	if (!(call->shape & DLT_NET_CONNECTS)) {
		/* only its row */
	} else if (entry && (!ret || ret == -EINPROGRESS)) {
		entry->connect_at_ns = call->start_ns;
		entry->row.connect_ns = ret ? DLT_NONE : bpf_ktime_get_ns() - call->start_ns;
		entry->row.first_ns = DLT_NONE;
	} else if (entry) {
		peer_passed(entry, call->args[1]);
	}
	net_count(&use, call, task, true);
	return 0;
}

/* Who connects without waiting for it learns by this call alone that it has failed: as RET of a row. */
static __always_inline void sockopt_ends(const struct dlt_call *call, long ret)
{
	int error = ret ? 0 : socket_error(call);

	if (error > 0)
		connected(-error);
	else
		net_used(call->args[0], DLT_NET_NEITHER, 0, ret);
}

/* All calls but polls: one program, as the verifier goes through each one's functions. */
CALL_END(net_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	if (call->shape & DLT_NET_ACCEPTS)
		accepted(call->args[0], ret);
	else if (call->shape & DLT_NET_CONNECTS)
		connected(ret);
	else if (call->shape & DLT_NET_SOCKOPT)
		sockopt_ends(call, ret);
	else
		messages_used(call, ret);
	call_end(call, tid);
	return 0;
}

#define POLLED 16 /* descriptors of a poll that are looked at */

enum polled {
	POLLED_NOTHING,
	POLLED_UNANSWERED, /* the socket, whose identity is in scratch, has sent a datagram and got none since */
	POLLED_NO_MORE,
};

/* Looks at the descriptor at ADDR of a list. A global function: verified once, not in each turn. */
__noinline int polled_look(__u64 addr)
{
	struct scratch *s = scratch_get();
	struct dlt_socket *entry;
	struct pollfd one;
	struct file *file;

	if (!s || bpf_probe_read_user(&one, sizeof(one), (void *)addr))
		return POLLED_NO_MORE;
	file = one.events & POLLIN ? file_of_fd(task_current(), one.fd) : NULL;
	if (!file || !file_is_socket(file))
		return POLLED_NOTHING;
	id_begin(KLOAD(file, f_inode), &s->id);
	entry = bpf_map_lookup_elem(&dlt_sockets, &s->id);
	return entry && entry->unanswered ? POLLED_UNANSWERED : POLLED_NOTHING;
}

/* Returns the first socket in CALL's list that has sent a datagram and got none since, and its ID; NULL: none. */
static __noinline struct dlt_socket *polled_unanswered(const struct dlt_call *call, struct dlt_file_id *id)
{
	int found = POLLED_NOTHING;
	struct scratch *s;

#pragma nounroll
	for (__u32 i = 0; i < POLLED && i < call->args[1] && found == POLLED_NOTHING; i++)
		found = polled_look(call->args[0] + i * sizeof(struct pollfd));
	s = found == POLLED_UNANSWERED ? scratch_get() : NULL;
	if (!s)
		return NULL;
	*id = s->id;
	return bpf_map_lookup_elem(&dlt_sockets, id);
}

/*
 * poll, ppoll: which are no calls on a socket. But one that has waited in vain for the answer to a datagram has a row,
 * with the socket.
 */
CALL_END(net_poll_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct net_use use = {};
	struct dlt_socket *entry;

	if (!call)
		return 0;
	if (!ret && bpf_ktime_get_ns() - call->start_ns >= DLT_NET_ROW_NS) {
		entry = polled_unanswered(call, &use.key.id);
		if (entry) {
			use.key.tid = tid;
			use.key.call = call->nr;
			socket_unanswered(entry);
			net_count(&use, call, task_current(), true);
		}
	}
	call_end(call, tid);
	return 0;
}
