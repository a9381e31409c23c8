/* SPDX-License-Identifier: BSD-2-Clause */
/* For programs that include it by this name. */
#include "dftracer.h"
