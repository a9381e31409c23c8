#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --rotate and --compress: however a trace is stored, its rows are those of the tally, the report is the same to the
# last digit, and every segment begins with its header. Also with collectors, by size and by time.
. "${0%/*}/../lib.sh"
need python3 gzip
head -c 1048576 /dev/zero >data

# text NAME: all segments of a file, in the order of `ls`, unpacked.
text() {
	for file in "$t/$1".*out*; do
		case $file in
		*.gz) gzip -dc "$file" ;;
		*.zst) zstd -dcq "$file" ;;
		*) cat "$file" ;;
		esac
	done
}

# reads NAME: rows of the storm's reads in all segments.
reads() { text vfs_rw | awk -F'\t' '$7 == "pread64" && $16 == "data" { n++ } END { print n + 0 }'; }

# whole: all listed segments exist, and every line of every file is valid.
whole() {
	manifest '"\n".join(s["file"] for s in m["segments"])' | sort >listed
	(cd "$t" && ls -- *.out*) | sort >there
	cmp listed there || fail "listed and there: $(diff listed there)"
	equal "temporary files" "$(find "$t" -name '*.tmp' -o -name '*.new')" ""
	for name in vfs_rw files pids time_align; do
		text $name | awk -F'\t' -v name=$name '
			NR == 2 { columns = $0; n = NF }
			/^# dltraced / { segments++; if ($0 != "# dltraced " name " 1 segment=" segments) exit 1; next }
			$0 == columns { headers++; next }
			NF != n || $1 < last { exit 1 }
			{ last = $1 }
			END { if (headers != segments) exit 1 }' || fail "$name is not whole"
		equal "rows of $name" "$(text $name | grep -c '^[0-9]')" \
			"$(manifest "next(p['rows'] for p in m['probes'] if p['name'] == '$name')")"
	done
	equal "rows of the segments" "$(manifest 'sum(s["rows"] for s in m["segments"])')" \
		"$(manifest 'sum(p["rows"] for p in m["probes"]) + sum(c["rows"] for c in m["collectors"])')"
	equal "lost" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
}

# same FOLDER: its report is that of $t, apart from how the files are stored.
same() {
	for dir in "$t" "$1"; do
		"$DLT" report --json "$dir" | python3 -c '
import json, sys
r = json.load(sys.stdin)
for key in ("dir", "trace_bytes"): del r[key]
print(json.dumps(r, indent=1))'
	done >both
	split -n l/2 both half. 2>/dev/null
	lines=$(($(wc -l <both) / 2))
	head -n $lines both >half.a
	tail -n $lines both >half.b
	cmp half.a half.b || fail "another report: $(diff half.a half.b | head -20)"
}

formats=gzip
if command -v zstd >/dev/null && "$DLT" start -q --collectors none -P time_align --min-free 0 -o zstd-there \
	--compress zstd -- true 2>err; then
	formats='gzip zstd'
else
	grep -q 'built without' err || command -v zstd >/dev/null && ! grep -q 'built without' err && fail "$(cat err)"
fi

for how in '' $formats; do
	trace --rotate 1M ${how:+--compress $how} -- "$W/storm" -n 60000 -w 0 "$TMPDIR/data" >out || fail "status $?"
	equal "reads, $how" "$(reads)" 60256 # storm reads the file once before
	[ "$(find "$t" -name 'vfs_rw.0*' | wc -l)" -ge 5 ] || fail "no segments: $(ls "$t")"
	whole
	for size in $(manifest '" ".join(str(s["bytes"]) for s in m["segments"])'); do
		[ "$size" -lt 1140000 ] || fail "a segment of $size bytes"
	done
	[ -z "$how" ] || [ -z "$(find "$t" -name '*.out')" ] || fail "plain files are left: $(ls "$t")"

	# the same trace as one plain file, joined by other tools
	rm -rf one
	mkdir one
	for name in $(cd "$t" && ls -- *.out* | cut -d. -f1 | sort -u); do
		text "$name" | awk 'NR < 3 { sub(/ segment=1$/, ""); print } NR == 2 { columns = $0 }
			NR > 2 && !/^# dltraced / && $0 != columns' >"one/$name.out"
	done
	cp "$t/manifest.json" one
	same one
	"$DLT" report --full "$t" | grep -q '^nothing that dltraced knows of' || fail "$("$DLT" report "$t" | tail -n 5)"
done

# --- by time, with collectors ---------------------------------------------------------------------

if command -v mpstat >/dev/null; then
	trace --collectors cpu --rotate 1s --compress gzip -- sh -c 'for i in 1 2 3 4 5 6 7; do cat data; sleep 0.5; done' >out
	[ "$(find "$t" -name 'cpu.0*.out.gz' | wc -l)" -ge 2 ] || fail "cpu.out was not split: $(ls "$t")"
	[ "$(find "$t" -name 'vfs_rw.0*.out.gz' | wc -l)" -ge 2 ] || fail "vfs_rw.out was not split: $(ls "$t")"
	for file in "$t"/cpu.*; do
		equal "header of $file" "$(gzip -dc "$file" | sed -n '1s/ .*//p; 2s/\t.*//p' | tr '\n' ' ')" "# TIMESTAMP "
	done
	whole
	equal "cat's bytes" "$(text vfs_rw | awk -F'\t' '$5 == "cat" && $6 == "W" { n += $10 } END { print n }')" 7340032
fi

# --- removed again by --force ---------------------------------------------------------------------

"$DLT" start -q --collectors none --probes -bio --min-free 0 --force -o "$t" -- true || fail "--force: status $?"
equal "old segments" "$(find "$t" -name '*.0*' -o -name '*.gz')" ""
