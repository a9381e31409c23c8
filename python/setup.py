# SPDX-License-Identifier: BSD-2-Clause
"""The extension alone; the rest is in pyproject.toml. Where it cannot be built, the package is pure Python."""
from setuptools import Extension, setup

setup(ext_modules=[Extension("dltraced._region", ["dltraced/_region.c"], include_dirs=["."], depends=["dltraced.h"], optional=True)])
