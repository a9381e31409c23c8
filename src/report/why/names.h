/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process runs, by its arguments. */
#ifndef REPORT_WHY_NAMES_H
#define REPORT_WHY_NAMES_H

#include "report/scan/model.h"

/* P runs a program with ARGS. */
void why_program(struct report_proc *p, struct reader_field args);
bool why_is_shell(struct reader_field name);
/* It runs programs of a language, python3.12 for one. */
bool why_is_interpreter(struct reader_field name);

#endif
