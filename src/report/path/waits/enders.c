/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/path/waits/enders.h"

#include <string.h>

#include "base/util.h"

/* --- columns ------------------------------------------------------------------------------------------- */

struct word {
	const char *text;
	uint8_t value;
};

static uint8_t value_of(struct reader_field f, const struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (reader_is(f, words[i].text))
			return words[i].value;
	return 0;
}

enum path_state path_state_of(struct reader_field state)
{
	static const struct word words[] = {
		{ "sleep", PATH_ASLEEP }, { "disk", PATH_FOR_DISK },   { "blocked", PATH_BLOCKED },
		{ "runq", PATH_CAN_RUN }, { "throttled", PATH_QUOTA },
	};

	return (enum path_state)value_of(state, words, ARRAY_SIZE(words));
}

enum path_by path_by_of(struct reader_field by)
{
	static const struct word words[] = {
		{ "thread", PATH_BY_THREAD },
		{ "timer", PATH_BY_TIMER },
		{ "disk", PATH_BY_DISK },
		{ "net", PATH_BY_NET },
		{ "kernel", PATH_BY_KERNEL },
		{ "signal", PATH_BY_SIGNAL },
		{ "interrupt", PATH_BY_INTERRUPT },
		{ "exit", PATH_BY_EXIT },
		{ "end", PATH_BY_END },
	};

	return (enum path_by)value_of(by, words, ARRAY_SIZE(words));
}

enum path_by_call path_by_call_of(struct reader_field call)
{
	static const struct word words[] = {
		{ "ioctl", PATH_BY_CONTROL },
		{ "fcntl", PATH_BY_GIVING_BACK },
		{ "close", PATH_BY_GIVING_BACK },
	};

	return (enum path_by_call)value_of(call, words, ARRAY_SIZE(words));
}

/* --- rules --------------------------------------------------------------------------------------------- */

#define BIT(by) (1U << PATH_BY_##by)
#define BY_ANY UINT32_MAX
#define BY_KERNEL_SIDE (BIT(INTERRUPT) | BIT(KERNEL) | BIT(UNKNOWN))
#define STATE(state) (1U << PATH_##state)
#define STATE_ANY UINT32_MAX

enum detail { NO_DETAIL, OF_CALL, OF_FILE, OF_OTHER };

static bool is_stop(const struct path_ender *own, const struct path_ender *last)
{
	return path_calls[own->call].stops;
}

static bool is_poll(const struct path_ender *own, const struct path_ender *last)
{
	return own->again || own->after;
}

static bool is_sleep(const struct path_ender *own, const struct path_ender *last)
{
	return path_calls[own->call].sleeps;
}

bool path_ender_is_interrupted(const struct path_ender *e)
{
	return e->by == PATH_BY_SIGNAL && !path_calls[e->call].signals && !path_calls[e->call].sleeps;
}

static bool is_interrupted(const struct path_ender *own, const struct path_ender *last)
{
	return path_ender_is_interrupted(last);
}

static bool is_of_terminal(const struct path_ender *own, const struct path_ender *last)
{
	return last->file == PATH_TERMINAL_FILE;
}

static bool is_of_clients(const struct path_ender *own, const struct path_ender *last)
{
	return path_calls[last->call].accepts;
}

static bool is_of_device(const struct path_ender *own, const struct path_ender *last)
{
	return last->file == PATH_DEVICE_FILE;
}

/* A socket's buffer is full, and what is sent next has to wait until the other end has taken some of it. */
static bool is_sending(const struct path_ender *own, const struct path_ender *last)
{
	const struct path_call *call = &path_calls[last->call];

	return last->other && (call->sends || call->storage == PATH_DISK_WRITE);
}

static bool has_other(const struct path_ender *own, const struct path_ender *last)
{
	return last->other;
}

static bool is_lock_outside(const struct path_ender *own, const struct path_ender *last)
{
	return path_calls[own->call].locks && last->outside;
}

/*
 * What waits for a process before it has the file, and does not let signals end that wait: permission by a listener of
 * fanotify(7), or a lock of a folder. A FIFO's other end, and a server of FUSE, are waited for until a signal.
 */
static bool is_held(const struct path_ender *own, const struct path_ender *last)
{
	const struct path_call *call = &path_calls[last->call];

	return last->outside && (call->opens || (last->file == PATH_STORED_FILE && call->storage == PATH_DISK_READ));
}

/* Whether an ioctl of another process on FILE may itself end a wait for it. */
static bool has_other_uses(uint8_t file)
{
	return file == PATH_ANY_FILE || file == PATH_TERMINAL_FILE || file == PATH_DEVICE_FILE ||
	       file == PATH_PIPE_FILE;
}

/*
 * What a process answers by an ioctl while the thread sleeps in the kernel: a page of memory that it fills
 * (userfaultfd), or whether a call may go on (a notification of seccomp), which no call on a descriptor of the thread's
 * needs.
 */
static bool is_answered(const struct path_ender *own, const struct path_ender *last)
{
	const struct path_call *call = &path_calls[last->call];

	return last->outside && last->by_call == PATH_BY_CONTROL && !has_other_uses(last->file) && !call->polls &&
	       !call->sleeps && !call->children && !call->signals && !call->locks;
}

bool path_ender_is_lease(const struct path_ender *e)
{
	const struct path_call *call = &path_calls[e->call];

	return e->outside && e->by_call == PATH_BY_GIVING_BACK && (call->opens || call->storage == PATH_DISK_WRITE);
}

static bool is_leased(const struct path_ender *own, const struct path_ender *last)
{
	return path_ender_is_lease(last);
}

/*
 * A call that has a record waits, whatever it is, until there is room in the queue: audit_log_start() of the kernel. No
 * file waits for kauditd.
 */
