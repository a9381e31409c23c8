/* SPDX-License-Identifier: BSD-2-Clause */
/* How the report writes numbers and foreign text for humans. Pure. */
#ifndef BASE_FMT_H
#define BASE_FMT_H

#include <stdint.h>
#include <stdio.h>

#define FMT_MAX 24

/* All return BUF. */
char *fmt_count(char buf[FMT_MAX], uint64_t n);
#define FMT_N_MAX 96
/* "1 row was", "2 rows were": N, and what follows it, for 1 or for others */
char *fmt_n(char buf[FMT_N_MAX], uint64_t n, const char *one, const char *others);
/* "512 B", "1.50 KiB", "23.4 GiB": powers of 1024, three digits */
char *fmt_bytes(char buf[FMT_MAX], uint64_t bytes);
/* "950 ns", "1.50 us", "23.4 ms", "3600 s" */
char *fmt_ns(char buf[FMT_MAX], uint64_t ns);

/* 1234567 as "1.2", SEP, "M" and UNIT: powers of 1000; below, digits with SEP before UNIT where there is one */
char *fmt_si(char buf[FMT_MAX], double v, const char *sep, const char *unit);

/*
 * How a process ended, from waitpid(2)'s STATUS, to follow a noun: "ended with status 3", "ended by
 * SIGKILL".
 */
char *fmt_ended(char buf[FMT_MAX], int status);

/* For the arguments of a printf: the buffer lives as long as the enclosing block. */
#define FMT_COUNT(v) fmt_count((char[FMT_MAX]){ 0 }, v)
#define FMT_N(v, one, others) fmt_n((char[FMT_N_MAX]){ 0 }, v, one, others)
#define FMT_BYTES(v) fmt_bytes((char[FMT_MAX]){ 0 }, v)
#define FMT_SI(v, unit) fmt_si((char[FMT_MAX]){ 0 }, (double)(v), " ", unit)
#define FMT_ENDED(v) fmt_ended((char[FMT_MAX]){ 0 }, v)
#define FMT_NS(v) fmt_ns((char[FMT_MAX]){ 0 }, v)

/*
 * Text from outside, padded with blanks to WIDTH columns: characters that could control a terminal or
 * mislead its reader (control characters, also those of Unicode, invalid UTF-8) are written \ooo. NULL is -.
 * fmt_text() is for names as a trace's files have them, which are escaped already: a quote, a #, a single blank
 * within a name, and a backslash that no three octal digits follow are shown as they are, so what it shows stands
 * for one name. fmt_plain() is for text without escapes, as the manifest's command and folders: a backslash in
 * it is one.
 */
void fmt_text(FILE *out, const char *s, int width);
void fmt_plain(FILE *out, const char *s, int width);
/* Returns how many bytes of S fit into COLUMNS columns, one for each character. */
int fmt_fits(const char *s, unsigned int columns);
/* BEFORE, which is our own text, then such a text, and the end of the line. */
void fmt_line(FILE *out, const char *before, const char *s);

#endif
