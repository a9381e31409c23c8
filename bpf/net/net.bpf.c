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

/* recvfrom, recvmsg, sendto, sendmsg */
CALL_END(net_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);

	if (!call)
		return 0;
	net_used(call->args[0], dir_of(call) | (call->shape & DLT_NET_BUFFER), moved(call, ret), ret);
	call_end(call, tid);
	return 0;
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

/* recvmmsg, sendmmsg: they return the number of messages, whose bytes they write into the list. */
CALL_END(net_many_exit)
{
	long ret = call_result(ctx);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	__u64 bytes = 0;

	if (!call)
		return 0;
	for (__u32 i = 0; i < DLT_NET_MESSAGES_MAX && moved(call, ret) > i; i += BATCH)
		bytes += batch_bytes(call->args[1], i, ret);
	net_used(call->args[0], dir_of(call), bytes, ret);
	call_end(call, tid);
	return 0;
}

/* The connection is another socket than the one that is called. */
CALL_END(net_accept_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct dlt_file_id id;
	struct file *file;

	if (!call)
		return 0;
	net_used(call->args[0], DLT_NET_NEITHER, 0, ret);
	file = ret >= 0 ? file_of_fd(task, ret) : NULL;
	if (file && file_is_socket(file))
		socket_note(task, file, call, &id);
	call_end(call, tid);
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

/* Who connects without waiting for it learns by this call alone that it has failed: as RET of a row. */
CALL_END(net_sockopt_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct net_use use = {};
	struct file *file;
	int error;

	if (!call)
		return 0;
	error = ret ? 0 : socket_error(call);
	if (error <= 0) {
		net_used(call->args[0], DLT_NET_NEITHER, 0, ret);
		call_end(call, tid);
		return 0;
	}
	use.key.tid = tid;
	use.key.call = call->nr;
	use.ret = -error;
	file = file_of_fd(task, call->args[0]);
	if (file && file_is_socket(file))
		socket_note(task, file, call, &use.key.id);
	net_count(&use, call, task, true);
	call_end(call, tid);
	return 0;
}

/* A connect that has failed leaves no address behind: ENTRY's peer is the one that was passed, at ADDR. */
static __noinline int peer_passed(struct dlt_socket *entry, __u64 addr)
{
	__u32 family = entry->row.family;

	if (entry->row.peer.port || (family != AF_INET && family != AF_INET6))
		return 0;
	peer_read(&entry->row.peer, addr, family);
	socket_send(entry, DLT_SOCKET_OPEN);
	return 0;
}

CALL_END(net_connect_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct file *file = call ? file_of_fd(task, call->args[0]) : NULL;
	struct dlt_socket *entry = NULL;
	struct net_use use = {};

	if (!call)
		return 0;
	use.key.tid = tid;
	use.key.call = call->nr;
	use.ret = ret;
	if (file && file_is_socket(file))
		entry = socket_note(task, file, call, &use.key.id);
	if (entry && (!ret || ret == -EINPROGRESS)) {
		entry->connect_at_ns = call->start_ns;
		entry->row.connect_ns = ret ? DLT_NONE : bpf_ktime_get_ns() - call->start_ns;
		entry->row.first_ns = DLT_NONE;
	} else if (entry) {
		peer_passed(entry, call->args[1]);
	}
	net_count(&use, call, task, true);
	call_end(call, tid);
	return 0;
}

#define POLLED 16 /* descriptors of a poll that are looked at */

/* Returns the first socket in CALL's list that has sent a datagram and got none since, and its ID; NULL: none. */
static __noinline struct dlt_socket *polled_unanswered(struct task_struct *task, const struct dlt_call *call,
						       struct dlt_file_id *id)
{
	const struct pollfd *list = (void *)call->args[0];
	struct dlt_socket *entry;
	struct pollfd one;
	struct file *file;

	for (__u32 i = 0; i < POLLED && i < call->args[1]; i++) {
		if (bpf_probe_read_user(&one, sizeof(one), &list[i]))
			break;
		file = one.events & POLLIN ? file_of_fd(task, one.fd) : NULL;
		if (!file || !file_is_socket(file))
			continue;
		id_begin(KLOAD(file, f_inode), id);
		entry = bpf_map_lookup_elem(&dlt_sockets, id);
		if (entry && entry->unanswered)
			return entry;
	}
	return NULL;
}

/*
 * poll, ppoll: which are no calls on a socket. But one that has waited in vain for the answer to a datagram has a row,
 * with the socket.
 */
CALL_END(net_poll_exit)
{
	long ret = call_result(ctx);
	struct task_struct *task = task_current();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct dlt_call *call = call_find(tid);
	struct net_use use = {};
	struct dlt_socket *entry;

	if (!call)
		return 0;
	if (!ret && bpf_ktime_get_ns() - call->start_ns >= DLT_NET_ROW_NS) {
		entry = polled_unanswered(task, call, &use.key.id);
		if (entry) {
			use.key.tid = tid;
			use.key.call = call->nr;
			socket_unanswered(entry);
			net_count(&use, call, task, true);
		}
	}
	call_end(call, tid);
	return 0;
}
