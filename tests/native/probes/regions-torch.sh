#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A PyTorch program that knows nothing of regions has them all the same, by default and through `python -m dltraced': as
# many as it has batches, steps and checkpoints, with any optimizer, and however its workers are started. So has one that
# calls collectives. Its losses stay the same to the last digit; a sitecustomize of its own still runs; one that does not
# import torch loads nothing of ours; with --regions off the environment is unchanged. LONG=1: also workers that import
# torch themselves, and none.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
python torch
program=$here/../workloads/regions_torch.py
export PYTHONDONTWRITEBYTECODE=1
# Python's own process for semaphores may print at its end that one was left behind, whoever traces.
export PYTHONWARNINGS=ignore:resource_tracker:UserWarning:multiprocessing.resource_tracker

# job WORKERS OPTION... -- COMMAND...: traced; its losses (of the training) are those of the same job without dltraced.
job() {
	workers=$1
	shift
	trace -P regions,time_align "$@" >losses 2>err || fail "$*: status $?: $(cat err)"
	case " $* " in *" spawn "*) method=spawn ;; *" forkserver "*) method=forkserver ;; *) method=fork ;; esac
	case " $* " in *" persistent "*) persistent=1 ;; *) persistent=0 ;; esac
	check regions_torch "$workers" "$method" "$persistent"
	equal "messages of $*" "$(messages)" ""
	while [ "$1" != "$program" ]; do shift; done
	python3 "$@" >plain || fail "untraced $*: status $?"
	equal "losses" "$(grep -c . plain)" 16
	cmp -s losses plain || fail "$*: other losses: $(diff losses plain | head)"
}

job workers -- python3 "$program" fork sgd
if [ "${LONG-}" ]; then
	job workers -- python3 "$program" spawn persistent adam
	job workers -- python3 "$program" forkserver own
	job alone --regions auto -- python3 "$program" none adamw
fi
PYTHONPATH=$(cd "$here/../../python" && pwd) job workers --regions off -- python3 -m dltraced "$program" fork persistent
equal "the manifest's regions" "$(manifest 'm.get("regions")')" None

# collectives, in two processes
collectives=$here/../workloads/collectives_torch.py
trace -P regions,time_align -- python3 "$collectives" "$TMPDIR" >tally 2>err || fail "collectives: status $?: $(cat err)"
check regions_collectives tally

# What Python runs at its start for other programs still runs; sys.path and the other value of the variable are
# unchanged.
mkdir own
echo 'import sys; sys.own = __file__' >own/sitecustomize.py
cat >own.py <<'PY'
import os, sys
import sitecustomize
assert sys.own == sitecustomize.__file__ == os.path.join(os.getcwd(), "own", "sitecustomize.py"), sys.own
assert sys.path[1] == os.path.join(os.getcwd(), "own"), sys.path
assert not [m for m in sys.modules if m == "torch" or m.startswith("dltraced")]
PY
PYTHONPATH=$TMPDIR/own trace -- python3 own.py 2>err || fail "a sitecustomize of its own: $(cat err)"
# shellcheck disable=SC2016
PYTHONPATH=mine trace --regions off -- sh -c 'echo "$PYTHONPATH" >path' && equal "PYTHONPATH with --regions off" "$(cat path)" mine

# Steps that take less than the marking is worth: the first ones, unless all are asked for.
cat >fast.py <<'PY'
import torch
weight = torch.nn.Parameter(torch.zeros(1))
weight.grad = torch.ones(1)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(5000):
    optimizer.step()
PY
steps() { rows regions | awk -F'\t' '$6 == "compute" && $7 == "step"' | wc -l; }
trace -P regions,time_align -- python3 fast.py || fail "fast.py: status $?"
case $(steps) in
5000) echo "note: a machine on which 1000 steps took 5 s" ;;
4000) "$DLT" report --full "$t" | grep -q 'of 1 process only the first regions are there' || fail "no word of it: $("$DLT" report --full "$t")" ;;
*) fail "$(steps) steps of 5000" ;;
esac
trace -P regions,time_align --regions auto -- python3 fast.py || fail "fast.py: status $?"
equal "steps with --regions auto" "$(steps)" 5000
equal "the manifest's regions" "$(manifest 'm["regions"]')" auto
