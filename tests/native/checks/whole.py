# SPDX-License-Identifier: BSD-2-Clause
"""whole TRACE: checks only what holds for every complete trace without loss."""
import sys

import tracefolder

tracefolder.Trace(sys.argv[1]).finish()
