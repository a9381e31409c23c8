// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc_stacks CALLS: allocates a block in each of CALLS calls of functions that call one another, always from the same
 * places, along one of PATHS paths, and with frames of other sizes each time. What a frame does not fill has the words
 * of earlier calls. Some calls end by longjmp(3). Prints the size of the blocks of each path, and the path: a letter
 * for each function, from the outermost on.
 */
#include <alloca.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PATHS 200
#define LENGTH 12

typedef void function(const char *path, size_t size);

static uint64_t state = 4711;
static jmp_buf outermost;

static unsigned int below(unsigned int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int)(state >> 33) % n;
}

__attribute__((noinline)) static void allocate(size_t size)
{
	void *volatile block = malloc(size);

	free(block);
	if (below(8) == 0)
		longjmp(outermost, 1);
}

static function *function_of(char letter);

/* The rest of a path: a call with others behind it, as a jump would leave no frame. */
#define GO_ON(path, size, room)                                  \
	do {                                                     \
		__asm__ volatile("" : : "r"(room) : "memory");   \
		if (*(path))                                     \
			function_of (*(path))((path) + 1, size); \
		else                                             \
			allocate(size);                          \
		__asm__ volatile("" : : "r"(room) : "memory");   \
	} while (0)

__attribute__((noinline)) static void path_a(const char *path, size_t size)
{
	GO_ON(path, size, path);
}

__attribute__((noinline)) static void path_b(const char *path, size_t size)
{
	char room[40];

	GO_ON(path, size, room);
}

__attribute__((noinline)) static void path_c(const char *path, size_t size)
{
	char *room = alloca(16 * below(24));

	GO_ON(path, size, room);
}

__attribute__((noinline)) static void path_d(const char *path, size_t size)
{
	alignas(64) char room[64];

	GO_ON(path, size, room);
}

static function *function_of(char letter)
{
	static function *const all[] = { path_a, path_b, path_c, path_d };

	return all[letter - 'a'];
}

int main(int argc, char **argv)
{
	static char paths[PATHS][LENGTH + 1];
	static long i;

	if (argc != 2) {
		fprintf(stderr, "usage: alloc_stacks CALLS\n");
		return 2;
	}
	for (int p = 0; p < PATHS; p++) {
		for (unsigned int k = 0, n = 1 + below(p % 4 ? 5 : LENGTH); k < n; k++)
			paths[p][k] = "abcd"[below(4)];
		printf("%d %s\n", 70000 + 16 * p, paths[p]);
	}
	for (i = 0; i < atol(argv[1]); i++) {
		const unsigned int p = below(PATHS);

		if (!setjmp(outermost))
			function_of(paths[p][0])(paths[p] + 1, 70000 + 16 * p);
	}
	return 0;
}
