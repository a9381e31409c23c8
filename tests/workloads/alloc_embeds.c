// SPDX-License-Identifier: BSD-2-Clause
/*
 * alloc_embeds THREADS: ends an interpreter while threads that are in Python, without the GIL, allocate; then allocates
 * on. The interpreter is the libpython that LD_PRELOAD names, so that it needs no headers. Status 0, unless something
 * breaks; 3: no interpreter is loaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BYTES 70000
#define DEPTH 500 /* so that frames are in memory that is given back at the end */

static void (*py_initialize)(int);
static int (*py_finalize)(void);
static int (*py_run)(const char *text);
static int (*py_ensure)(void);
static void *(*py_save)(void);
static void (*py_restore)(void *state);

static _Atomic int running, over;
static _Atomic long calls;

static void allocate(void)
{
	void *volatile p = malloc(BYTES);

	free(p);
	calls++;
}

/* Called from Python, by ctypes, which gives up the GIL. */
static void spin(void)
{
	running++;
	while (!over)
		allocate();
	running--;
}

static void *thread(void *arg)
{
	char text[512];

	(void)arg;

	py_ensure();
	snprintf(text, sizeof(text),
		 "import ctypes\n"
		 "def down(n):\n"
		 "    return down(n - 1) if n else ctypes.CFUNCTYPE(None)(%llu)()\n"
		 "down(%d)\n",
		 (unsigned long long)(uintptr_t)spin, DEPTH);
	py_run(text); /* ends the thread, as the interpreter does with those that come back after its end */
	return NULL;
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static int look(void)
{
#define LOOK(to, name) *(void **)&to = dlsym(RTLD_DEFAULT, name)
	LOOK(py_initialize, "Py_InitializeEx");
	LOOK(py_finalize, "Py_FinalizeEx");
	LOOK(py_run, "PyRun_SimpleString");
	LOOK(py_ensure, "PyGILState_Ensure");
	LOOK(py_save, "PyEval_SaveThread");
	LOOK(py_restore, "PyEval_RestoreThread");
	return py_initialize && py_finalize && py_run && py_ensure && py_save && py_restore;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t id;
	void *state;

	if (!look())
		return 3;
	py_initialize(0);
	py_run("x = [bytearray(70000) for _ in range(10)]");
	state = py_save();
	for (int i = 0; i < n; i++)
		if (pthread_create(&id, NULL, thread, NULL) || pthread_detach(id))
			return 1;
	while (running < n)
		sleep_ms(1);
	for (int i = 0; i < 1000; i++)
		allocate();
	py_restore(state);
	py_run("del x; y = bytearray(70000)");
	py_finalize();
	for (int i = 0; i < 1000; i++)
		allocate();
	sleep_ms(20);
	over = 1;
	while (running)
		sleep_ms(1);
	printf("%ld\n", (long)calls);
	return 0;
}
