# The .out files of a trace folder. Losses are in its manifest, which run.py reads.
BEGIN { FS = "\t" }
FNR == 2 {
	for (i = 1; i <= NF; i++)
		column[$i] = i
	func_ = column["FUNC"]; fd = column["FD"]; ret = column["RET"]
	len = column["LEN"]; path = column["PATH"]
	kind = FILENAME
	sub(/.*\//, "", kind)
	next
}
/^#/ { next }
kind == "vfs_rw.out" && $fd >= 100 { n[$func_]++ }
kind == "open.out" && $ret >= 100 { n[$func_]++ }
kind == "close.out" && $fd >= 100 { n[$func_]++ }
kind == "mmap.out" && $func_ == "mmap" && $fd >= 100 { n["mmap"]++ }
kind == "mmap.out" && $func_ == "munmap" && $len == 151552 { n["munmap"]++ }
kind == "create_del.out" && $func_ == "unlink" && $path ~ /\/new\// { n["unlink"]++ }
END { for (k in n) print k, n[k] }
