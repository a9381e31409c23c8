#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipes: options and arguments of the script arrive with all their blanks and quotes; a container that a script
# starts is traced (docker is a stand-in here); compare runs the given commands in any order, counts failures apart, and
# calculates right.
. "${0%/*}/../lib.sh"
need python3 shuf
recipes=$(realpath "$here/../../scripts/recipes")
export DLTRACED=$DLT
plain=(-x --probes -x -bio -x --collectors -x none -x --min-free -x 0)
daemon='' cgroup=''

finish() {
	if [ -n "$daemon" ]; then
		kill "$daemon"
		wait "$daemon"
	fi
	[ -z "$cgroup" ] || rmdir "$cgroup"
	cleanup
}
trap finish EXIT

for recipe in compare python unet3d-docker; do
	"$recipes/$recipe" --help >help || fail "$recipe --help: status $?"
	head -n 1 help | grep -q "^$recipe \[OPTION...\] " || fail "$recipe --help: $(cat help)"
	# every option that it takes is in its help, and vice versa
	equal "$recipe: options in its help" "$(sed -nE 's/^  -([a-z]) .*/\1/p' help | sort | tr -d '\n')" \
		"$(sed -nE 's/.*getopts h([a-z:]*) opt.*/\1/p' "$recipes/$recipe" | tr -d ':\n' | fold -w 1 | sort | tr -d '\n')"
	"$recipes/$recipe" >out 2>&1
	equal "$recipe without arguments: status" $? 125
done

# --- python ---------------------------------------------------------------------------------------

cat >'my train.py' <<'END'
import sys
open(sys.argv[1], "w").close()
print("argument", sys.argv[2])
sys.exit(5)
END
# the recipe has --linger 10; the last one counts
"$recipes/python" -n try -o 'a trace' "${plain[@]}" -x --linger -x 0 'my train.py' 'a "new" file' '$x *' >out 2>err
equal "python: status" $? 5
t="$TMPDIR/a trace"
equal "python: the file" "$(col create_del PATH 'FUNC == "create" && PATH ~ /new/')" "$TMPDIR/a\\040\\042new\\042\\040file"
equal "python: its output" "$(cat "$t/workload.log")" 'argument $x *'
"$recipes/python" no-such.py >out 2>&1
equal "python: no script: status" $? 125

# --- a container ----------------------------------------------------------------------------------

for top in $(awk '/ - cgroup2 / { print $5 } / - cgroup / && !/cpuset/ { print $5 }' /proc/self/mountinfo); do
	mkdir "$top/dltraced-$$" 2>/dev/null && cgroup=$top/dltraced-$$ && break
done
if [ -n "$cgroup" ]; then
	export STUB_DOCKER=$TMPDIR/docker PATH="$here/../stubs:$PATH"
	mkdir docker 'work load' 'work load/results'
	docker daemon "$cgroup" &
	daemon=$!
	await test -p docker/calls
	cat >'work load/start_training.sh' <<-'END'
		#!/bin/sh
		: >by-the-script
		docker run --rm --name train image sh -c ': >"in the container"; echo 7 >results/log; echo '$1' GPUs; exit 6'
	END
	sed 's/--rm --name train/-d --name train2/' 'work load/start_training.sh' >'work load/detached.sh'
	chmod +x 'work load'/*.sh
	"$recipes/unet3d-docker" -k -x --linger -x 0 "${plain[@]}" 'work load' 'out 100%' 8 unet3d >out 2>err
	equal "unet3d-docker: status" $? 6
	t=$(echo "$TMPDIR"/out*/unet3d_??????????????)
	check whole
	for file in by-the-script 'in\\040the\\040container'; do
		[ -n "$(rows create_del "FUNC == \"create\" && PATH ~ /$file\$/")" ] || fail "$file is not in the trace: $(cat err)"
	done
	[ -s "$t.tar.gz" ] || fail "no archive"
	equal "collected" "$(find "$t/collected" -name log -exec cat {} +)" 7

	rm 'work load/in the container'
	"$recipes/unet3d-docker" -ka -s detached.sh -d train2 -x --linger -x 0 "${plain[@]}" 'work load' again 1 >out 2>err
	equal "unet3d-docker -d: status" $? 6
	t=$(echo "$TMPDIR"/again/experiment_??????????????)
	[ -n "$(rows create_del 'FUNC == "create" && PATH ~ /container$/')" ] || fail "the detached container is not in the trace"
	[ ! -e "$t.tar.gz" ] || fail "-a: there is an archive"
fi
for wrong in 'no-such-dir out 1' "$TMPDIR out 1" '/ out one'; do
	# shellcheck disable=SC2086 # words
	"$recipes/unet3d-docker" $wrong >out 2>&1
	equal "unet3d-docker $wrong: status" $? 125
done

# --- compare --------------------------------------------------------------------------------------

printf '#!/bin/sh\necho "$1" >>order\n[ "$1" != b ] || [ "$(grep -cx b order)" != 2 ]\n' >'a job'
chmod +x 'a job'
"$recipes/compare" -n 3 -o 'comp are' -b 'echo before >>order' "${plain[@]}" "./a\\ job a" "'./a job' b	#tab" >out 2>err
equal "compare: status, as a run failed" $? 1
equal "compare: runs of each" "$(grep -v before order | sort | uniq -c | xargs)" "6 a 6 b"
equal "compare: before" "$(grep -c before order)" 12
tsv='comp are/compare.tsv'
equal "compare: fields" "$(awk -F'\t' '{ print NF }' "$tsv" | sort -u)" 7
equal "compare: rows" "$(cut -f 2,3 "$tsv" | tail -n +2 | sort | uniq -c | xargs)" "3 1 no 3 1 yes 3 2 no 3 2 yes"
equal "compare: order" "$(tail -n +2 "$tsv" | awk -F'\t' '{ print $2 == 1 ? "a" : "b" }')" "$(grep -v before order)"
equal "compare: failed runs" "$(cut -f 5 "$tsv" | grep -c '^1$')" 1
equal "compare: text" "$(cut -f 7 "$tsv" | tail -n +2 | sort -u)" "'./a job' b #tab
./a\\ job a"
equal "compare: traces" "$(find 'comp are' -name manifest.json | wc -l)" 6
grep -Eq '^2 .* 2 of 3 ' out || fail "compare: the failed run was counted: $(cat out)"
# medians and overheads of the table, computed from the rows
python3 - "$tsv" out <<'END' || exit 1
import csv, re, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t", quoting=csv.QUOTE_NONE))
median = {}
for row in rows:
    if row["STATUS"] == "0":
        median.setdefault((row["COMMAND"], row["TRACED"]), []).append(float(row["SECONDS"]))
median = {k: statistics.median(v) for k, v in median.items()}
table = [line.split() for line in open(sys.argv[2]) if re.match(r"\d", line)]
assert len(table) == 4, table
for row in table:
    wanted = median[row[0], row[1]]
    assert abs(float(row[5]) - wanted) < 6e-5, (row, wanted)
    if row[1] == "yes":
        over = 100 * (wanted / median[row[0], "no"] - 1)
        assert abs(float(row[-2]) - over) < 0.06, (row, over)
END
"$recipes/compare" -n 2 -u -o untraced true >out || fail "compare -u: status $?"
equal "compare -u" "$(cut -f 3 untraced/compare.tsv | sort | uniq -c | xargs)" "1 TRACED 2 no"
"$recipes/compare" -o untraced true >out 2>&1
equal "compare into a folder that is there: status" $? 125
