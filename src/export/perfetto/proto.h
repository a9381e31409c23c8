/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protocol buffers, as far as a writer needs them: puts fields of numbers, bytes and messages at P, where the caller
 * has made room. Each function returns the new end. Pure.
 */
#ifndef EXPORT_PERFETTO_PROTO_H
#define EXPORT_PERFETTO_PROTO_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum proto_wire { PROTO_VARINT = 0, PROTO_FIXED64 = 1, PROTO_BYTES = 2 };

#define PROTO_LENGTH_BYTES                                                                         \
	4 /* of a message's length, which is known only at its end: so it always has as many bytes \
	   */

static inline char *proto_varint(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static inline char *proto_key(char *p, unsigned int field, enum proto_wire wire)
{
	return proto_varint(p, field << 3 | wire);
}

static inline char *proto_u64(char *p, unsigned int field, uint64_t v)
{
	return proto_varint(proto_key(p, field, PROTO_VARINT), v);
}

/* An int32 or int64: a negative one has ten bytes. */
static inline char *proto_s64(char *p, unsigned int field, int64_t v)
{
	return proto_u64(p, field, (uint64_t)v);
}

static inline char *proto_double(char *p, unsigned int field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	bits = htole64(bits);
	p = proto_key(p, field, PROTO_FIXED64);
	memcpy(p, &bits, sizeof(bits));
	return p + sizeof(bits);
}

static inline char *proto_bytes(char *p, unsigned int field, const void *s, size_t len)
{
	p = proto_varint(proto_key(p, field, PROTO_BYTES), len);
	memcpy(p, s, len);
	return p + len;
}

static inline char *proto_text(char *p, unsigned int field, const char *s)
{
	return proto_bytes(p, field, s, strlen(s));
}

/* Begins a message; *AT is for proto_end(). */
static inline char *proto_begin(char *p, unsigned int field, char **at)
{
	*at = proto_key(p, field, PROTO_BYTES);
	return *at + PROTO_LENGTH_BYTES;
}

/* Ends at P the message that began at AT. Its length is a varint that is padded with zeros, which all readers accept.
 */
static inline char *proto_end(char *p, char *at)
{
	uint32_t len = (uint32_t)(p - at - PROTO_LENGTH_BYTES);

	for (unsigned int i = 0; i < PROTO_LENGTH_BYTES; i++, len >>= 7)
		at[i] = (char)((len & 0x7f) | (i + 1 < PROTO_LENGTH_BYTES ? 0x80 : 0));
	return p;
}

#endif
