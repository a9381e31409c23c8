#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# If a kernel refuses the programs that find a request's file, bio.out still has its requests, without values in the
# columns about files; one warning, the manifest and `dltraced check` say so. refuse_bpf plays that kernel. The refusal
# of a program that is needed stays an error.
. "${0%/*}/../lib.sh"
need python3 fallocate dd

disk_ext4
bytes=$((4 << 20))
real=$DLT

# refusing NAMES: from here on, the kernel refuses programs of these names.
refusing() {
	DLT=$TMPDIR/dltraced
	printf '#!/bin/sh\nexec "%s" "%s" "%s" "$@"\n' "$W/refuse_bpf" "$1" "$real" >"$DLT"
	chmod 755 "$DLT"
}

write_file() {
	trace --probes bio,time_align --disk "$disk" -- dd if=/dev/zero of="$mnt/file" bs=64k count=$((bytes / 65536)) \
		conv=fsync 2>err
}

# written: the bytes of write requests.
written() { col bio BYTES 'T == "W"' | awk '{ n += $1 } END { print n + 0 }'; }

everything='bio_issue bio_queue bio_dirty_folio,bio_dirty_page'
[ -z "$slow" ] || everything=bio_issue # bio-files shows that nothing is refused there without refuse_bpf

if [ -z "$slow" ]; then
	refusing no_such_program
	write_file || fail "status $?: $(cat err)"
	! grep -q 'in part' err || fail "nothing was refused: $(cat err)"
	[ "$(rows bio 'KIND == "data" && FILE == "file" && T == "W"')" ] || fail "no row has the file"
	equal "plain in the manifest" "$(manifest '"plain" in next(p for p in m["probes"] if p["name"] == "bio")')" False
fi

for names in $everything; do
	refusing $names
	write_file || fail "$names: status $?: $(cat err)"
	equal "$names: warnings" "$(grep -c 'warning: bio is traced in part: the kernel refused a part of its programs' err)" 1
	equal "$names: rows that name a file" "$(rows bio 'KIND != "-" || FID != "-" || FOFF != "-" || EXTENTS != "-" ||
		WPID != "-" || WTID != "-" || WCOMM != "-" || WN != "-" || FILE != "-"')" ''
	[ "$(written)" -ge $bytes ] || fail "$names: $(written) bytes of requests"
	equal "$names: plain in the manifest" \
		"$(manifest '"KIND to FILE" in next(p for p in m["probes"] if p["name"] == "bio")["plain"]')" True
done

"$DLT" check >out 2>err # its status is about the whole machine
grep -q '^ *[a-z]* *probe bio *.*in part' out || fail "check: $(cat out)"

refusing bio_issue,bio_issue_plain
write_file
equal "with no form of it: status ($(cat err))" $? 125
grep -q 'probe bio: the kernel refused its programs' err || fail "with no form of it: $(cat err)"
