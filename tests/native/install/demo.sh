#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `make demo' ends with what its job waited for, where the trace is, and the name of its page, which exists.
. "${0%/*}/../lib.sh"
mkdir -p demo/scripts demo/build/workloads
cp "$here/../../scripts/demo" demo/scripts
cp "$DLT" demo/build/dltraced
cp "$W/loader" demo/build/workloads
demo/scripts/demo --collectors none --probes -bio --min-free 0 >out 2>err || fail "status $?: $(cat err)"
trace=$(sed -n 's/^dltraced:   trace    \(traces\/demo_[0-9]*\) (.*)$/\1/p' err)
[ -s "demo/$trace/manifest.json" ] || fail "no trace: $(cat err)"
grep -q "^dltraced: [A-Z][a-z]* [a-z]* .*" err || fail "no verdict: $(cat err)"
equal "the last line" "$(tail -n 1 err)" "demo: the page, for a browser: $trace/report.html"
grep -q '^<!DOCTYPE html>' "demo/$trace/report.html" || fail "no page"
equal "what its data leaves" "$(ls demo/build)" "$(printf 'dltraced\nworkloads')"
