/* SPDX-License-Identifier: BSD-2-Clause */
/* The few largest of many, in an array that is kept in order. */
#ifndef STATS_TOP_H
#define STATS_TOP_H

/*
 * Returns a place for KEY in the array TOP, of which N of MAX are in use, the largest first; those after it
 * move. KEY_OF is the key of the entry that E, a name of the caller's, points to. NULL: it is none of the
 * largest.
 */
#define TOP_PLACE(top, n, max, e, key_of, key)                                                \
	({                                                                                    \
		__typeof__((top)[0]) *place_ = NULL, *e = &(top)[(n) ? (n)-1 : 0];            \
		const __typeof__(key) key_ = (key);                                           \
		if ((n) < (max) || (key_of) < key_) {                                         \
			place_ = &(top)[(n) < (max) ? (n)++ : (n)-1];                         \
			for (; place_ > (top) && (e = place_ - 1, (key_of) < key_); place_--) \
				*place_ = *e;                                                 \
		}                                                                             \
		place_;                                                                       \
	})

#endif
