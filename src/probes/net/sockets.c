/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets probe: the sockets of net.out. The kernel side notes them where they are used; each interval this looks
 * which are still open, and has the sums of calls on them sent (bpf/net/sockets.bpf.c).
 */
#include "dlt/sockets.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "dlt/net.h"
#include "drain/rows/hosts.h"
#include "kernel/object.h"
#include "kernel/skel.h"
#include "sockets.skel.h"
#include "trace/probe.h"

static const struct field_name state_names[] = {
	{ DLT_SOCKET_OPEN, "open" },
	{ DLT_SOCKET_CLOSED, "closed" },
	{ 0, NULL },
};
static const struct field_name family_names[] = {
	{ AF_UNIX, "unix" },       { AF_INET, "inet" },     { AF_INET6, "inet6" }, { AF_VSOCK, "vsock" },
	{ AF_NETLINK, "netlink" }, { AF_PACKET, "packet" }, { 0, NULL },
};
static const struct field_name type_names[] = {
	{ SOCK_STREAM, "stream" },
	{ SOCK_DGRAM, "dgram" },
	{ SOCK_SEQPACKET, "seqpacket" },
	{ SOCK_RAW, "raw" },
	{ 0, NULL },
};
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262 /* linux/in.h */
#endif
static const struct field_name protocol_names[] = {
	{ 0, "-" },
	{ IPPROTO_TCP, "tcp" },
	{ IPPROTO_UDP, "udp" },
	{ IPPROTO_ICMP, "icmp" },
	{ IPPROTO_MPTCP, "mptcp" },
	{ 0, NULL },
};

#define AT(member) offsetof(struct dlt_sockets, member)
static const struct field fields[] = {
	FIELDS_TIME("CLOCK_MONOTONIC of the row, ns", AT(hdr.ts_ns)),
	{ "PID", "process that used it first", FIELD_U32, AT(hdr.tgid) },
	{ "TID", "thread", FIELD_U32, AT(hdr.tid) },
	{ "COMM", "name of the thread", FIELD_COMM, AT(hdr.comm) },
	FIELD_FID_OF(struct dlt_sockets, id),
	{ "STATE", "open; closed by the last process that had it, in the interval before the row", FIELD_NAME,
	  AT(state), .names = state_names },
	{ "FAMILY", "inet inet6 unix vsock netlink packet, or the number of AF_*", FIELD_NAME, AT(family),
	  .names = family_names },
	{ "TYPE", "stream dgram seqpacket raw", FIELD_NAME, AT(type), .names = type_names },
	{ "PROTO", "tcp udp icmp mptcp, or the number of another one; - none", FIELD_NAME, AT(protocol),
	  .names = protocol_names },
	{ "LOCAL", "its own address and port; of vsock the context and the port", FIELD_PEER, AT(local) },
	{ "PEER", "the remote end's", FIELD_PEER, AT(peer) },
	{ "PATH", "of a Unix socket: the path that it is bound to, or connected to; @NAME where that is no file",
	  FIELD_STR, AT(path), DLT_UNIX_PATH },
	{ "PEER_PID", "of a Unix socket: process at the other end, as SO_PEERCRED has it", FIELD_S32, AT(peer_tgid) },
	{ "SPAN_NS", "time since it was used first, ns", FIELD_U64, AT(hdr.lat_ns) },
	{ "RECEIVED", "bytes that the target's calls have received from it", FIELD_S64, AT(received), .unit = "bytes" },
	{ "SENT", "bytes that they have sent", FIELD_S64, AT(sent), .unit = "bytes" },
	{ "CONNECT_NS", "duration of the connect, ns; - where none was seen, or it did not wait", FIELD_S64,
	  AT(connect_ns) },
	{ "FIRST_NS", "from the begin of connect to the first byte received, ns", FIELD_S64, AT(first_ns) },
	{ "RESENT", "segments that TCP has sent again; - no TCP", FIELD_S64, AT(resent) },
	{ "PEER_HOST",
	  "the remote end's name, by its TLS connection, or by what name servers answered the job; - not known",
	  FIELD_USTR, AT(segs) },
};
#undef AT

static int sockets_open(struct probe_object *object, const struct dlt_config *cfg, const struct kernel_btf *kernel)
{
	int r = SKEL_OPEN(sockets, object, cfg, kernel);
	const struct sockets_bpf *skel = object->owner;

	if (r < 0)
		return r;
	bpf_program__set_autoattach(skel->progs.net_send, false);
	bpf_program__set_autoattach(skel->progs.socket_look, false);
	return 0;
}

static uint64_t dev_gen(const struct dlt_file_id *id)
{
	return id->dev | (uint64_t)id->gen << 32;
}

static int cell_send(void *ctx, const void *arg)
{
	const struct sockets_bpf *skel = ctx;
	const struct dlt_net_key *key = arg;

	return object_run(skel->progs.net_send,
			  (uint64_t[]){ key->id.ino, dev_gen(&key->id),
					key->tid | (uint64_t)key->call << 32 | (uint64_t)key->dir << 48,
					util_is_gone((pid_t)key->tid) },
			  4);
}

static int socket_look(void *ctx, const void *arg)
{
	const struct sockets_bpf *skel = ctx;
	const struct dlt_file_id *id = arg;

	return object_run(skel->progs.socket_look, (uint64_t[]){ id->ino, dev_gen(id) }, 2);
}

/* The sums first: what a row of a socket says has then rows. */
static int sockets_emit(struct probe_object *object, enum probe_emit when)
{
	struct sockets_bpf *skel = object->owner;
	int r;

	if (when == PROBE_EMIT_STOP)
		skel->bss->ended = 1;
	if (when == PROBE_EMIT_BEGIN || when == PROBE_EMIT_STOP)
		return 0;
	r = object_each_key(skel->maps.dlt_net_cells, cell_send, skel);
	return r ? r : object_each_key(skel->maps.dlt_sockets, socket_look, skel);
}

const struct probe sockets_probe = {
	.name = "sockets",
	.help = "the sockets of net.out, by their FIDs: addresses, bytes, time to the first byte",
	PROBE_FIELDS(fields),
	.rec_size = sizeof(struct dlt_sockets),
	.flags = PROBE_SELECTABLE | PROBE_MAY_LACK | PROBE_REFERENCE | PROBE_WHOLE,
	.decode = hosts_take,
	.open = sockets_open,
	.emit = sockets_emit,
};
