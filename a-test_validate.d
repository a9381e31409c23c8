test_validate.o: tests/unit/validate/test_validate.c \
 src/validate/validate.h tests/unit/validate/../tree.h src/base/util.h \
 tests/unit/validate/../temp.h
src/validate/validate.h:
tests/unit/validate/../tree.h:
src/base/util.h:
tests/unit/validate/../temp.h:
