/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/version.h"

const char version_text[] =
#include "version.inc" /* generated, as the next one */
	;

const char version_built_with[] =
#include "built_with.inc"
	;
