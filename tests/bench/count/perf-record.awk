# What perf script -F tid,event,trace makes of it: a call is its two events, one after the other in
# a thread. The result of close, say, does not tell whose it is: its beginning does.
function marked(call, begin, end) {
	if (call == "openat")
		return end ~ /: 0x[0]*(6[4-9a-f]|[7-9a-f][0-9a-f])$/
	if (call == "munmap")
		return begin ~ /len: 0x0*25000$/
	if (call == "mmap")
		return begin ~ /len: 0x0*25000,/
	return call == "unlink" || begin ~ /: fd: 0x[0]*(6[4-9a-f]|[7-9a-f][0-9a-f]),?/
}
/PERF_RECORD_LOST/ {
	n["lost"] += $NF
	next
}
/sys_enter_/ {
	call = $2
	sub(/.*sys_enter_/, "", call)
	sub(/:.*/, "", call)
	open_call[$1] = call
	begin[$1] = $0
}
/sys_exit_/ {
	call = $2
	sub(/.*sys_exit_/, "", call)
	sub(/:.*/, "", call)
	if (open_call[$1] == call && marked(call, begin[$1], $0))
		n[call]++
	open_call[$1] = ""
}
END { for (k in n) print k, n[k] }
