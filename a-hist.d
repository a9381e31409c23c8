hist.o: src/stats/hist.c src/stats/hist.h src/base/util.h
src/stats/hist.h:
src/base/util.h:
