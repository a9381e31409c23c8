# time (duration): comm/tid call(name: value, ...) = result
/ (pread64|pwrite64|read|write|close)\(fd: 1[0-9][0-9][^0-9]/ {
	match($0, / (pread64|pwrite64|read|write|close)\(/)
	n[substr($0, RSTART + 1, RLENGTH - 2)]++
}
/ openat\(.* = 1[0-9][0-9]$/ { n["openat"]++ }
/ mmap\(.*len: 151552,/ { n["mmap"]++ }
/ munmap\(.*len: 151552/ { n["munmap"]++ }
/ unlink\(/ { n["unlink"]++ }
/^LOST [0-9]+ events/ { n["lost"] += $2 }
END { for (k in n) print k, n[k] }
