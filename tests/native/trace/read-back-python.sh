#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The package for Python reads a trace with the hardest names, in segments, plain and packed: its rows are the
# manifest's, and its names those that the job printed, whatever the size of its blocks. What is cut off, damaged or
# missing is skipped with a warning, or named; importing the package does not import its readers. With pandas, the
# largest numbers and the overlaps of summary() are exact.
. "${0%/*}/../lib.sh"

python
version=$(python3 -c 'import sys; print(sys.version_info >= (3, 9))') && [ "$version" = True ] || skip "Python 3.9"
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 DLTRACED_PROGRAM="$DLT"

packings=none
for name in gzip zstd; do # the commands as well: they are the witness
	"$DLT" start --help | grep -q "$name" && command -v "$name" >/dev/null && packings="$packings $name"
done
for packing in $packings; do
	compress=
	[ "$packing" = none ] || compress="--compress $packing"
	# shellcheck disable=SC2086 # two words
	trace --rotate 64K $compress -- "$W/names" dir >names.$packing 2>err || fail "$packing: status $?: $(cat err)"
	mv "$t" "trace.$packing"
done
python3 -B "$here/checks/reading.py" "$here/../golden" trace.* || fail "the lines above"
