# SPDX-License-Identifier: BSD-2-Clause
"""The extension alone; the rest is in pyproject.toml. Where it cannot be built, the package is pure Python."""
import os
import shutil

from setuptools import Extension, setup

# A source distribution has the header beside this file; a checkout has it in include/.
HERE = os.path.dirname(os.path.abspath(__file__))
HEADER = os.path.join(HERE, "..", "include", "dltraced.h")
if os.path.exists(HEADER):
    shutil.copyfile(HEADER, os.path.join(HERE, "dltraced.h"))

setup(ext_modules=[Extension("dltraced._region", ["dltraced/_region.c"], include_dirs=["."], depends=["dltraced.h"], optional=True)])
