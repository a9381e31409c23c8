# SPDX-License-Identifier: BSD-2-Clause
"""A folder for PYTHONPATH: see sitecustomize.py."""
