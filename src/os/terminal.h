/* SPDX-License-Identifier: BSD-2-Clause */
/* How wide the lines may be that commands print: by COLUMNS, as in other programs, and by the terminal. */
#ifndef OS_TERMINAL_H
#define OS_TERMINAL_H

/*
 * How long a line for FD may be. The first returns the columns of COLUMNS or of the terminal, whichever has fewer, at
 * least 20; 0 when neither is known, as in a pipe: then what must stay whole is as long as it is. The second returns
 * the same, but at most 120, and 80 instead of 0: for texts and tables, which can be arranged.
 */
unsigned int terminal_limit(int fd);
unsigned int terminal_width(int fd);

/*
 * From here on, stdout breaks lines that are longer than terminal_limit(), which this returns; 0: nothing is known, and
 * no line is broken. The second one ends that, for what must stay as it is, and before the program looks for errors of
 * stdout.
 */
unsigned int terminal_fold(void);
void terminal_unfold(void);

#endif
