words.o: src/validate/words.c src/validate/words.h \
  src/trace/reader_fields.h src/base/digits.h src/trace/field.h \
  include/dlt/dlt.h src/trace/probes.def src/trace/probe.h \
  src/base/util.h src/trace/probe_mask.h

src/validate/words.h:

src/trace/reader_fields.h:

src/base/digits.h:

src/trace/field.h:

include/dlt/dlt.h:

src/trace/probes.def:

src/trace/probe.h:

src/base/util.h:

src/trace/probe_mask.h:
