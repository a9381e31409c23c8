/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/naming.h"

#include <string.h>
#include <sys/socket.h>

#include "base/util.h"
#include "dlt/dlt.h"

/* What is left of the bytes; once too little is left, nothing is, and all that is read is 0. */
struct bytes {
	const uint8_t *p;
	size_t len;
};

static bool skip(struct bytes *b, size_t n)
{
	if (n > b->len) {
		b->len = 0;
		return false;
	}
	b->p += n;
	b->len -= n;
	return true;
}

static uint32_t number(struct bytes *b, size_t n)
{
	uint32_t value = 0;

	if (n > b->len) {
		b->len = 0;
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		value = value << 8 | b->p[i];
	skip(b, n);
	return value;
}

/* --- TLS ---------------------------------------------------------------------------------------------------- */

enum { SERVER_NAME = 0, HOST_NAME = 0 }; /* a type of extension, and of name in it */

/* A host's name has no byte that is none of these: what has others is no name. */
static bool set_name(char name[static NAMING_HOST_MAX], const uint8_t *from, size_t len)
{
	if (!len || len >= NAMING_HOST_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (from[i] <= ' ' || from[i] > '~')
			return false;
	memcpy(name, from, len);
	name[len] = '\0';
	return true;
}

bool naming_hello(const uint8_t *data, size_t len, char name[static NAMING_HOST_MAX])
{
	struct bytes b = { data, len };

	/* the headers of record and message, version, random number; session, ciphers, compressions */
	if (!skip(&b, 5 + 4 + 2 + 32) || !skip(&b, number(&b, 1)) || !skip(&b, number(&b, 2)) ||
	    !skip(&b, number(&b, 1)) || !skip(&b, 2))
		return false;
	while (b.len) {
		const uint32_t type = number(&b, 2), size = number(&b, 2);

		if (type != SERVER_NAME) {
			skip(&b, size);
			continue;
		}
		skip(&b, 2); /* the list's length: one name is all that anybody sends */
		if (number(&b, 1) != HOST_NAME)
			return false;
		len = number(&b, 2);
		return len <= b.len && set_name(name, b.p, len);
	}
	return false;
}

/* --- DNS ---------------------------------------------------------------------------------------------------- */

enum { DNS_IN = 1, DNS_A = 1, DNS_AAAA = 28 }; /* RFC 1035, 3.2; RFC 3596 */

/* Reads the name of a question, which has no pointers: "a.b" of "\1a\1b\0". */
static bool question(struct bytes *b, char name[static NAMING_HOST_MAX])
{
	uint8_t text[NAMING_HOST_MAX];
	size_t at = 0;
	uint32_t n;

	while ((n = number(b, 1)) && n < 64) {
		if (n > b->len || at + n + 1 > sizeof(text))
			return false;
		if (at)
			text[at++] = '.';
		memcpy(text + at, b->p, n);
		at += n;
		skip(b, n);
	}
	return !n && set_name(name, text, at);
}

/* Skips a name: labels, until an empty one, or a pointer to others. */
static void skip_name(struct bytes *b)
{
	uint32_t n;

	while ((n = number(b, 1)) && n < 64)
		skip(b, n);
	if (n)
		skip(b, 1);
}

size_t naming_dns(const uint8_t *data, size_t len, char name[static NAMING_HOST_MAX], struct dlt_peer *addresses,
		  size_t max)
{
	struct bytes b = { data, len };
	uint32_t flags, questions, answers;
	size_t n = 0;

	skip(&b, 2);
	flags = number(&b, 2);
	questions = number(&b, 2);
	answers = number(&b, 2);
	/* a response to a standard query, without an error */
	if ((flags & 0xf80f) != 0x8000 || questions != 1 || !skip(&b, 4) || !question(&b, name) || !skip(&b, 4))
		return 0;
	for (; answers && b.len && n < max; answers--) {
		uint32_t type, class, size;

		skip_name(&b);
		type = number(&b, 2);
		class = number(&b, 2);
		skip(&b, 4); /* how long it may be kept */
		size = number(&b, 2);
		if (class == DNS_IN && size <= b.len &&
		    ((type == DNS_A && size == 4) || (type == DNS_AAAA && size == 16))) {
			addresses[n] = (struct dlt_peer){ .family = type == DNS_A ? AF_INET : AF_INET6 };
			memcpy(addresses[n++].addr, b.p, size);
		}
		skip(&b, size);
	}
	return n;
}
