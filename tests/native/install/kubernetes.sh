#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# scripts/kubernetes/daemonset.yaml brings its namespace, which admits privileged pods. Its pod, played by podman with an
# image of this program, traces a process of another pod's cgroup that runs already; `dltraced report' in the tracer's pod
# answers while it runs, `start --container' traces one container there, and TERM leaves a whole trace, of which `cut' has
# the pod's part: what docs/cluster.md says.
#
# full: podman, which most machines do not have, and half a minute
. "${0%/*}/../lib.sh"
need podman catatonit
python yaml
yaml=$here/../../scripts/kubernetes/daemonset.yaml
[ -e "$yaml" ] || skip "$yaml"
top=$(awk '/ - cgroup2 / && $4 == "/" { v2 = $5 } / - cgroup / && /,memory/ && $4 == "/" { v1 = $5 } END { print v1 ? v1 : v2 }' \
	/proc/self/mountinfo)
[ "$top" ] || skip "a cgroup hierarchy"
[ ! -e "$top/kubepods" ] && [ ! -e "$top/kubepods.slice" ] || skip "a machine without pods of Kubernetes"
mkdir "$top/kubepods" 2>/dev/null || skip "a cgroup hierarchy that can be written"

uid=8f3c2a10-1111-2222-3333-444455556666
id=$(printf '%064x' $$)
group=$top/kubepods/burstable/pod$uid/$id
job=''
# Its own images and containers: nothing of the machine's is used or left. runc starts containers also on cgroup v1, and
# with no higher limits than a root without CAP_SYS_RESOURCE may give.
cat >containers.conf <<END
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
pidns = "host"
cgroupns = "host"
$(! command -v runc >/dev/null || printf '[engine]\nruntime = "runc"\n')
END
export CONTAINERS_CONF="$TMPDIR/containers.conf"
pod() { podman --root "$TMPDIR/store" --runroot "$TMPDIR/run" "$@"; }
inside() { pod exec tracer-dltraced "$@" </dev/null; }
finish() {
	pod pod rm --force --time 1 --all >/dev/null 2>&1 9>&-
	[ -z "$job" ] || { kill "$job"; wait "$job"; } 2>/dev/null
	pod rmi --all --force >/dev/null 2>&1
	for dir in "$group" "${group%/*}" "$top/kubepods/burstable" "$top/kubepods"; do rmdir "$dir"; done 2>/dev/null
	cleanup
}
trap finish EXIT
mkdir -p "$group" || fail "mkdir $group"

# An image of the program and its libraries alone.
mkdir -p image/usr/bin image/tmp image/traces
cp "$DLT" image/usr/bin/dltraced
ldd "$DLT" | grep -o '/[^ ]*' | while read -r library; do
	install -D "$library" "image$library"
done
tar -c -C image . | pod import --change 'ENV PATH=/usr/bin' --change 'WORKDIR /' - registry.example/dltraced:0.1.0 >/dev/null 2>err ||
	skip "podman that can import an image ($(tail -n 1 err))"

# podman 4 has no DaemonSets, knows no names of nodes, and does not take hostPID from the file (so containers.conf has it).
python3 - "$yaml" "$TMPDIR/traces" >pod.yaml <<'END' || fail "the file is not as Kubernetes wants it"
import sys, yaml

namespace, daemons = yaml.safe_load_all(open(sys.argv[1]))
name = namespace["metadata"]["name"]
labels = namespace["metadata"]["labels"]
assert (namespace["kind"], daemons["kind"]) == ("Namespace", "DaemonSet")
assert daemons["metadata"]["namespace"] == name, name
assert labels["pod-security.kubernetes.io/enforce"] == "privileged", labels
template = daemons["spec"]["template"]
assert daemons["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
spec = template["spec"]
assert spec["hostPID"] is True
container, = spec["containers"]
variables = {e["name"]: "node1" for e in container.pop("env") if e["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"}
for variable, value in variables.items():
    container["command"] = [a.replace(f"$({variable})", value) for a in container["command"]]
container["command"].append("--min-free=0")
container["resources"] = {}
assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in spec["volumes"]}
for volume in spec["volumes"]:
    if volume["name"] == "traces":
        volume["hostPath"]["path"] = sys.argv[2]
print(yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "metadata": dict(template["metadata"], name="tracer"), "spec": spec}))
END

# The other pod's process, which is there before the tracer.
cat >job.sh <<'END'
echo $$ >"$1/cgroup.procs"
exec python3 -c 'import sys, time
while True:
    open(sys.argv[1]).read()
    time.sleep(0.1)' "$2"
END
echo sample >data
sh job.sh "$group" "$TMPDIR/data" 9>&- &
job=$!
await grep -q "$id" "/proc/$job/cgroup"

pod kube play --network none pod.yaml >out 2>&1 9>&- || fail "podman kube play: $(cat out)"
t=$TMPDIR/traces/node1
await sh -c "grep -qs data '$t'/*/open.out"
inside sh -c true 2>/dev/null && fail "the image has more than it should"
t=$(echo "$TMPDIR/traces/node1"/*)
inside dltraced report "/traces/node1/${t##*/}" >out 2>&1 || fail "the report of a running trace: $(cat out)"
grep -q 'the trace has no end' out || fail "not running: $(cat out)"
# without a shell, as the image has none: the newest trace below its folder
inside dltraced report >newest 2>&1 || fail "the report of the newest trace: $(cat newest)"
grep -q 'the trace has no end' newest || fail "not the running trace: $(cat newest)"
inside dltraced status --json | grep -q "/traces/node1/${t##*/}" || fail "status: $(inside dltraced status)"

inside dltraced start -q --report=none --collectors none --min-free 0 --duration 2s --container "$id" -o /traces/one >out 2>&1 ||
	fail "a trace of one container: $(cat out)"
grep -q data traces/one/open.out || fail "the trace of one container has no rows of it: $(cat out)"

pod pod stop --time 60 tracer >/dev/null 2>&1
equal "complete" "$(manifest 'm["complete"]')" True
"$DLT" validate "$t" >out 2>&1 || fail "validate: $(cat out)"
pids=$(zcat -f "$t"/pids.out* | awk -F'\t' -v uid="$(echo $uid | tr - .)" '$11 ~ uid { print $3 }' | sort -u | paste -sd ,)
case ,$pids, in *,$job,*) ;; *) fail "processes of the pod: '$pids', without $job" ;; esac
"$DLT" cut --pid "$pids" -o part "$t" 2>err || fail "cut: $(cat err)"
zcat -f part/open.out* | grep -q data || fail "the pod's part has no rows"
