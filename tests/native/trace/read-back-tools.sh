#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The line of docs/traces.md for jq, run on a trace with the hardest names.
. "${0%/*}/../lib.sh"
need jq

trace -- "$W/names" dir >expected || fail "status $?"
recipe 'jq -r' >recipe.sh
equal "counters" "$(cd "$t" && sh ../recipe.sh | awk -F '\t' '$1 == "vfs_rw" { print $3, $4 }')" \
	"$(rows vfs_rw | wc -l) 0"
