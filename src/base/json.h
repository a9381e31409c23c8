/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes JSON (RFC 8259) for machines that humans also read: two blanks a level, one value a line. Append
 * only, into a buffer that grows; the first error sticks and json_finish() returns it, so calls in between
 * need no checks. Knows nothing of files.
 *
 * KEY is the member's name inside an object and NULL elsewhere. A string byte that is not valid UTF-8
 * becomes the text \ooo (octal), as in the .out files: JSON cannot hold such a byte, U+FFFD would lose its
 * value, and \u00ff would read as another, valid character.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json {
	char *buf;
	size_t len, size;
	unsigned int depth;
	unsigned int row; /* the depth of the open row; 0: none */
	bool flat; /* set by the caller at first: all of it is one line */
	char closer[JSON_DEPTH_MAX];
	bool empty; /* the innermost object or array is still empty */
	int error;
};

/* A zeroed struct json is ready for use. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
/* An array whose values, of any kind, stay on its line. */
void json_row(struct json *j, const char *key);
/* End the innermost object or array. */
void json_end(struct json *json);

/* A string; NULL is null. */
void json_str(struct json *j, const char *key, const char *s);
void json_strn(struct json *j, const char *key, const char *s, size_t len);
/* An array of N such strings. */
void json_strs(struct json *j, const char *key, char *const *s, size_t n);
void json_u64(struct json *j, const char *key, uint64_t v);
void json_s64(struct json *j, const char *key, int64_t v);
void json_f64(struct json *json, const char *key, double v); /* six digits; null where V is not a number */
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* null unless KNOWN. */
void json_u64_known(struct json *j, const char *key, bool known, uint64_t v);

/* Adds the last newline. 0: BUF holds LEN bytes; -ENOMEM, or -EINVAL when the ends do not match. */
int json_finish(struct json *j);
void json_free(struct json *j);
/* json_finish(), and json_free() but for the text, without its last newline: for free(); NULL where json_finish()
 * fails. */
char *json_text(struct json *j);
/*
 * json_finish(), write all of it to OUT, which keeps its own errors, and json_free(). Returns what
 * json_finish() returned.
 */
int json_write(struct json *j, FILE *out);

#endif
