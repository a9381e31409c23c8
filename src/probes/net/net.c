/* SPDX-License-Identifier: BSD-2-Clause */
/* The net probe: calls on sockets. The programs of sockets send the sums (bpf/net/sockets.bpf.c). */
#include "dlt/net.h"

#include <sys/syscall.h>

#include "kernel/skel.h"
#include "kernel/syscalls.h"
#include "net.skel.h"
#include "probes/sched/sched.h"
#include "trace/probe.h"

static const struct field_name dir_names[] = {
	{ DLT_NET_NEITHER, "-" },
	{ DLT_NET_R, "R" },
	{ DLT_NET_W, "W" },
	{ 0, NULL },
};

#define AT(member) offsetof(struct dlt_net, member)
static const struct field fields[] = {
	FIELDS_HEAD(struct dlt_net),
	{ "CALL", "the system call", FIELD_NAME, AT(call), .names = sched_call_names },
	{ "RW", "R: it receives, W: it sends; - for connect, accept, getsockopt, poll, select, epoll", FIELD_NAME,
	  AT(dir), .names = dir_names },
	{ "SPAN_NS", "time that the row covers, ns; of a single call with a row of its own, its duration", FIELD_U64,
	  AT(hdr.lat_ns) },
	{ "COUNT", "calls", FIELD_S64, AT(count) },
	{ "BYTES", "bytes moved; without those only looked at (MSG_PEEK)", FIELD_S64, AT(bytes), .unit = "bytes" },
	{ "AGAIN", "calls that failed with EAGAIN, as there was nothing to receive, or no room to send", FIELD_S64,
	  AT(again) },
	{ "FAILED", "calls that failed otherwise; not a connect that goes on (EINPROGRESS)", FIELD_S64, AT(failed) },
	{ "TIME_NS", "time in the calls, ns", FIELD_S64, AT(ns) },
	{ "MAX_NS", "the longest one, ns", FIELD_S64, AT(max_ns) },
	{ "RET", "result of a call with a row of its own, of getsockopt(SO_ERROR) the error; - in rows of sums",
	  FIELD_S64, AT(ret) },
	FIELD_FID_OF(struct dlt_net, id),
};
#undef AT

#define NET_RECEIVES 0
static const struct probe_call calls[] = {
	{ "accept", SYS_accept, DLT_NET_ACCEPTS, "net_exit" },
	{ "accept4", SYS_accept4, DLT_NET_ACCEPTS, "net_exit" },
	{ "connect", SYS_connect, DLT_NET_CONNECTS, "net_exit" },
	{ "epoll_pwait", SYS_epoll_pwait, 0, "net_epoll_exit", .no_row = true },
	{ "epoll_pwait2", SYS_epoll_pwait2, 0, "net_epoll_exit", .no_row = true },
	{ "epoll_wait", SYS_epoll_wait, 0, "net_epoll_exit", .no_row = true },
	{ "getsockopt", SYS_getsockopt, DLT_NET_SOCKOPT, "net_exit" },
	{ "poll", SYS_poll, 0, "net_poll_exit", .no_row = true },
	{ "ppoll", SYS_ppoll, 0, "net_poll_exit", .no_row = true },
	{ "pselect6", SYS_pselect6, 0, "net_select_exit", "net_select_entry", .no_row = true },
	{ "recvfrom", SYS_recvfrom, DLT_NET_FLAGS_3 | DLT_NET_BUFFER, "net_exit" },
	{ "recvmmsg", SYS_recvmmsg, DLT_NET_FLAGS_3 | DLT_NET_MANY, "net_exit" },
	{ "recvmsg", SYS_recvmsg, NET_RECEIVES, "net_exit" },
	{ "select", SYS_select, 0, "net_select_exit", "net_select_entry", .no_row = true },
	{ "sendmmsg", SYS_sendmmsg, DLT_NET_SENDS | DLT_NET_MANY, "net_exit" },
	{ "sendmsg", SYS_sendmsg, DLT_NET_SENDS, "net_exit" },
	{ "sendto", SYS_sendto, DLT_NET_SENDS | DLT_NET_TO_4 | DLT_NET_BUFFER, "net_exit" },
};
#undef NET_RECEIVES

SKEL_OPENER(net)

static bool is_of_connections(const struct dlt_call *call)
{
	return call->nr == SYS_accept || call->nr == SYS_accept4 || call->nr == SYS_connect ||
	       call->nr == SYS_getsockopt;
}

static void running(const struct dlt_call *call, struct dlt_hdr *hdr)
{
	struct dlt_net *rec = (struct dlt_net *)hdr;

	rec->id = call->id;
	rec->count = 1;
	rec->bytes = rec->again = rec->failed = rec->ret = DLT_UNKNOWN;
	rec->ns = rec->max_ns = (int64_t)hdr->lat_ns;
	rec->call = call->nr;
	if (!is_of_connections(call))
		rec->dir = call->shape & DLT_NET_SENDS ? DLT_NET_W : DLT_NET_R;
}

const struct probe net_probe = {
	.name = "net",
	.help = "calls on sockets, summed per interval by thread and socket; each connect, and each call of 1 ms and "
		"more",
	PROBE_FIELDS(fields),
	PROBE_CALLS(calls),
	.rec_size = sizeof(struct dlt_net),
	.needs = DLT_sockets,
	.flags = PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_MAY_LACK,
	.open = net_open,
	.running = running,
};
