/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack of Python's lines that a thread is in, as a number: what was being executed when it called malloc. */
#ifndef PRELOAD_PYTHON_H
#define PRELOAD_PYTHON_H

#include <stdint.h>

/* While the library is loaded: whether the program, or a library that it is linked with, is an interpreter. */
void python_find(void);

/* Returns the number; 0: the thread is in no Python, or there are too many. Called while thread.busy. */
uint32_t python_site(void);

void python_thread_ends(void);

#endif
