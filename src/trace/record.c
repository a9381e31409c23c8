/* SPDX-License-Identifier: BSD-2-Clause */
/* Field tables to text: one small function per kind of field, no allocation, no libc formatting. */
#include "trace/record.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "base/util.h"
#include "trace/clock.h"
#include "trace/field.h"
#include "trace/files.h"
#include "trace/probe.h"

/* s_magic: linux/magic.h; not all of them are in every libc's copy */
#define MAGIC_ANON_INODE 0x09041934
#define MAGIC_PIDFS 0x50494446 /* from Linux 6.9 on; before, pidfds were anonymous inodes */
#define MAGIC_PIPEFS 0x50495045
#define MAGIC_SOCKFS 0x534f434b

/* --- strings after the fixed part ---------------------------------------------------------------- */

const char *record_seg(const struct probe *probe, const void *rec, size_t segs_offset, unsigned int i, size_t *len_ret)
{
	const struct dlt_hdr *hdr = rec;
	const struct dlt_segs *segs = (const void *)((const char *)rec + segs_offset);
	size_t at = probe->seg_at ? probe->seg_at : probe->rec_size, len = segs->len[i];

	for (unsigned int j = 0; j < i; j++)
		at += segs->len[j];
	*len_ret = 0;
	if (!len || len > RECORD_SEG_MAX || at + len > hdr->size)
		return NULL;
	*len_ret = len;
	return (const char *)rec + at;
}

size_t record_path(char *dst, const char *seg, size_t len)
{
	size_t at = 0;

	if (!len) {
		dst[0] = '/';
		return 1;
	}
	/* components are stored from the last to the first */
	for (size_t end = len; end;) {
		size_t start = end - 1; /* its NUL */

		while (start && seg[start - 1])
			start--;
		dst[at++] = '/';
		memcpy(dst + at, seg + start, end - 1 - start);
		at += end - 1 - start;
		end = start;
	}
	return at;
}

size_t record_abs(char *dst, const char *s, size_t s_len, const char *base, size_t base_len)
{
	size_t at = 0, i = 0;

	if (!s_len)
		return 0;
	if (s[0] != '/') {
		if (!base) {
			memcpy(dst, s, s_len);
			return s_len;
		}
		at = record_path(dst, base, base_len);
		if (at == 1)
			at = 0; /* "/": the separator below is enough */
	}
	while (i < s_len) {
		size_t n;

		while (i < s_len && s[i] == '/')
			i++;
		for (n = 0; i + n < s_len && s[i + n] != '/'; n++)
			;
		if (n && !(n == 1 && s[i] == '.')) {
			dst[at++] = '/';
			memcpy(dst + at, s + i, n);
			at += n;
		}
		i += n;
	}
	if (!at)
		dst[at++] = '/';
	return at;
}

size_t record_abs_seg(char *dst, const struct probe *p, const void *rec, size_t segs_offset, unsigned int i,
		      unsigned int base)
{
	size_t len, base_len;
	const char *s = record_seg(p, rec, segs_offset, i, &len),
		   *walked = record_seg(p, rec, segs_offset, base, &base_len);

	return record_abs(dst, s, len ? len - 1 : 0, walked, base_len);
}

size_t record_realpath(char *dst, const struct dlt_file *file, const char *seg, size_t len)
{
	static const char unreachable[] = "(unreachable)"; /* as getcwd(2) marks it */
	size_t n = 0;

	if (file->flags & DLT_PATH_FLOATING) {
		/* the forms of /proc/PID/fd: d_path's d_dname of each file system */
		if (file->magic == MAGIC_PIPEFS || file->magic == MAGIC_SOCKFS)
			return (size_t)sprintf(dst, "%s:[%llu]", file->magic == MAGIC_PIPEFS ? "pipe" : "socket",
					       (unsigned long long)file->id.ino);
		if (file->magic == MAGIC_PIDFS)
			return (size_t)sprintf(dst, "anon_inode:[pidfd]");
		n = (size_t)sprintf(dst, "%s", file->magic == MAGIC_ANON_INODE ? "anon_inode:" : "/");
		if (len)
			memcpy(dst + n, seg, --len); /* without its NUL */
		return n + len;
	}
	if (file->flags & DLT_PATH_UNREACHABLE) {
		if (!len)
			return 0; /* its name was lost */
		n = sizeof(unreachable) - 1;
		memcpy(dst, unreachable, n);
	}
	return n + record_path(dst + n, seg, len);
}

/* --- names of things --------------------------------------------------------------------------- */

