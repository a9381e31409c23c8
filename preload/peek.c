/* SPDX-License-Identifier: BSD-2-Clause */
#include "peek.h"

#include <sys/uio.h>
#include <unistd.h>

#define SPANS 32 /* a call */
#define SPAN_BYTES 96

bool peek_careful(void *to, const void *from, size_t n)
{
	return process_vm_readv(getpid(), &(struct iovec){ to, n }, 1, &(struct iovec){ (void *)from, n }, 1, 0) ==
	       (ssize_t)n;
}

/* The kernel takes 300 ns for each piece of memory, so words that lie beside one another are one. */
bool peek_same_careful(const struct peek_word *words, unsigned int n)
{
	char got[SPANS][SPAN_BYTES];
	struct iovec from[SPANS], to[SPANS];
	unsigned int begin[SPANS + 1]; /* the first word of each */

	for (unsigned int at = 0, spans; at < n;) {
		ssize_t bytes = 0;

		for (spans = 0; spans < SPANS && at < n; spans++) {
			const char *low = words[at].at, *high = low + sizeof(uint64_t);

			begin[spans] = at++;
			while (at < n && words[at].at >= low && words[at].at + sizeof(uint64_t) <= low + SPAN_BYTES) {
				high = words[at].at + sizeof(uint64_t) > high ? words[at].at + sizeof(uint64_t) : high;
				at++;
			}
			from[spans] = (struct iovec){ (void *)low, (size_t)(high - low) };
			to[spans] = (struct iovec){ got[spans], (size_t)(high - low) };
			bytes += high - low;
		}
		begin[spans] = at;
		if (process_vm_readv(getpid(), to, spans, from, spans, 0) != bytes)
			return false;
		for (unsigned int i = 0; i < spans; i++)
			for (unsigned int k = begin[i]; k < begin[i + 1]; k++)
				if (memcmp(got[i] + (words[k].at - words[begin[i]].at), &words[k].value,
					   sizeof(uint64_t)) != 0)
					return false;
	}
	return true;
}
