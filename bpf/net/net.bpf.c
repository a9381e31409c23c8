/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that are of sockets alone. Those of files, read to splice, count here from vfs_rw.bpf.c. */
#include "net/unanswered.bpf.h"

#define MSG_PEEK 2 /* linux/socket.h */
#define SOL_SOCKET 1 /* asm-generic/socket.h */
#define SO_ERROR 4

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

/* All calls but those on several descriptors: one program, as the verifier goes through each one's functions. */
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

/*
 * What follows are calls on several descriptors, and none on a socket. But one that has waited in vain for an answer
 * has a row, with the socket.
 */
CALL_END(net_poll_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	if (waited_in_vain(call, ret))
		polled_report(call);
	call_end(call, tid);
	return 0;
}

/* select, pselect6: what the sets held is gone at the end. */
CALL_BEGIN(net_select_entry)
{
	struct dlt_call *call = call_find((__u32)bpf_get_current_pid_tgid());

	if (call)
		selected_note(call);
	return 0;
}

CALL_END(net_select_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	if (call->id.ino && waited_in_vain(call, ret))
		selected_report(call);
	call_end(call, tid);
	return 0;
}

CALL_END(net_epoll_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_queried *queried;

	if (!call)
		return 0;
	queried = waited_in_vain(call, ret) ? bpf_map_lookup_elem(&dlt_queried, &tid) : NULL;
	if (queried && epoll_waits_for(call->args[0], &queried->id))
		unanswered_report(call, &queried->id);
	call_end(call, tid);
	return 0;
}
