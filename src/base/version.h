/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of this program, in one object: a new commit compiles one file. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

/* As scripts/version prints it: "0.1.0", or "0.1.0.dev12" 12 commits after the release before that. */
extern const char version_text[];

/* The libraries that do not know their versions at run time, as of the build: "libelf 0.188, ..."; may be empty. */
extern const char version_built_with[];

#endif
