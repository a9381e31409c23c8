/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the targets share. A target is libFuzzer's LLVMFuzzerTestOneInput() and gives the product the
 * input in the form that an attacker, or an accident, has in hand: a file, a packet, a line. Beyond
 * what the sanitizers see, EXPECT() says what must hold.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(what)                                                                       \
	do {                                                                               \
		if (!(what)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
			abort();                                                           \
		}                                                                          \
	} while (0)

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/*
 * For a target's LLVMFuzzerCustomMutator(), of text with decimal numbers: every other time one of them becomes the
 * first or last of some width, which libFuzzer's own changes of single bytes hardly ever find.
 */
static inline size_t fuzz_mutate_number(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	static const char *const extremes[] = {
		"0",
		"4294967295",
		"4611686018427387903",
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551615",
		"-1",
		"-9223372036854775808",
	};
	const char *number = extremes[seed / 2 % ARRAY_SIZE(extremes)];
	size_t at = size ? seed / 16 * 2654435761U % size : 0, end, len = strlen(number);

	while (at < size && (data[at] < '0' || data[at] > '9'))
		at++;
	if (seed % 2 || at == size)
		return LLVMFuzzerMutate(data, size, max);
	while (at && data[at - 1] >= '0' && data[at - 1] <= '9')
		at--;
	for (end = at; end < size && data[end] >= '0' && data[end] <= '9';)
		end++;
	if (size - (end - at) + len > max)
		return LLVMFuzzerMutate(data, size, max);
	memmove(data + at + len, data + end, size - end);
	memcpy(data + at, number, len);
	return size - (end - at) + len;
}

#define FUZZ_NUMBERS                                                                               \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed); \
	size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)  \
	{                                                                                          \
		return fuzz_mutate_number(data, size, max, seed);                                  \
	}

/* Returns the input as a string of its own, so that a read beyond its end is noticed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	EXPECT(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Returns the next piece of the input, up to MARK; *DATA is then after it. */
static inline char *fuzz_piece(const uint8_t **data, size_t *size, const char *mark)
{
	const uint8_t *end = memmem(*data, *size, mark, strlen(mark));
	size_t len = end ? (size_t)(end - *data) : *size, skip = end ? len + strlen(mark) : len;
	char *text = fuzz_text(*data, len);

	*data += skip;
	*size -= skip;
	return text;
}

/* Returns the input as a file. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	EXPECT(fd >= 0 && util_write_all(fd, data, size) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

/* Returns a stream that discards its output. */
static inline FILE *fuzz_nowhere(void)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "we");
	EXPECT(out);
	return out;
}

/* Returns this process's folder, with the same path in every run of the target. tests/run-fuzz removes it. */
static inline const char *fuzz_folder(void)
{
	static char folder[256];
	const char *base = getenv("FUZZ_TMP");

	if (*folder)
		return folder;
	snprintf(folder, sizeof(folder), "%s/dltraced-fuzz.XXXXXX", base ? base : "/tmp");
	EXPECT(mkdtemp(folder));
	return folder;
}

/* Writes BYTES to NAME in that folder, and makes the folders on the way. */
static inline void fuzz_put(const char *name, const void *bytes, size_t size)
{
	autofree char *path = util_fmt("%s/%s", fuzz_folder(), name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0) {
		for (char *s = path + strlen(fuzz_folder()) + 1; (s = strchr(s, '/')); *s++ = '/') {
			*s = '\0';
			mkdir(path, 0700);
		}
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	EXPECT(fd >= 0 && util_write_all(fd, bytes, size) == 0);
	close(fd);
}

#endif
