validate.o: src/validate/validate.c src/validate/validate.h \
  src/base/fmt.h src/base/log.h src/base/text.h src/base/util.h \
  src/base/version.h src/report/scan/manifest_counts.h \
  src/trace/manifest_read.h src/trace/loss.h src/trace/usage.h \
  src/trace/window.h src/trace/probe.h src/trace/field.h \
  include/dlt/dlt.h src/trace/probes.def src/trace/probe_mask.h \
  src/trace/reader.h src/base/lines.h src/trace/reader_fields.h \
  src/base/digits.h src/trace/segment.h src/trace/unpack.h \
  src/validate/form.h src/validate/ids.h src/stats/number_set.h \
  src/validate/problems.h src/validate/words.h

src/validate/validate.h:

src/base/fmt.h:

src/base/log.h:

src/base/text.h:

src/base/util.h:

src/base/version.h:

src/report/scan/manifest_counts.h:

src/trace/manifest_read.h:

src/trace/loss.h:

src/trace/usage.h:

src/trace/window.h:

src/trace/probe.h:

src/trace/field.h:

include/dlt/dlt.h:

src/trace/probes.def:

src/trace/probe_mask.h:

src/trace/reader.h:

src/base/lines.h:

src/trace/reader_fields.h:

src/base/digits.h:

src/trace/segment.h:

src/trace/unpack.h:

src/validate/form.h:

src/validate/ids.h:

src/stats/number_set.h:

src/validate/problems.h:

src/validate/words.h:
