/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that belong to this program, wherever it has been installed or built. */
#ifndef HOST_INSTALLED_H
#define HOST_INSTALLED_H

/*
 * Returns the absolute path of FILE in the first of PLACES, folders relative to this program's that end with NULL,
 * where it can be read. NULL: in none.
 */
char *installed_find(const char *const places[], const char *file);

/* Likewise of the library NAME, which traced programs load. NULL has been logged, with the OPTION that needs it. */
char *installed_library(const char *name, const char *option);

#endif
