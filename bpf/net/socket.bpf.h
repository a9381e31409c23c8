/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets that the target uses: noted at the first call on each, by the identity that it has as a file, and sent to
 * the daemon then, when its addresses have changed, and at its end.
 */
#ifndef NET_SOCKET_BPF_H
#define NET_SOCKET_BPF_H

#include "file.bpf.h"

#include "dlt/sockets.h"

#define MODE_SOCK 0140000 /* linux/stat.h */

/* linux/socket.h */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_VSOCK 40
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define IPPROTO_TCP 6 /* linux/in.h */

/* net/af_vsock.h: vsock is a module in most kernels, whose types vmlinux.h may lack. */
struct sockaddr_vm___dlt {
	unsigned int svm_port, svm_cid;
} __attribute__((preserve_access_index));
struct vsock_sock___dlt {
	struct sockaddr_vm___dlt local_addr, remote_addr;
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct dlt_file_id);
	__type(value, struct dlt_socket);
} dlt_sockets SEC(".maps");

static __always_inline bool file_is_socket(struct file *file)
{
	struct inode *inode = KLOAD(file, f_inode);

	return (KLOAD(inode, i_mode) & MODE_FMT) == MODE_SOCK;
}

/* --- addresses ------------------------------------------------------------------------------------ */

static __always_inline void vsock_end(struct dlt_peer *end, __u32 cid, __u32 port)
{
	end->family = AF_VSOCK;
	*(__u32 *)end->addr = cid;
	*(__u32 *)(end->addr + 4) = port;
}

static __always_inline void vsock_fill(struct dlt_sockets *rec, const struct vsock_sock___dlt *vsk)
{
	if (!bpf_core_field_exists(vsk->remote_addr))
		return;
	vsock_end(&rec->local, BPF_CORE_READ(vsk, local_addr.svm_cid), BPF_CORE_READ(vsk, local_addr.svm_port));
	vsock_end(&rec->peer, BPF_CORE_READ(vsk, remote_addr.svm_cid), BPF_CORE_READ(vsk, remote_addr.svm_port));
}

/* Fills PATH from a socket's name; an abstract one begins with a NUL, which is shown as @, as ss(8) does. */
static __always_inline bool unix_path(char path[DLT_UNIX_PATH], const struct unix_sock *sk)
{
	const struct unix_address *addr = BPF_CORE_READ(sk, addr);
	__u64 len = addr ? (__u32)BPF_CORE_READ(addr, len) - 2 : 0; /* less the family */

	asm volatile("" : "+r"(len)); /* the verifier needs the bounds of what is passed */
	if (!len || len > DLT_UNIX_PATH)
		return false;
	bpf_probe_read_kernel(path, len, &addr->name[0].sun_path);
	if (!path[0])
		path[0] = '@';
	return true;
}

static __always_inline void unix_fill(struct dlt_sockets *rec, const struct unix_sock *sk)
{
	const struct unix_sock *peer = (const struct unix_sock *)BPF_CORE_READ(sk, peer);
	const struct pid *pid = BPF_CORE_READ(sk, sk.sk_peer_pid);

	if (!unix_path(rec->path, sk) && peer)
		unix_path(rec->path, peer);
	rec->peer_tgid = pid ? BPF_CORE_READ(pid, numbers[0].nr) : DLT_NONE32;
}

static __always_inline void inet_fill(struct dlt_sockets *rec, const struct sock *sk)
{
	rec->local.port = BPF_CORE_READ(sk, __sk_common.skc_num);
	rec->peer.port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (rec->local.port)
		rec->local.family = rec->family;
	if (rec->peer.port)
		rec->peer.family = rec->family;
	if (rec->family == AF_INET) {
		*(__u32 *)rec->local.addr = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		*(__u32 *)rec->peer.addr = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		return;
	}
	BPF_CORE_READ_INTO((struct in6_addr *)rec->local.addr, sk, __sk_common.skc_v6_rcv_saddr);
	BPF_CORE_READ_INTO((struct in6_addr *)rec->peer.addr, sk, __sk_common.skc_v6_daddr);
}

