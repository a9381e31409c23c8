# A JSON object a line, its keys in the order in which peers/shim.c writes them.
BEGIN { FS = "\"" }
/"fd":1[0-9][0-9],/ { n[$6]++ }
/"munmap".*"size":151552,/ { n["munmap"]++ }
/"unlink".*\/new\// { n["unlink"]++ }
END {
	# libc's names are not all the calls'.
	n["pread64"] = n["pread"]; n["pwrite64"] = n["pwrite"]; n["openat"] = n["open"]
	for (k in n)
		print k, n[k] + 0
}