static bool is_audited(const struct path_ender *own, const struct path_ender *last)
{
	return last->by_call == PATH_BY_AUDIT;
}

/* A thread in a page fault sleeps for a disk, or until a process has filled the page. */
static bool is_filled(const struct path_ender *own, const struct path_ender *last)
{
	return last->outside && path_calls[last->call].storage == PATH_DISK_FAULT;
}

/*
 * A file system of that process (FUSE): a call on names has no other use for one, but for an open, which may be of a
 * FIFO.
 */
static bool is_served(const struct path_ender *own, const struct path_ender *last)
{
	const enum path_kind storage = path_calls[last->call].storage;

	if (!last->outside || (path_calls[last->call].opens && last->file == PATH_NO_FILE))
		return false;
	return last->file == PATH_STORED_FILE || storage == PATH_DISK_METADATA || storage == PATH_DISK_SYNC ||
	       storage == PATH_DISK_FAULT;
}

static bool is_outside(const struct path_ender *own, const struct path_ender *last)
{
	return last->outside;
}

/*
 * The first rule that fits counts. What is certain comes first: that a timer ended a wait for storage (as when a writer
 * is held back) does not make it a sleep, and a terminal's line comes by way of a kernel thread.
 */
static const struct rule {
	uint32_t by, states; /* bits */
	bool (*fits)(const struct path_ender *own, const struct path_ender *last);
	enum path_kind kind;
	enum detail detail;
	bool storage; /* the kind that the call has for it */
} rules[] = {
	{ BY_ANY, STATE_ANY, is_stop, PATH_STOPPED, OF_OTHER },
	{ BIT(DISK), STATE_ANY, NULL, PATH_DISK_READ, OF_FILE, .storage = true },
	{ BIT(TIMER) | BIT(END) | BY_KERNEL_SIDE, STATE(FOR_DISK), NULL, PATH_DISK_READ, OF_FILE, .storage = true },
	{ BIT(TIMER), STATE_ANY, is_poll, PATH_POLL, OF_CALL },
	{ BIT(TIMER), STATE_ANY, is_sleep, PATH_SLEEP, NO_DETAIL },
	{ BIT(TIMER), STATE_ANY, NULL, PATH_TIMEOUT, OF_CALL },
	{ BY_ANY, STATE_ANY, is_of_terminal, PATH_TERMINAL, NO_DETAIL },
	{ BIT(END), STATE_ANY, NULL, PATH_UNENDED, OF_CALL },
	{ BIT(SIGNAL), STATE_ANY, is_interrupted, PATH_UNENDED, OF_CALL },
	{ BIT(SIGNAL), STATE_ANY, NULL, PATH_SIGNAL, OF_OTHER },
	{ BIT(NET) | BIT(INTERRUPT) | BIT(KERNEL) | BIT(THREAD) | BIT(EXIT), STATE_ANY, is_of_clients, PATH_CLIENT },
	{ BIT(NET) | BIT(INTERRUPT), STATE_ANY, is_sending, PATH_NETWORK_SEND, OF_OTHER },
	{ BIT(NET), STATE_ANY, NULL, PATH_NETWORK, OF_OTHER },
	{ BIT(INTERRUPT), STATE_ANY, has_other, PATH_NETWORK, OF_OTHER },
	{ BY_KERNEL_SIDE, STATE_ANY, is_of_device, PATH_DEVICE, OF_FILE },
	{ BIT(KERNEL), STATE(BLOCKED), is_audited, PATH_HELD, OF_OTHER },
	{ BIT(KERNEL) | BIT(INTERRUPT), STATE(BLOCKED), NULL, PATH_DISK_READ, OF_FILE, .storage = true },
	{ BIT(KERNEL), STATE_ANY, NULL, PATH_KERNEL, OF_OTHER },
	{ BIT(INTERRUPT), STATE_ANY, NULL, PATH_INTERRUPT, OF_CALL },
	{ BIT(THREAD) | BIT(EXIT), STATE_ANY, is_lock_outside, PATH_LOCK, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE(BLOCKED), is_held, PATH_HELD, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE(ASLEEP) | STATE(BLOCKED), is_answered, PATH_HELD, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE(ASLEEP) | STATE(BLOCKED), is_leased, PATH_HELD, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE(ASLEEP), is_filled, PATH_HELD, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE_ANY, is_served, PATH_DISK_READ, OF_FILE, .storage = true },
	{ BIT(THREAD) | BIT(EXIT), STATE_ANY, is_outside, PATH_OUTSIDE, OF_OTHER },
	{ BIT(THREAD) | BIT(EXIT), STATE_ANY, NULL, PATH_SEVERAL, OF_CALL },
	{ BIT(UNKNOWN), STATE_ANY, is_sleep, PATH_SLEEP, NO_DETAIL },
	{ BY_ANY, STATE_ANY, NULL, PATH_UNKNOWN, OF_CALL },
};

static bool fits(const struct rule *r, const struct path_ender *own, const struct path_ender *last)
{
	return r->by >> last->by & 1 && r->states >> last->state & 1 && (!r->fits || r->fits(own, last));
}

struct path_leaf path_ender_leaf(const struct path_ender *own, const struct path_ender *last)
{
	const uint32_t details[] = {
		[NO_DETAIL] = 0,
		[OF_CALL] = last->call_name,
		[OF_FILE] = last->file_name,
		[OF_OTHER] = last->other,
	};
	const struct rule *rule = rules;

	while (!fits(rule, own, last))
		rule++; /* the last one always fits */
	return (struct path_leaf){
		.kind = rule->storage ? path_calls[last->call].storage : rule->kind,
		.detail = details[rule->detail],
		.open = last->by == PATH_BY_END,
	};
}