/* Narrower, and in a bit field, until 5.10. */
static __always_inline __u32 sock_protocol(const struct sock *sk)
{
	return BPF_CORE_READ_BITFIELD_PROBED(sk, sk_protocol);
}

static __always_inline __s64 sock_resent(__u64 sock)
{
	const struct sock *sk = (void *)sock;
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if ((family != AF_INET && family != AF_INET6) || sock_protocol(sk) != IPPROTO_TCP)
		return DLT_NONE;
	return BPF_CORE_READ((const struct tcp_sock *)sk, total_retrans);
}

static __noinline int sock_fill(struct dlt_sockets *rec, __u64 sock)
{
	const struct sock *sk = (void *)sock;

	rec->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	rec->type = BPF_CORE_READ_BITFIELD_PROBED(sk, sk_type);
	rec->protocol = sock_protocol(sk);
	rec->peer_tgid = DLT_NONE32;
	if (rec->family == AF_INET || rec->family == AF_INET6)
		inet_fill(rec, sk);
	else if (rec->family == AF_UNIX)
		unix_fill(rec, (const struct unix_sock *)sk);
	else if (rec->family == AF_VSOCK)
		vsock_fill(rec, (const void *)sk);
	return 0;
}

/* Whether SOCK's connection is over: it has given back its port. Its last address is worth more than none. */
static __always_inline bool sock_is_over(const struct dlt_sockets *row, __u64 sock)
{
	const struct sock *sk = (void *)sock;

	return row->local.port && !BPF_CORE_READ(sk, __sk_common.skc_num);
}

#define SOCK_WORD(sock, type, member) load_u64((sock) + bpf_core_field_offset(struct type, member))

/* Returns a number that changes with the addresses of SOCK. Each call on a socket asks for it, so it is by plain loads.
 */
static __always_inline __u64 sock_mark(__u64 sock)
{
	__u16 family = SOCK_WORD(sock, sock, __sk_common.skc_family);
	const struct vsock_sock___dlt *vsk = (void *)sock;

	if (family == AF_INET || family == AF_INET6)
		return SOCK_WORD(sock, sock, __sk_common.skc_addrpair) * 31 +
		       (__u32)SOCK_WORD(sock, sock, __sk_common.skc_portpair);
	if (family == AF_UNIX)
		return SOCK_WORD(sock, unix_sock, peer) ^ SOCK_WORD(sock, unix_sock, addr);
	if (family == AF_VSOCK && bpf_core_field_exists(vsk->remote_addr))
		return BPF_CORE_READ(vsk, remote_addr.svm_port) | (__u64)BPF_CORE_READ(vsk, local_addr.svm_port) << 32;
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------------ */

/* Counts a row. */
static __always_inline void count_socket(bool sent)
{
	struct dlt_stats *st = stats_of(DLT_sockets);

	if (!st)
		return;
	__sync_fetch_and_add(&st->seen, 1);
	__sync_fetch_and_add(sent ? &st->emitted : &st->lost, 1);
}

/* Sends the row of ENTRY as of now, in STATE. Returns whether the ring had room. */
static __noinline bool socket_send(const struct dlt_socket *entry, __u32 state)
{
	void *ring = ring_here();
	struct dlt_sockets *rec = ring ? bpf_ringbuf_reserve(ring, sizeof(*rec), 0) : NULL;

	if (!rec)
		return false;
	__builtin_memcpy(rec, &entry->row, sizeof(*rec));
	rec->state = state;
	rec->hdr.probe = DLT_sockets;
	rec->hdr.func = 0;
	rec->hdr.size = sizeof(*rec);
	rec->hdr.ts_ns = bpf_ktime_get_ns();
	rec->hdr.lat_ns = rec->hdr.ts_ns - entry->begin_ns;
	count_socket(true);
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	return true;
}

#endif
