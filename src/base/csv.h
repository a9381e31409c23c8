/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes one CSV file (RFC 4180, but lines end with LF, which awk and cut expect) that programs and
 * spreadsheets can read safely. Knows nothing about the columns.
 *
 * A text field is unescaped from the form of the .out files first. Bytes that are not valid UTF-8, and
 * control characters except TAB, LF and CR, stay \ooo: a single one would make readers refuse the file, or
 * control the terminal that shows it. A text that a spreadsheet would take for a formula (= + - @, also in
 * full width, or TAB, CR, LF first) gets an apostrophe before it, and so does one that begins with an
 * apostrophe: a reader that wants the original text removes one leading apostrophe.
 */
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *out;
	bool begun; /* the current line has a field */
};

/* Begin the file NAME in the folder DIRFD, replacing an existing one. 0 or -errno. */
int csv_open(struct csv *csv, int dirfd, const char *name);
/* Returns 0, or -errno of the first failure since. */
int csv_close(struct csv *c);

/*
 * The next field: a text, a number in printf(3)'s form, which may be empty (""), ns as seconds with nine
 * decimals.
 */
void csv_text(struct csv *c, const char *escaped);
void csv_number(struct csv *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void csv_seconds(struct csv *c, bool negative, uint64_t ns);
void csv_end(struct csv *c);

#endif
