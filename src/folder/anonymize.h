/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace without names: of files, programs, arguments, users, hosts; see names.h. */
#ifndef FOLDER_ANONYMIZE_H
#define FOLDER_ANONYMIZE_H

#include "folder/names.h"

/* Makes TO of FROM with stand-ins by NAMES. Returns as copy_folder(). */
int anonymize_folder(const char *from, const char *to, const struct names *names);

#endif
