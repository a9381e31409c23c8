/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a field is one of the words that its column can have: calls, kinds, events. Pure. */
#ifndef VALIDATE_WORDS_H
#define VALIDATE_WORDS_H

#include <stdbool.h>

#include "trace/reader_fields.h"

struct field;
struct probe;

/* Whether the table lists the words of FIELD's column. */
bool words_are(const struct field *field);
/* Whether V is one of them, for rows of P; - and ?, and a number, which stands for a value without a word, are. */
bool words_have(const struct probe *p, const struct field *field, struct reader_field v);

#endif
