# PID COMM FD ERR PATH
$3 >= 100 && /\/(small|new)\// { n["openat"]++ }
/Lost [0-9]+ events on/ { match($0, /Lost [0-9]+/); n["lost"] += substr($0, RSTART + 5, RLENGTH - 5) }
END { for (k in n) print k, n[k] }
