test_brief.o: tests/unit/report/test_brief.c src/report/brief.h \
 src/report/report.h src/report/scan/model.h src/base/notes.h \
 src/report/phases/phases.h src/applog/entry.h \
 src/report/phases/data_dirs.h src/report/phases/epochs.h \
 src/report/phases/region_sums.h src/report/phases/step_region.h \
 src/stats/spans.h src/stats/table.h src/report/phases/step_lines.h \
 src/report/phases/steps.h src/report/phases/skew.h \
 src/report/phases/step_times.h src/report/phases/workers.h \
 src/report/scan/first_data.h src/base/util.h src/report/scan/gaps.h \
 src/report/scan/missing.h src/stats/disk_limit.h src/stats/hist.h \
 src/stats/timeline.h src/trace/manifest_read.h src/trace/loss.h \
 src/trace/usage.h src/trace/window.h src/trace/reader.h src/base/lines.h \
 src/trace/reader_fields.h src/base/digits.h src/trace/segment.h \
 src/trace/unpack.h src/report/scan/part.h tests/unit/tree.h \
 tests/unit/temp.h
src/report/brief.h:
src/report/report.h:
src/report/scan/model.h:
src/base/notes.h:
src/report/phases/phases.h:
src/applog/entry.h:
src/report/phases/data_dirs.h:
src/report/phases/epochs.h:
src/report/phases/region_sums.h:
src/report/phases/step_region.h:
src/stats/spans.h:
src/stats/table.h:
src/report/phases/step_lines.h:
src/report/phases/steps.h:
src/report/phases/skew.h:
src/report/phases/step_times.h:
src/report/phases/workers.h:
src/report/scan/first_data.h:
src/base/util.h:
src/report/scan/gaps.h:
src/report/scan/missing.h:
src/stats/disk_limit.h:
src/stats/hist.h:
src/stats/timeline.h:
src/trace/manifest_read.h:
src/trace/loss.h:
src/trace/usage.h:
src/trace/window.h:
src/trace/reader.h:
src/base/lines.h:
src/trace/reader_fields.h:
src/base/digits.h:
src/trace/segment.h:
src/trace/unpack.h:
src/report/scan/part.h:
tests/unit/tree.h:
tests/unit/temp.h:
