/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls on sockets that failed, and those that did not. */
#include "failed.h"

static void put_socket(unsigned int fid, const char *peer)
{
	put(SOCKETS, 100 * MS, "10\t10\tpython\t%u\topen\tinet\tstream\ttcp\t-\t%s\t-\t-\t1\t0\t0\t-\t-\t0", fid, peer);
}

static void put_call(uint64_t at, const char *call, const char *ret, unsigned int fid)
{
	put(NET, at, "10\t10\tpython\t%s\t-\t1000\t1\t0\t0\t1\t1000\t1000\t%s\t%u", call, ret, fid);
}

/* Those that wait, and those that learn of it later, by their peer; the pauses behind them are theirs. */
static void connects_that_are_refused_have_their_peer(void **state)
{
	put_job();
	put_socket(7, "10.0.0.5:9000");
	put_socket(8, "10.0.0.5:9000");
	put_call(200 * MS, "connect", "-111", 7);
	put_call(400 * MS, "connect", "-115", 8);
	put_call(500 * MS, "getsockopt", "-111", 8);
	put_wait(.pid = JOB, .from = 201 * MS, .to = 301 * MS, .call = "clock_nanosleep", .by = "timer");
	expect_one(
		failed_loaded(), 2,
		"python: connect failed 2 times from 0.20 s to 0.50 s: nobody listens at the other end (ECONNREFUSED), "
		"peer 10.0.0.5:9000; it slept 100 ms right after");
}

static void each_peer_has_its_own(void **state)
{
	struct report *r;

	put_job();
	put_socket(7, "10.0.0.5:9000");
	put_socket(8, "10.0.0.6:9000");
	put_call(200 * MS, "connect", "-111", 7);
	put_call(300 * MS, "connect", "-111", 8);
	put_call(400 * MS, "recvfrom", "-104", 8);
	r = failed_loaded();
	assert_int_equal(r->failed->n, 3);
	report_free(r);
}

/* One that is not known is a failure all the same. */
static void a_socket_without_a_row_has_no_peer(void **state)
{
	put_job();
	put_call(200 * MS, "connect", "-110", 9);
	expect_one(failed_loaded(), 1,
		   "python: connect failed once at 0.20 s: the other end did not answer in time (ETIMEDOUT)");
}

static void put_datagrams(unsigned int fid, const char *peer)
{
	put(SOCKETS, 100 * MS, "10\t10\tpython\t%u\topen\tinet\tdgram\tudp\t-\t%s\t-\t-\t1\t0\t0\t-\t-\t-", fid, peer);
}

static void put_waited(uint64_t at, const char *call, const char *dir, const char *ret, unsigned int fid)
{
	put(NET, at, "10\t10\tpython\t%s\t%s\t500000000\t1\t0\t1\t0\t500000000\t500000000\t%s\t%u", call, dir, ret,
	    fid);
}

/* The time of the wait itself counts, and not twice, where the next one begins at once. */
static void datagrams_without_an_answer_have_their_peer_and_time(void **state)
{
	put_job();
	put_datagrams(7, "10.0.0.5:53");
	put_waited(600 * MS, "poll", "-", "0", 7);
	put_waited(1101 * MS, "poll", "-", "0", 7);
	put_wait(.pid = JOB, .from = 601 * MS, .to = 1101 * MS, .call = "poll", .by = "timer");
	expect_one(
		failed_loaded(), 2,
		"python: poll had no answer 2 times from 0.60 s to 1.10 s, peer 10.0.0.5:53; it waited 1.00 s for one");
}

/* Calls that took no time of their own: COUNT of them, with a byte each, from AT until 10 ms later. */
static void put_moved(uint64_t at, const char *call, const char *dir, unsigned int count, unsigned int fid)
{
	put(NET, at + 10 * MS, "10\t10\tpython\t%s\t%s\t10000000\t%u\t%u\t0\t0\t1000\t1000\t-\t%u", call, dir, count,
	    count, fid);
}

/* select and epoll, as poll. */
static void waits_for_several_descriptors_are_such_waits(void **state)
{
	static const char *const calls[] = { "select", "pselect6", "epoll_wait", "epoll_pwait", "ppoll" };
	struct report *r;

	put_job();
	put_datagrams(7, "10.0.0.5:53");
	put_moved(80 * MS, "sendto", "W", 5, 7);
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		put_waited((600 + 10 * i) * MS, calls[i], "-", "0", 7);
	r = failed_loaded();
	assert_int_equal(r->failed->n, ARRAY_SIZE(calls));
	report_free(r);
}

/* An event loop has its sockets in its set for good: more than a few without any answer are no questions. */
static void figures_have_no_answer(void **state)
{
	put_job();
	put_datagrams(7, "10.0.0.5:8125");
	put_moved(80 * MS, "sendto", "W", 9, 7);
	put_waited(600 * MS, "epoll_wait", "-", "0", 7);
	expect_nothing(failed_loaded());
}

static void an_answer_that_comes_later_is_one(void **state)
{
	put_job();
	put_datagrams(7, "10.0.0.5:9000");
	put_moved(80 * MS, "sendto", "W", 1, 7);
	put_waited(600 * MS, "poll", "-", "0", 7);
	put_moved(700 * MS, "recvfrom", "R", 1, 7);
	put_datagrams(8, "10.0.0.6:9000"); /* one sum of all that it has received, as often as it has sent */
	put_moved(80 * MS, "sendto", "W", 2, 8);
	put_waited(600 * MS, "poll", "-", "0", 8);
	put_moved(595 * MS, "recvfrom", "R", 2, 8);
	expect_nothing(failed_loaded());
}

static void an_answer_before_the_question_is_none(void **state)
{
	put_job();
	put_datagrams(7, "10.0.0.5:9000");
	put_moved(80 * MS, "sendto", "W", 2, 7);
	put_moved(90 * MS, "recvfrom", "R", 1, 7);
	put_waited(600 * MS, "poll", "-", "0", 7);
	expect_one(failed_loaded(), 1,
		   "python: poll had no answer once at 0.60 s, peer 10.0.0.5:9000; it waited 500 ms for one");
}

/* A stream on which nothing was sent waits for its connection. */
static void a_connection_that_does_not_come_is_one_of_its_peer(void **state)
{
	put_job();
	put_socket(7, "10.0.0.5:9000");
	put_call(90 * MS, "connect", "-115", 7);
	put_waited(600 * MS, "poll", "-", "0", 7);
	expect_one(failed_loaded(), 1,
		   "python: connect had no answer once at 0.60 s, peer 10.0.0.5:9000; it waited 500 ms for one");
}

/* Of a wait that began before the part that is looked at, its time within counts. */
static void a_part_has_its_part_of_such_a_wait(void **state)
{
	const struct report_options o = { .window = { BEGIN + 400 * MS, BEGIN + 1900 * MS } };
	struct report *r = NULL;

	put_job();
	put_datagrams(7, "10.0.0.5:53");
	put_waited(600 * MS, "poll", "-", "0", 7);
	assert_int_equal(report_load(&r, tree, &o), 0);
	assert_int_equal(r->failed->n, 1);
	assert_int_equal(r->failed->v[0].slept_ns, 200 * MS);
	report_free(r);
}

/* A stream that is silent for a while is none: nobody knows whether something was to come. */
static void receives_that_may_not_wait_for_long_are_such_waits(void **state)
{
	put_job();
	put_datagrams(7, "10.0.0.5:53");
	put_socket(8, "10.0.0.6:9000");
	put_waited(600 * MS, "recvfrom", "R", "-11", 7);
	put_waited(1200 * MS, "recvfrom", "R", "-11", 8);
	put_waited(1800 * MS, "sendto", "W", "-11", 7);
	expect_one(failed_loaded(), 1,
		   "python: recvfrom had no answer once at 0.60 s, peer 10.0.0.5:53; it waited 500 ms for one");
}

/* A connect that goes on, nothing to receive, bytes whose number ends like an error, sums, and what nobody can read. */
static void others_are_none(void **state)
{
	put_job();
	put_socket(7, "10.0.0.5:9000");
	put_call(200 * MS, "connect", "-115", 7);
	put_call(300 * MS, "recvfrom", "-11", 7);
	put_call(400 * MS, "recvfrom", "1104", 7);
	put_call(500 * MS, "recvfrom", "9111", 7);
	put_call(600 * MS, "recvfrom", "-", 7);
	put_call(700 * MS, "recvfrom", "?", 7);
	put_call(800 * MS, "recvfrom", "-99999999999999999999", 7);
	expect_nothing(failed_loaded());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_connection_that_does_not_come_is_one_of_its_peer),
		IN_TREE(a_part_has_its_part_of_such_a_wait),
		IN_TREE(a_socket_without_a_row_has_no_peer),
		IN_TREE(an_answer_before_the_question_is_none),
		IN_TREE(an_answer_that_comes_later_is_one),
		IN_TREE(datagrams_without_an_answer_have_their_peer_and_time),
		IN_TREE(receives_that_may_not_wait_for_long_are_such_waits),
		IN_TREE(connects_that_are_refused_have_their_peer),
		IN_TREE(each_peer_has_its_own),
		IN_TREE(figures_have_no_answer),
		IN_TREE(others_are_none),
		IN_TREE(waits_for_several_descriptors_are_such_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
