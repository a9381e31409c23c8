/* SPDX-License-Identifier: BSD-2-Clause */
#include "label.h"

#include <stdbool.h>
#include <string.h>

/* The attributes of L, or NULL: there are none, or too short ones to have a message. */
static const struct nvtx_attributes *attributes_of(const struct label *l)
{
	const struct nvtx_attributes *a = l->attributes;

	return a && a->size >= sizeof(*a) ? a : NULL;
}

/* Puts the message of LABEL to OUT. */
static void put_message(char *out, const struct label *label, size_t max)
{
	const struct nvtx_attributes *attributes = attributes_of(label);
	const char *ascii = label->ascii;
	const wchar_t *wide = label->wide;

	if (attributes && attributes->message_type == NVTX_MESSAGE_ASCII)
		ascii = attributes->message.ascii;
	else if (attributes && attributes->message_type == NVTX_MESSAGE_REGISTERED)
		ascii = text_of(attributes->message.registered);
	else if (attributes && attributes->message_type == NVTX_MESSAGE_WIDE)
		wide = attributes->message.wide;
	if (wide)
		text_copy_wide(out, wide, max);
	else
		text_copy(out, ascii, max);
	if (!*out)
		text_copy(out, "unnamed", max);
}

/* DEFAULT_DOMAIN: what stands for the domain of every program; "": nothing. */
static void put_name(char *out, const struct label *label, const char *default_domain)
{
	const char *domain = *text_of(label->domain) ? text_of(label->domain) : default_domain;
	size_t len = strlen(domain), before = len ? len + 1 : 0;

	memcpy(out, domain, len);
	if (len)
		out[len] = '.';
	put_message(out + before, label, DLTRACED_NAME_MAX - before);
	if (before && !strncmp(out + before, "ai.", 3))
		put_message(out, label, DLTRACED_NAME_MAX);
}

/* Returns whether the payload is an integer, which goes to RET. */
static bool payload_of(const struct nvtx_attributes *attributes, int64_t *ret)
{
	switch (attributes->payload_type) {
	case NVTX_PAYLOAD_U64:
		*ret = attributes->payload.s64;
		return attributes->payload.u64 <= INT64_MAX;
	case NVTX_PAYLOAD_S64:
		*ret = attributes->payload.s64;
		return true;
	case NVTX_PAYLOAD_U32:
		*ret = attributes->payload.u32;
		return true;
	case NVTX_PAYLOAD_S32:
		*ret = attributes->payload.s32;
		return true;
	default:
		return false;
	}
}

/* What the report knows has numbers of its own. */
static void put_payload(dltraced_region *r, int64_t n)
{
	if (!strncmp(r->name, "ai.pipeline.", 12))
		r->epoch = n;
	else if (!strncmp(r->name, "ai.", 3))
		r->step = n;
	else
		dltraced_update_int(r, "payload", n);
}

static void put_args(dltraced_region *region, const struct label *label)
{
	const struct nvtx_attributes *attributes = attributes_of(label);
	const char *category;
	int64_t payload;

	if (!attributes)
		return;
	category = attributes->category ? text_category(label->domain, attributes->category) : NULL;
	if (category)
		dltraced_update_str(region, "category", category);
	else if (attributes->category)
		dltraced_update_int(region, "category", attributes->category);
	if (payload_of(attributes, &payload))
		put_payload(region, payload);
}

static void init(dltraced_region *r, const char *name)
{
	dltraced_init_(r, name);
	r->source = DLTRACED_SOURCE_NVTX;
}

void label_begin(struct range *r, const struct label *l)
{
	init(&r->region, r->name);
	r->domain = l->domain;
	put_name(r->name, l, "nvtx");
	put_args(&r->region, l);
}

void label_mark(const struct label *l)
{
	struct range r;

	init(&r.region, r.name);
	put_name(r.name, l, "");
	put_args(&r.region, l);
	dltraced_send_(DLTRACED_OP_MARK, &r.region, r.region.args, r.region.args_len);
}

void label_fact(const char *name, const char *args, size_t len)
{
	dltraced_region r;

	init(&r, name);
	dltraced_send_(DLTRACED_OP_META, &r, args, len);
}

void label_lost(bool *reported, const char *why)
{
	if (!__atomic_exchange_n(reported, true, __ATOMIC_RELAXED))
		label_fact("nvtx.not_recorded", why, strlen(why));
}
