#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# report --svg memory: its shapes cover the cells that were touched, and no others, by a picture of the same rows that is made
# without dltraced; frames are the allocated blocks. Addresses, times and blocks can be chosen. JSON has the same cells.
. "${0%/*}/../lib.sh"
python

# check FOLDER SVG [OPTION=VALUE...]
check() { python3 -B "$here/checks/memory_map.py" "$@" || fail "$2"; }
# svg PARTS FILE ARG...
svg() { "$DLT" report --svg "memory$1" "$2" "${@:3}" 2>err || fail "report --svg memory$*: $(cat err)"; }

python3 -B "$here/checks/memory_map.py" --make made || fail "no trace"
svg ,block=64K,bin=10ms all.svg made
check made all.svg
svg ,block=64K,bin=10ms,range=0x7f0000000000-0x7f0000100000 one.svg made
check made one.svg from=0x7f0000000000 to=0x7f0000100000
svg ,block=64K,bin=10ms,min=200K large.svg made
check made large.svg min=204800
svg ,block=64K,bin=10ms,min=1T later.svg made --from 200ms --to 400ms
check made later.svg begin=200 end=400 min=1099511627776
svg ,block=64K,bin=10ms,borderless=yes bare.svg made
check made bare.svg frames=no
[ "$(wc -c <all.svg)" -lt 400000 ] || fail "the picture is larger than its structure"
# without options it has another scale; standard output has nothing else
svg '' - made >out
check made out scale=any
"$DLT" report --json made >json || fail "report --json: status $?"
python3 -B "$here/checks/memory_map.py" --json json out || fail "JSON and picture differ"

# what cannot be drawn
mkdir none
echo '{ "tool": "dltraced", "schema": 1, "complete": true, "probes": [] }' >none/manifest.json
"$DLT" report --svg memory none.svg none 2>err && fail "a picture of nothing"
grep -q 'has neither alloc.out nor access.out' err || fail "nothing: $(cat err)"
[ ! -e none.svg ] || fail "a file without a picture"
"$DLT" report --svg moon none.svg made 2>err && fail "a picture of the moon"
grep -q 'there is no picture of moon' err || fail "moon: $(cat err)"
"$DLT" report --svg memory made/access.out made 2>err && fail "one of the trace's own files"
grep -q "name of the trace's own files" err || fail "own file: $(cat err)"
