# nsecs pid tid comm func fd ..., as the scripts in peers/ print it: fd is what open returned, and a
# length for munmap. bpftrace's messages are in the same file (0.17) or in another.
$5 == "munmap" { n[$5] += $6 == 151552; next }
$5 == "mmap" { n[$5] += $8 == 151552; next } # its fd may be (unsigned int)-1
$5 == "unlink" { n[$5] += /\/new\//; next }
$6 >= 100 && $5 ~ /^[a-z][a-z0-9]*$/ { n[$5]++ }
/^Lost [0-9]+ events/ { n["lost"] += $2 }
END { for (k in n) print k, n[k] }
