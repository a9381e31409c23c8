#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# After a folder was renamed, files.out has the files below it under their new paths: when a file is next used, and at
# the end for all others. The FID stays.
. "${0%/*}/../lib.sh"

cat >job <<'END'
mkdir -p one/sub
echo used >one/sub/used
echo left >one/left
echo other >one.other
exec 3<one/sub/used
mv one two
read _ <&3
mv two three
END
trace -- sh job || fail "status $?"
check whole

# paths FILE: the paths of the file with this name, in the order of rows; one FID has them all.
paths() {
	equal "FIDs of $1" "$(col files FID "REALPATH ~ /\\/$1\$/" | sort -u | wc -l)" 1
	col files REALPATH "REALPATH ~ /\\/$1\$/" | sed "s,^$TMPDIR/,," | tr '\n' ' '
}
equal "used" "$(paths used)" "one/sub/used two/sub/used three/sub/used "
equal "left" "$(paths left)" "one/left three/left "
equal "other" "$(paths one.other)" "one.other "
