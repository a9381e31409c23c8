# SPDX-License-Identifier: BSD-2-Clause
"""whole TRACE: what holds of every complete trace without loss, and nothing else."""
import sys

import tracefolder

tracefolder.Trace(sys.argv[1]).finish()
