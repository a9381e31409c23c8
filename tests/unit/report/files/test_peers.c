/* SPDX-License-Identifier: BSD-2-Clause */
/* The sums of net.out by peer. */
#include "report/files/peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../job.h"

/* CONNECT: CONNECT_NS, FIRST_NS and RESENT. */
static void put_socket(unsigned int fid, const char *state, const char *family, const char *peer, const char *path,
		       const char *pid, const char *connect)
{
	put(SOCKETS, BEGIN + S, "100\t100\tx\t%u\t%s\t%s\tstream\t-\t10.0.0.1:5\t%s\t%s\t%s\t1\t0\t0\t%s", fid, state,
	    family, peer, path, pid, connect);
}

static void put_calls(unsigned int fid, const char *call, const char *rw, uint64_t n, uint64_t bytes, uint64_t ns)
{
	put(NET, BEGIN + 2 * S, "100\t100\tx\t%s\t%s\t1000\t%llu\t%llu\t1\t2\t%llu\t%llu\t-\t%u", call, rw, N(n),
	    N(bytes), N(ns), N(ns / 2), fid);
}

static const struct report_peer *peer_of(const struct report *r, const char *name)
{
	for (uint32_t i = 0; i < r->peers->n; i++)
		if (!strcmp(r->peers->row[i].name, name))
			return &r->peers->row[i];
	fail_msg("no peer %s", name);
	return NULL;
}

/* Two connections to one server are one peer, whose last rows count; what has no socket is among the others. */
static void sums_are_by_peer(void **state)
{
	const struct report_peer *server;
	struct report *r;

	put_socket(1, "open", "inet", "10.0.0.5:443", "-", "-", "-\t-\t0");
	put_socket(1, "closed", "inet", "10.0.0.5:443", "-", "-", "3000\t50000\t2");
	put_socket(2, "closed", "inet", "10.0.0.5:443", "-", "-", "1000\t-\t1");
	put_socket(3, "closed", "unix", "-", "/run/a\\040b", "7", "-\t-\t-");
	put_socket(4, "closed", "unix", "-", "-", "8", "-\t-\t-");
	put_calls(1, "connect", "-", 1, 0, 3000);
	put_calls(1, "recvfrom", "R", 10, 1000, 7000);
	put_calls(2, "sendto", "W", 3, 30, 200);
	put_calls(2, "read", "R", 1, 5, 100);
	put_calls(3, "recvmsg", "R", 1, 77, 90);
	put_calls(4, "recvmsg", "R", 1, 78, 80);
	put_calls(99, "recvmsg", "R", 1, 79, 70);
	r = loaded();
	server = peer_of(r, "10.0.0.5:443");
	assert_ptr_equal(server, &r->peers->row[0]); /* the most time */
	assert_int_equal(server->sockets, 2);
	assert_int_equal(server->connects, 1);
	assert_int_equal(server->calls, 15);
	assert_int_equal(server->received, 1005);
	assert_int_equal(server->sent, 30);
	assert_int_equal(server->time_ns, 10300);
	assert_int_equal(server->max_ns, 3500);
	assert_int_equal(server->again, 4);
	assert_int_equal(server->failed, 8);
	assert_int_equal(server->connected, 2);
	assert_int_equal(server->connect_ns, 4000);
	assert_int_equal(server->answered, 1);
	assert_int_equal(server->first_ns, 50000);
	assert_int_equal(server->resent, 3);
	assert_int_equal(peer_of(r, "/run/a\\040b")->received, 77);
	assert_int_equal(peer_of(r, "process 8")->received, 78);
	assert_int_equal(peer_of(r, "")->received, 79);
	assert_int_equal(r->peers->n, 4);
	report_free(r);
}

static void the_peers_beyond_are_one_row(void **state)
{
	const struct report_peer *rest;
	struct report *r;
	char name[32];

	for (unsigned int i = 1; i <= PEERS_SHOWN + 10; i++) {
		snprintf(name, sizeof(name), "10.0.0.%u:80", i);
		put_socket(i, "closed", "inet", name, "-", "-", "-\t-\t0");
		put_calls(i, "recvfrom", "R", 1, 1, 1000 * i);
	}
	r = loaded();
	assert_int_equal(r->peers->n, PEERS_SHOWN + 1);
	assert_string_equal(r->peers->row[0].name, "10.0.0.30:80");
	rest = &r->peers->row[PEERS_SHOWN];
	assert_string_equal(rest->name, "");
	assert_int_equal(rest->sockets, 10);
	assert_int_equal(rest->received, 10);
	assert_int_equal(rest->time_ns, 55000);
	report_free(r);
}

static void without_the_files_there_is_no_row(void **state)
{
	struct report *r = loaded();

	assert_int_equal(r->peers->n, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(sums_are_by_peer),
		IN_TREE(the_peers_beyond_are_one_row),
		IN_TREE(without_the_files_there_is_no_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
