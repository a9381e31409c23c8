# PID TIME call(args) = result <time>. A call that another thread interrupted is two lines.
{
	call = $3
	sub(/\(.*/, "", call)
}
/ (pread64|pwrite64|read|write|close)\(1[0-9][0-9][^0-9]/ { n[call]++ }
/ openat\(.*\/(small|new)\// { n["openat"]++ }
/ mmap\(NULL, 151552,/ { n["mmap"]++ }
/ munmap\(0x[0-9a-f]+, 151552\)/ { n["munmap"]++ }
/ unlink\(.*\/new\// { n["unlink"]++ }
END { for (k in n) print k, n[k] }
