#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch: live regions are there while they last, with the thread, epoch, step and age that the job's own account
# has, the oldest first; not when they have ended. Of a hostile name no byte reaches the terminal as it is.
. "${0%/*}/../lib.sh"
need python3
gate
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1

cat >job.py <<'PY'
import os
import threading
import time

import dltraced

def step():
    with open("gate", encoding="ascii") as gate:
        gate.readline()

with dltraced.region("ai.pipeline.epoch", epoch=7, live=True):
    began = time.monotonic_ns()
    with dltraced.region("a \x1b[2J name", step=-3, live=True):
        with open("account", "w", encoding="ascii") as file:
            print(os.getpid(), threading.get_native_id(), began, file=file)
        os.rename("account", "within")
        step()
    open("outside", "w").close()
    step()
PY
# seen N: at least N views have arrived.
seen() { [ "$(wc -l <views)" -ge "$1" ]; }

: >views
spawn -e watched -- python3 job.py
await test -e within
"$DLT" status --watch -j -i 100ms "$t" >views 2>err-views 9>&- &
views=$!
await seen 3
"$DLT" status --watch -i 100ms "$t" >text 2>err-text 9>&- &
text=$!
await grep -q 'epoch=7' text
python3 - within views <<'PY' || fail "$(tail -n 2 views)"
import json
import sys
import time

pid, tid, began = (int(word) for word in open(sys.argv[1]).read().split())
view = json.loads(open(sys.argv[2]).readlines()[1])
epoch, named = view["regions"]
assert [epoch[k] for k in ("pid", "tid", "comm", "name", "epoch", "step")] == [pid, tid, "python3", "ai.pipeline.epoch", 7, None], epoch
assert [named[k] for k in ("pid", "tid", "name", "epoch", "step")] == [pid, tid, "a \x1b[2J name", None, -3], named
assert 0 <= named["running_ms"] <= epoch["running_ms"] <= (time.monotonic_ns() - began) // 1000000 + 100, view["regions"]
PY
grep -Eq '^ *[0-9]+ python3 +[0-9.]+ ai.pipeline.epoch epoch=7$' text || fail "no epoch: $(cat text)"
grep -q 'step=-3$' text || fail "no step: $(cat text)"
! grep -q "$(printf '\033')" text || fail "orders to a terminal: $(cat -v text)"
echo >&9
await test -e outside
before=$(wc -l <views)
await seen $((before + 3))
tail -n 1 views | python3 -c '
import json, sys
names = [region["name"] for region in json.load(sys.stdin)["regions"]]
sys.exit(names != ["ai.pipeline.epoch"])' || fail "after the end of one: $(tail -n 1 views)"
echo >&9
join
equal "status" $rc 0
wait $views $text
