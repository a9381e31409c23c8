test_record.o: tests/unit/trace/test_record.c src/trace/record.h \
 src/base/text.h include/dlt/dlt.h src/trace/probes.def src/base/util.h \
 src/trace/clock.h src/trace/files.h src/trace/probe.h src/trace/field.h \
 src/trace/probe_mask.h src/trace/probes.def src/trace/sink.h \
 src/trace/segment.h
src/trace/record.h:
src/base/text.h:
include/dlt/dlt.h:
src/trace/probes.def:
src/base/util.h:
src/trace/clock.h:
src/trace/files.h:
src/trace/probe.h:
src/trace/field.h:
src/trace/probe_mask.h:
src/trace/probes.def:
src/trace/sink.h:
src/trace/segment.h:
