object.o: src/kernel/object.c src/kernel/object.h src/base/util.h \
 include/dlt/dlt.h src/trace/probes.def src/kernel/btf.h
src/kernel/object.h:
src/base/util.h:
include/dlt/dlt.h:
src/trace/probes.def:
src/kernel/btf.h:
