/* SPDX-License-Identifier: BSD-2-Clause */
/* The program that a process runs, by its arguments. */
#ifndef REPORT_WHY_NAMES_H
#define REPORT_WHY_NAMES_H

#include "report/scan/model.h"

/* Sets the fields of P that follow from its arguments ARGS. */
void why_program(struct report_proc *p, struct reader_field args);
/* Returns how many containers the cgroup at PATH is in, by the names that runtimes give to their cgroups. */
unsigned int why_containers_of(struct reader_field path);
/* Whether NAME is a program that starts containers, or waits for them. */
bool why_is_runtime(struct reader_field name);
bool why_is_shell(struct reader_field name);
/* Whether NAME is the interpreter of a language, such as python3.12. */
bool why_is_interpreter(struct reader_field name);

#endif