static const char *file_type(const struct dlt_file *file, const char *seg, size_t len)
{
	static const struct {
		uint32_t mode;
		const char *name;
	} types[] = {
		{ S_IFREG, "reg" },  { S_IFDIR, "dir" },   { S_IFCHR, "chr" }, { S_IFBLK, "blk" },
		{ S_IFIFO, "fifo" }, { S_IFSOCK, "sock" }, { S_IFLNK, "lnk" },
	};
	bool tmpfs = !strncmp(file->fstype, "tmpfs", sizeof(file->fstype));

	if (file->magic == MAGIC_ANON_INODE || file->magic == MAGIC_PIDFS)
		return "anon";
	if (file->flags & DLT_PATH_FLOATING && tmpfs)
		return len > 6 && !memcmp(seg, "memfd:", 6) ? "memfd" : "shm";
	if (tmpfs && len >= 8 && S_ISREG(file->mode)) {
		char path[RECORD_PATH_MAX];

		if (record_path(path, seg, len) > 9 && !memcmp(path, "/dev/shm/", 9))
			return "shm";
	}
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if ((file->mode & S_IFMT) == types[i].mode)
			return types[i].name;
	return file->mode ? "anon" : "-";
}

static const char *file_state(const struct dlt_file *file)
{
	if (file->flags & DLT_PATH_FLOATING)
		return "ok";
	if (file->flags & DLT_PATH_DELETED)
		return "deleted";
	if (file->flags & DLT_PATH_UNREACHABLE)
		return "unreachable";
	if (file->flags & DLT_PATH_TRUNCATED)
		return "truncated";
	return "ok";
}

static __attribute__((noinline)) char *put_new_name(char *out, const char *name, struct record_name *slot)
{
	size_t len = strlen(name);

	if (len <= sizeof(slot->text)) {
		*slot = (struct record_name){ .name = name, .len = (uint8_t)len };
		memcpy(slot->text, name, len);
	}
	return mempcpy(out, name, len);
}

static inline char *put_name(char *out, const char *name, struct record_ctx *ctx)
{
	struct record_name *slot = &ctx->names[(uintptr_t)name / 8 % RECORD_NAME_SLOTS];

	if (slot->name != name)
		return put_new_name(out, name, slot);
	/* of fixed size: the rest is overwritten */
	memcpy(out, slot->text, sizeof(slot->text));
	return out + slot->len;
}

/* Appends the names of the bits of *V joined by '|', clearing those bits; ZERO: also the name of no bit. */
static inline __attribute__((always_inline)) char *put_set(char *out, const struct field_name *names, uint64_t *v,
							   bool zero, struct record_ctx *ctx)
{
	char *start = out;

	for (const struct field_name *n = names; (zero || *v) && n->name; n++) {
		uint64_t mask = n->mask ? n->mask : n->value;

		if ((*v & mask) != n->value)
			continue;
		if (out > start)
			*out++ = '|';
		out = put_name(out, n->name, ctx);
		*v &= ~mask;
	}
	return out;
}

/* ARG of the field: by how much the bits of a value are shifted that must not be taken for another's (mremap's). */
static char *put_flags(char *out, const struct field *field, uint64_t v, struct record_ctx *ctx)
{
	char *start = out;

	out = put_set(out, field->names, &v, true, ctx);
	if (field->arg && !(v & ((1ULL << field->arg) - 1)))
		v >>= field->arg;
	if (v && out > start)
		*out++ = '|';
	if (v)
		return text_put_hex(out, v);
	if (out == start)
		*out++ = '0';
	return out;
}

static char *put_bits(char *out, const struct field_name *names, uint64_t v, struct record_ctx *ctx)
{
	char *end = put_set(out, names, &v, false, ctx);

	if (end == out)
		*end++ = '-';
	return end;
}

/* --- fields ------------------------------------------------------------------------------------ */

static char *put_nullable(char *out, const struct field *field, int64_t v, struct record_ctx *ctx)
{
	if (v == DLT_NONE || v == DLT_UNKNOWN) {
		*out++ = v == DLT_NONE ? '-' : '?';
		return out;
	}
	if (field->kind == FIELD_S64)
		return text_put_s64(out, v);
	switch (field->kind) {
	case FIELD_ADDR:
		return v > -4096 && v <= 0 ? text_put_s64(out, v) : text_put_hex(out, (uint64_t)v);
	case FIELD_MODE:
		return text_put_octal(out, (uint64_t)v);
	case FIELD_FLAGS:
		return put_flags(out, field, (uint64_t)v, ctx);
	default:
		return text_put_s64(out, v);
	}
}

struct file_entry *record_file(struct record_ctx *ctx, const struct dlt_file_id *id)
{
	struct file_entry *e = ctx->file;

	if (!e || e->file.id.ino != id->ino || e->file.id.dev != id->dev || e->file.id.gen != id->gen)
		ctx->file = e = id->ino ? files_get(ctx->files, id) : NULL;
	return e;
}

static char *put_fid(char *out, const struct field *field, const struct dlt_file_id *id, struct record_ctx *ctx)
{
	const struct file_entry *entry = record_file(ctx, id);

	if (!entry) {
		*out++ = '-';
		return out;
	}
	if (field->kind == FIELD_FID)
		return text_put_u64(out, entry->fid);
	if (!entry->path_len) {
		*out++ = '?';
		return out;
	}
	memcpy(out, entry->text, entry->text_len);
	return out + entry->text_len;
}

/* Not inlined, so that rows without a path need no stack for one. */
static __attribute__((noinline)) char *put_seg(char *out, const struct probe *probe, const struct field *field,
					       const void *rec, struct record_ctx *ctx)
{
	char path[RECORD_PATH_MAX];
	size_t len;
	const struct dlt_segs *all = (const void *)((const char *)rec + field->offset);
	const char *s;

	if (field->kind == FIELD_REALPATH) {
		const struct dlt_file *file = (const void *)((const char *)rec + field->offset);
		const struct file_entry *e = record_file(ctx, &file->id);

		/* decode_file() has just named it by this record */
		if (e && e->path_len && !(file->flags & DLT_PATH_TRUNCATED))
			return e->plain ? mempcpy(out, e->path, e->path_len) : text_put_str(out, e->path, e->path_len);
		s = record_seg(probe, rec, field->offset + sizeof(*file), field->arg, &len);
		if (!file->id.ino)
			return text_put_str(out, NULL, 0);
		return text_put_str(out, path, record_realpath(path, file, s, len));
	}
	if (field->kind == FIELD_ABS && all->len[field->arg2] != DLT_SEG_VERBATIM)
		return text_put_str(out, path,
				    record_abs_seg(path, probe, rec, field->offset, field->arg, field->arg2));
	s = record_seg(probe, rec, field->offset, field->arg, &len);
	/* argument vectors contain NULs */
	if (s && !s[len - 1])
		len--;
	return text_put_str(out, s, len);
}

static char *put_dev(char *out, uint32_t dev)
{
	out = text_put_u64(out, dev >> 20);
	*out++ = ':';
	return text_put_u64(out, dev & 0xfffff);
}

static char *put_real(char *out, enum field_kind kind, const struct dlt_file_at *file)
{
	if (file->real_ino)
		return kind == FIELD_REALDEV ? put_dev(out, file->real_dev) : text_put_u64(out, file->real_ino);
	*out++ = '-';
	return out;
}

/* Puts those of the N counts of values from 2^I on that are not 0, as 2^I=count; "-" for none. */
static char *put_log2(char *out, const uint32_t *count, unsigned int n)
{
	char *const begin = out;

	for (unsigned int i = 0; i < n; i++) {
		if (!count[i])
			continue;
		if (out > begin)
			*out++ = ',';
		out = text_put_u64(out, 1ULL << i);
		*out++ = '=';
		out = text_put_u64(out, count[i]);
	}
	if (out == begin)
		*out++ = '-';
	return out;
}

/* A colon and a port follow the address, which is in brackets where it has colons itself (RFC 3986). */
static char *put_peer(char *out, const struct dlt_peer *peer)
{
	char addr[INET6_ADDRSTRLEN];
	uint32_t vsock[2]; /* context and port */

	if (peer->family == AF_VSOCK) {
		memcpy(vsock, peer->addr, sizeof(vsock));
		out = text_put_u64(out, vsock[0]);
		*out++ = ':';
		return text_put_u64(out, vsock[1]);
	}
	if (!inet_ntop(peer->family, peer->addr, addr, sizeof(addr))) {
		*out++ = '-';
		return out;
	}
	if (peer->family == AF_INET6)
		*out++ = '[';
	out = stpcpy(out, addr);
	if (peer->family == AF_INET6)
		*out++ = ']';
	*out++ = ':';
	return text_put_u64(out, peer->port);
}

static char *put_field(char *out, const struct probe *probe, const struct field *field, const void *rec,
		       struct record_ctx *ctx)
{
	const char *at = (const char *)rec + field->offset;
	const struct dlt_file *file = (const void *)at;
	const struct probe *calls;
	const char *s;
	size_t len;

	switch (field->kind) {
	case FIELD_TS:
	case FIELD_U64:
		return text_put_u64(out, *(const uint64_t *)at);
	case FIELD_SIZE:
		if (*(const uint64_t *)at == DLT_NO_SIZE)
			return put_nullable(out, field, DLT_NONE, ctx);
		return text_put_u64(out, *(const uint64_t *)at);
	case FIELD_UTC:
		return text_put_utc(out, clock_utc_ns(ctx->clock, *(const uint64_t *)at), ctx->utc);
	case FIELD_U16:
		return text_put_u64(out, *(const uint16_t *)at);
	case FIELD_U32:
		return text_put_u64(out, *(const uint32_t *)at);
	case FIELD_S32:
		if (*(const int32_t *)at == DLT_NONE32)
			return put_nullable(out, field, DLT_NONE, ctx);
		return text_put_s64(out, *(const int32_t *)at);
	case FIELD_HEX:
		return text_put_hex(out, *(const uint64_t *)at);
	case FIELD_S64:
	case FIELD_ADDR:
	case FIELD_MODE:
	case FIELD_FLAGS:
		return put_nullable(out, field, *(const int64_t *)at, ctx);
	case FIELD_BITS:
		return put_bits(out, field->names, *(const uint32_t *)at, ctx);
	case FIELD_COMM:
		return text_put_str(out, at, strnlen(at, DLT_COMM_LEN));
	case FIELD_STR:
	case FIELD_WORD:
		return text_put_str(out, at, strnlen(at, field->arg));
	case FIELD_FUNC:
		calls = probe_of_calls(probe, field);
		return put_name(out,
				*(const uint16_t *)at < calls->n_calls ? calls->calls[*(const uint16_t *)at].name : "?",
				ctx);
	case FIELD_NAME:
		for (const struct field_name *n = field->names; n->name; n++)
			if (n->value == *(const uint32_t *)at)
				return put_name(out, n->name, ctx);
		return text_put_u64(out, *(const uint32_t *)at);
	case FIELD_FID:
	case FIELD_FILE:
		return put_fid(out, field, (const void *)at, ctx);
	case FIELD_USTR:
	case FIELD_STACK:
	case FIELD_ABS:
	case FIELD_REALPATH:
		return put_seg(out, probe, field, rec, ctx);
	case FIELD_FILEDEV:
		return put_dev(out, file->at.dev ?: file->id.dev);
	case FIELD_REALDEV:
	case FIELD_REALINO:
		return put_real(out, field->kind, (const void *)at);
	case FIELD_PEER:
		return put_peer(out, (const void *)at);
	case FIELD_LOG2:
		return put_log2(out, (const void *)at, field->arg);
	case FIELD_FILETYPE:
		s = record_seg(probe, rec, field->offset + sizeof(*file), 0, &len);
		return put_name(out, file_type(file, s, len), ctx);
	case FIELD_FILESTATE:
		return put_name(out, file_state(file), ctx);
	}
	return out;
}

/* Other threads' rows come in between, so by TID; a thread's name may change, and tids are reused. */
static char *put_thread(char *out, const struct dlt_hdr *hdr, struct record_thread *slots)
{
	struct record_thread *thread = &slots[hdr->tid % RECORD_THREAD_SLOTS];
	char *end;

	if (!thread->len || thread->tid != hdr->tid || thread->tgid != hdr->tgid ||
	    memcmp(thread->comm, hdr->comm, DLT_COMM_LEN)) {
		thread->tid = hdr->tid;
		thread->tgid = hdr->tgid;
		memcpy(thread->comm, hdr->comm, DLT_COMM_LEN);
		end = text_put_u64(thread->text, thread->tgid);
		*end++ = '\t';
		end = text_put_u64(end, thread->tid);
		*end++ = '\t';
		end = text_put_str(end, thread->comm, strnlen(thread->comm, DLT_COMM_LEN));
		thread->len = (uint8_t)(end - thread->text);
	}
	/* in two moves of fixed size: the rest is overwritten */
	memcpy(out, thread->text, 32);
	if (thread->len > 32)
		memcpy(out + 32, thread->text + 32, sizeof(thread->text) - 32);
	return out + thread->len;
}

/* FIELDS_HEAD. */
static char *put_head(char *out, const struct dlt_hdr *hdr, struct record_ctx *ctx)
{
	out = text_put_ns(out, hdr->ts_ns, &ctx->ts);
	*out++ = '\t';
	out = text_put_utc(out, clock_utc_ns(ctx->clock, hdr->ts_ns), ctx->utc);
	*out++ = '\t';
	out = put_thread(out, hdr, ctx->threads);
	*out++ = '\t';
	return out;
}

char *record_put_row(char *out, const struct probe *probe, const void *rec, struct record_ctx *ctx)
{
	const struct field *field = probe->fields, *end = field + probe->n_fields;

	if (field->kind == FIELD_TS && field->arg == FIELDS_HEAD_N && ctx->threads) {
		out = put_head(out, rec, ctx);
		field += FIELDS_HEAD_N;
	}
	for (; field < end; field++) {
		out = put_field(out, probe, field, rec, ctx);
		*out++ = '\t';
	}
	out[-1] = '\n';
	return out;
}

char *record_put_header(char *out, const struct probe *p)
{
	out += sprintf(out, "# dltraced %s %d\n", p->name, DLT_SCHEMA);
	for (unsigned int i = 0; i < p->n_fields; i++) {
		out = stpcpy(out, p->fields[i].name);
		*out++ = '\t';
	}
	out[-1] = '\n';
	return out;
}
