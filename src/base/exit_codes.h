/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced's own exit statuses, as with env(1) and timeout(1): lower ones may be the workload's. */
#ifndef BASE_EXIT_CODES_H
#define BASE_EXIT_CODES_H

#define EXIT_DLTRACED 125 /* dltraced itself failed */
#define EXIT_DAMAGED 1 /* report: the trace's files do not match its manifest; the rest was read; validate: the trace is not valid */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

#endif
