#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# A report with --from and --to is the report on what dltraced cut makes of these times: in all forms, of one host and of two,
# by times since the start and in UTC. Only the names of folders and their sizes differ.
# A part has its piece of a row of sched.out that ends behind it, which a cut does not have: so the parts end just behind such
# a row here, whose next one has nothing in a nanosecond.
. "${0%/*}/../lib.sh"
need python3

"$W/../tests/gen_trace" -r 20000 -g 2 -w 4 -c 2 -s 8 -f 500 made >/dev/null || fail "gen_trace: status $?"
# a second host, whose CLOCK_MONOTONIC is 6 minutes behind the first one's
mkdir other
for file in made/*.out; do
	awk -F'\t' -v OFS='\t' 'NR > 2 && !/^#/ { $1 = sprintf("%.0f", $1 - 360000000000) } { print }' "$file" >"other/${file##*/}"
done
python3 - other <<'END' || fail "the second host"
import json, sys
m = json.load(open("made/manifest.json"))
m["host"] = "node2"
for end in "start", "end":
    m[end]["monotonic_ns"] -= 360000000000
json.dump(m, open(sys.argv[1] + "/manifest.json", "w"))
END

# The same report twice, as far as folders may make it so.
same() {
	python3 - "$@" <<'END'
import json, sys

def read(name):
    with open(name) as f:
        text = f.read()
    if text.startswith("<"):  # a page
        text = text.split('<script type="application/json" id="report">', 1)[1].split("</script>", 1)[0]
    report = json.loads(text)
    for host in [report, *report.get("hosts", [])]:
        for key in ("dir", "trace_bytes", "window"):
            host.pop(key, None)
    return report

def differences(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [d for key in a for d in differences(a[key], b[key], f"{at}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i in range(len(a)) for d in differences(a[i], b[i], f"{at}[{i}]")]
    return [] if a == b else [f"{at}: {str(a)[:200]} is not {str(b)[:200]}"]

found = differences(read(sys.argv[1]), read(sys.argv[2]))
sys.exit("\n".join(found) or 0)
END
}

"$DLT" cut made -o part --from 2 --to 5.000000001 && "$DLT" cut other -o others --from 2 --to 5.000000001 || fail "cut: status $?"
for times in '--from 2 --to 5.000000001' '--from 2026-11-22T00:00:02Z --to 2026-11-22T00:00:05.000000001Z'; do
	for form in --json '--html -' '--cpu --json' '--json --path /data'; do
		"$DLT" report $form $times made >window || fail "report $form $times: status $?"
		"$DLT" report $form part >whole || fail "report $form of the cut: status $?"
		same window whole 2>err || fail "report $form $times: $(cat err)"
	done
	"$DLT" report --json $times made other >window || fail "two hosts: status $?"
	"$DLT" report --json part others >whole || fail "two hosts, cut: status $?"
	same window whole 2>err || fail "two hosts, $times: $(cat err)"
done
"$DLT" report --json --from 6 made >window && "$DLT" cut made -o late --from 6 && "$DLT" report --json late >whole || fail "to the end: $?"
same window whole 2>err || fail "to the end: $(cat err)"

# the window is not all of it, and a row counts where its TIMESTAMP is
"$DLT" report --json --from 2 --to 5.000000001 made >window
equal "window and calls" "$(python3 -c 'import json
r = json.load(open("window"))
print(r["window"], r["duration_ns"], next(p["rows"] for p in r["probes"] if p["name"] == "open"))')" \
	"{'begin_ns': 1002000000000, 'end_ns': 1005000000001} 3000000001 $(awk -F'\t' 'NR > 2 && $1 >= 1002000000000 && $1 < 1005000000001' made/open.out | wc -l)"
"$DLT" report --csv tables --from 2 --to 5.000000001 made >/dev/null && "$DLT" report --csv whole.tables part >/dev/null || fail "--csv"
for file in whole.tables/*.csv; do
	cmp "$file" "tables/${file##*/}" || fail "--csv: $file"
done
"$DLT" report --full --from 2 --to 5.000000001 made | grep -q '^only  *rows from 2026-11-22T00:00:02.000000000Z on and before 2026-11-22T00:00:05.000000001Z$' ||
	fail "--full: $("$DLT" report --full --from 2 --to 5.000000001 made | sed 20q)"
"$DLT" report --compare --from 2 --to 5.000000001 made other | grep -q '3\.00 s' || fail "--compare: $("$DLT" report --compare --from 2 made other)"

# a summary of the window
"$DLT" report --summary-only --from 2 --to 5.000000001 made && cp made/summary.json of.window && "$DLT" report --summary-only part || fail "--summary-only"
python3 - <<'END' || fail "--summary-only"
import json
window, whole = json.load(open("of.window")), json.load(open("part/summary.json"))
for key in ("dir", "trace_bytes"):
    window.pop(key, None), whole.pop(key, None)
assert window == whole, [(key, window[key], whole.get(key)) for key in window if window[key] != whole.get(key)]
END
rm -f made/summary.json

# Rows that --keep dropped count by their sums in rollup.out: two sums, of the rows before 1.5 s and before 3 s, which are gone.
cp -r made kept
python3 - <<'END' || fail "kept"
import json
head, columns, *rows = open("made/vfs_rw.out").read().splitlines()
stamps = [int(row.split("\t")[0]) for row in rows]
ends = [sum(s < at for s in stamps) for at in (1001500000000, 1003000000000)]
open("kept/vfs_rw.out", "w").write("\n".join([head, columns, *rows[ends[1]:]]) + "\n")
with open("kept/rollup.out", "w") as out:
    out.write("# dltraced rollup 1\nTIMESTAMP\tTIME\tMINUTE\tPROBE\tPID\tCOMM\tRW\tROWS\tFAILED\tBYTES\tLAT_NS\tMAX_LAT_NS\tSEGMENT\n")
    for n, (begin, end) in enumerate(zip([0, ends[0]], ends)):
        time = rows[end - 1].split("\t")[1]
        out.write(f"{stamps[end - 1]}\t{time}\t{time[:16]}:00Z\tvfs_rw\t1000\tpython\tR\t{end - begin}\t0\t0\t0\t0\t{n + 1}\n")
m = json.load(open("made/manifest.json"))
next(p for p in m["probes"] if p["name"] == "vfs_rw").update(dropped=ends[1], bytes=1)
m["probes"].append({"name": "rollup", "rows": 2, "lost": 0})
json.dump(m, open("kept/manifest.json", "w"))
open("wanted", "w").write(f"{ends[1]} {ends[1] - ends[0]}")
END
read -r all second <wanted
dropped() {
	wanted=$1
	shift
	rm -rf of.kept
	"$DLT" cut kept -o of.kept "$@" && "$DLT" validate of.kept >out || fail "cut $*: $(cat out)"
	"$DLT" report --json kept "$@" >window && "$DLT" report --json of.kept >whole || fail "report $*: status $?"
	same window whole 2>err || fail "$*: $(cat err)"
	equal "dropped rows, $*" "$("$DLT" report --full kept "$@" | sed -n 's/^- vfs_rw: \([0-9]*\) rows were dropped by --keep.*/\1/p')" "$wanted"
}
dropped "$all" --from 1
dropped "$second" --from 2 --to 5.000000001
dropped '' --from 4
dropped "$((all - second))" --to 2.000000001

refused() {
	wanted=$1
	shift
	"$DLT" report "$@" >out 2>err
	equal "status of report $*" $? 125
	grep -q -e "$wanted" err || fail "report $*: $(cat err)"
}
refused 'no time from' --from 9 made
refused 'not later than' --from 3 --to 2 made
refused 'not later than' --from 3 --to 2 made other
equal "messages about the times of two hosts" "$(grep -c 'not later than' err)" 1
refused 'neither a time' --from yesterday made
refused 'summaries give text' --from 1 part/summary.json
