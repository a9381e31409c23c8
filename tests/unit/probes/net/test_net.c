/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on sockets, and sockets, as rows: tests/golden/net.txt, sockets.txt. */
#include "dlt/net.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "dlt/sockets.h"
#include "records.h"
#include "trace/probe.h"
#include "trace/record.h"

static struct dlt_net *calls(uint32_t call, enum dlt_net_dir dir, int64_t count, int64_t ret)
{
	struct dlt_net *rec = rec_begin(DLT_net);

	rec->hdr.lat_ns = 5 * NSEC_PER_MSEC;
	rec->count = count;
	rec->bytes = 1000 * count;
	rec->ns = 7000 * count;
	rec->max_ns = 9000;
	rec->ret = ret;
	rec->call = call;
	rec->dir = dir;
	return rec;
}

static void rows_are_sums_or_single_calls(void **state)
{
	struct dlt_net *rec;

	calls(SYS_recvfrom, DLT_NET_R, 12, DLT_NONE)->again = 3;
	rec_emit();
	calls(SYS_sendto, DLT_NET_W, 1, 1000);
	rec_emit();
	rec = calls(SYS_connect, DLT_NET_NEITHER, 1, -111);
	rec->failed = 1;
	rec->bytes = 0;
	rec_emit();
	rec = calls(SYS_read, DLT_NET_R, 1, DLT_UNKNOWN); /* the trace ended first */
	rec->bytes = rec->again = rec->failed = DLT_UNKNOWN;
	rec_emit();
	expect_golden(DLT_net);
}

static void a_call_in_flight_has_no_result(void **state)
{
	const struct dlt_call call = { .start_ns = 5, .tid = 2, .tgid = 1, .probe = DLT_net, .nr = SYS_recvfrom };
	struct dlt_net rec = { .hdr.lat_ns = 77 };

	probes[DLT_net]->running(&call, &rec.hdr);
	assert_int_equal(rec.count, 1);
	assert_int_equal(rec.dir, DLT_NET_R);
	assert_true(rec.ret == DLT_UNKNOWN && rec.bytes == DLT_UNKNOWN && rec.failed == DLT_UNKNOWN);
	assert_int_equal(rec.ns, 77);
}

static struct dlt_sockets *socket_begin(uint32_t family, uint32_t type, uint32_t protocol)
{
	struct dlt_sockets *rec = rec_begin(DLT_sockets);

	rec->hdr.lat_ns = 1234;
	rec->family = family;
	rec->type = type;
	rec->protocol = protocol;
	rec->peer_tgid = DLT_NONE32;
	rec->connect_ns = rec->first_ns = rec->resent = DLT_NONE;
	return rec;
}

static void end_is(struct dlt_peer *end, int family, const char *addr, uint16_t port)
{
	end->family = (uint16_t)family;
	end->port = port;
	assert_int_equal(inet_pton(family, addr, end->addr), 1);
}

static void vsock_is(struct dlt_peer *end, uint32_t cid, uint32_t port)
{
	end->family = AF_VSOCK;
	memcpy(end->addr, &cid, sizeof(cid));
	memcpy(end->addr + sizeof(cid), &port, sizeof(port));
}

static void rows_have_both_ends(void **state)
{
	struct dlt_sockets *rec = socket_begin(AF_INET, SOCK_STREAM, IPPROTO_TCP);

	end_is(&rec->local, AF_INET, "10.0.0.1", 50000);
	rec_emit();
	end_is(&rec->peer, AF_INET, "10.0.0.5", 443);
	rec->state = DLT_SOCKET_CLOSED;
	rec->received = 190000;
	rec->sent = 300;
	rec->connect_ns = 210000;
	rec->first_ns = 31 * NSEC_PER_MSEC;
	rec->resent = 2;
	rec_emit();
	rec = socket_begin(AF_INET6, SOCK_DGRAM, IPPROTO_UDP);
	end_is(&rec->local, AF_INET6, "::1", 9);
	end_is(&rec->peer, AF_INET6, "2001:db8::5", 53);
	rec_emit();
	rec = socket_begin(AF_VSOCK, SOCK_STREAM, 0);
	vsock_is(&rec->local, 3, UINT32_MAX);
	vsock_is(&rec->peer, 2, 1024);
	rec_emit();
	socket_begin(99, 7, 200); /* of no name */
	rec_emit();
	/* a path is the program's own choice: bytes of any kind, to the end of its room */
	rec = socket_begin(AF_UNIX, SOCK_STREAM, 0);
	memcpy(rec->path, "@a\tb\n\"#\\ \xff", 11);
	rec->peer_tgid = 42;
	rec_emit();
	rec = socket_begin(AF_UNIX, SOCK_SEQPACKET, 0);
	memset(rec->path, 'p', sizeof(rec->path));
	rec_emit();
	expect_golden(DLT_sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(rows_are_sums_or_single_calls),
		WITH_DECODER(a_call_in_flight_has_no_result),
		WITH_DECODER(rows_have_both_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
