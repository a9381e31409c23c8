/* SPDX-License-Identifier: BSD-2-Clause */
/* A column of several rows at once, as numbers. */
#ifndef TRACE_READER_COLUMNS_H
#define TRACE_READER_COLUMNS_H

#include "trace/reader.h"

#define READER_ROWS_MAX 32

/*
 * Column COLUMN of N rows, READER_ROWS_MAX at most: bit I of what is returned says whether that of ROWS[I] is a decimal
 * number, whole and in range, which then is in RET[I]; the other RET are of any value. None is where COLUMN is 0.
 */
uint32_t reader_column_u64(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret);
/* The same by any machine's instructions; to be tested against. */
uint32_t reader_column_u64_anywhere(const struct reader_row *rows, unsigned int n, unsigned int column, uint64_t *ret);

#endif
