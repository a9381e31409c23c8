# nsecs pid tid comm func fd ..., as the scripts beside print it: fd is what open returned, and a
# length for munmap. Its messages are in the same file (0.17) or in another.
$5 == "munmap" && $6 == 151552 { n[$5]++; next }
$5 == "unlink" && /\/new\// { n[$5]++; next }
$6 >= 100 && $5 ~ /^[a-z][a-z0-9]*$/ { n[$5]++ }
/^Lost [0-9]+ events/ { n["lost"] += $2 }
END { for (k in n) print k, n[k] }
