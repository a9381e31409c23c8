/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls on several descriptors that have waited in vain for an answer. poll shows its descriptors at the end of the
 * call, too: sockets that have sent and received nothing since, and connects that go on. Of select and epoll only the
 * socket is looked for on which the thread has sent a datagram last: in the call's set, and in the list of the sets
 * that the socket is in; neither is searched.
 */
#ifndef UNANSWERED_BPF_H
#define UNANSWERED_BPF_H

#include "net/net.bpf.h"

/* asm-generic/poll.h; epoll's are the same */
#define POLLIN 1
#define POLLOUT 4
#define TCP_SYN_SENT 2 /* net/tcp_states.h */

/* Whether CALL, which returned RET, has waited for a time, and nothing came. */
static __always_inline bool waited_in_vain(const struct dlt_call *call, long ret)
{
	return !ret && bpf_ktime_get_ns() - call->start_ns >= DLT_NET_ROW_NS;
}

/*
 * Whether something was sent on ENTRY, and is to be answered: a datagram, or bytes to a server. A server that waits for
 * the next request has sent the answer to the last one.
 */
static __always_inline bool is_unanswered(const struct dlt_socket *entry)
{
	return entry->unanswered && (entry->row.type == SOCK_DGRAM || entry->connect_at_ns);
}

/* Socket ID is the one that this thread's CALL has waited for in vain: a row. */
static __noinline int unanswered_report(const struct dlt_call *call, const struct dlt_file_id *id)
{
	struct net_use use = { .key = { .id = *id, .tid = call->tid, .call = call->nr } };
	struct dlt_socket *entry = bpf_map_lookup_elem(&dlt_sockets, &use.key.id);

	if (!entry)
		return 0;
	socket_unanswered(entry);
	net_count(&use, call, task_current(), true);
	return 0;
}

/* Whether ENTRY's connect goes on: nobody has answered it yet. */
static __always_inline bool is_connecting(const struct dlt_socket *entry)
{
	const struct sock *sk = (void *)entry->sock;

	return entry->connect_at_ns && entry->row.type == SOCK_STREAM && entry->row.family != AF_UNIX &&
	       BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_SYN_SENT;
}

/* --- poll ------------------------------------------------------------------------------------------- */

#define POLLED 16 /* descriptors of a poll that are looked at */

enum polled {
	POLLED_NOTHING,
	POLLED_UNANSWERED, /* the socket, whose identity is in scratch, has no answer, or no connection yet */
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
	file = one.events & (POLLIN | POLLOUT) ? file_of_fd(task_current(), one.fd) : NULL;
	if (!file || !file_is_socket(file))
		return POLLED_NOTHING;
	id_begin(KLOAD(file, f_inode), &s->id);
	entry = bpf_map_lookup_elem(&dlt_sockets, &s->id);
	if (!entry)
		return POLLED_NOTHING;
	return (one.events & POLLIN && is_unanswered(entry)) || (one.events & POLLOUT && is_connecting(entry)) ?
		       POLLED_UNANSWERED :
		       POLLED_NOTHING;
}

/* Reports the first socket in CALL's list that has no answer, or no connection yet. */
static __always_inline void polled_report(const struct dlt_call *call)
{
	int found = POLLED_NOTHING;
	struct dlt_file_id id;
	struct scratch *s;

#pragma nounroll
	for (__u32 i = 0; i < POLLED && i < call->args[1] && found == POLLED_NOTHING; i++)
		found = polled_look(call->args[0] + i * sizeof(struct pollfd));
	s = found == POLLED_UNANSWERED ? scratch_get() : NULL;
	if (!s)
		return;
	id = s->id;
	unanswered_report(call, &id);
}

/* --- select ----------------------------------------------------------------------------------------- */

/* Notes in CALL, which begins, the socket on which the thread has sent last, if it waits for what comes there. */
static __always_inline void selected_note(struct dlt_call *call)
{
	__u32 tid = call->tid;
	struct dlt_queried *queried = bpf_map_lookup_elem(&dlt_queried, &tid);
	__u64 word = 0;

	if (!queried || queried->fd >= (__u32)call->args[0] || !call->args[1] ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(call->args[1] + queried->fd / 64 * sizeof(word))))
		return;
	if (word >> queried->fd % 64 & 1)
		call->id = queried->id;
}

/* Reports that socket, if it still has no answer. */
static __always_inline void selected_report(const struct dlt_call *call)
{
	struct dlt_file_id id = call->id;
	struct dlt_socket *entry = bpf_map_lookup_elem(&dlt_sockets, &id);

	if (entry && entry->unanswered)
		unanswered_report(call, &id);
}

/* --- epoll ------------------------------------------------------------------------------------------ */

#define SETS 4 /* of epoll, of one socket, that are looked at */

struct epitem___dlt {
	struct eventpoll *ep;
	struct list_head fllink; /* a hlist_node since 5.11: the next one is first in both */
	struct {
		__u32 events;
	} event;
} __attribute__((preserve_access_index));

/* Until 5.11 (319c15174757 "epoll: take epitem list out of struct file") the list was in the file itself. */
struct file___dlt_list {
	struct list_head f_ep_links;
} __attribute__((preserve_access_index));
struct file___dlt {
	struct hlist_head *f_ep;
} __attribute__((preserve_access_index));

/* Returns the first link of the sets that FILE is in. */
static __always_inline __u64 epoll_first(__u64 file)
{
	const struct file___dlt_list *old = (void *)file;
	const struct file___dlt *new = (void *)file;
	const struct hlist_head *sets;

	if (bpf_core_field_exists(old->f_ep_links))
		return (__u64)BPF_CORE_READ(old, f_ep_links.next);
	sets = bpf_core_field_exists(new->f_ep) ? BPF_CORE_READ(new, f_ep) : NULL;
	return sets ? load_u64((__u64)sets) : 0;
}

/* Whether the set of descriptor EPFD has the socket ID, for what comes there. */
static __noinline bool epoll_waits_for(__u64 epfd, const struct dlt_file_id *id)
{
	struct file *set = file_of_fd(task_current(), epfd);
	struct dlt_socket *entry = bpf_map_lookup_elem(&dlt_sockets, id);
	__u64 ep = set ? (__u64)BPF_CORE_READ(set, private_data) : 0;
	const struct socket *socket = entry && entry->unanswered ? (void *)entry->socket : NULL;
	__u64 link = socket ? epoll_first((__u64)BPF_CORE_READ(socket, file)) : 0;
	const struct epitem___dlt *item;

#pragma nounroll
	for (int i = 0; i < SETS && link; i++) {
		item = (void *)(link - bpf_core_field_offset(struct epitem___dlt, fllink));
		if ((__u64)BPF_CORE_READ(item, ep) == ep)
			return BPF_CORE_READ(item, event.events) & POLLIN;
		link = load_u64(link);
	}
	return false;
}

#endif
