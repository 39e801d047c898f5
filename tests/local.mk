# Tests. A unit test NAME.c (reaches private functions): one line,
#   unit_tests += tests/NAME
# a test of the public library (links libcovar.la): two lines,
#   public_tests += tests/test_public_NAME
#   tests_test_public_NAME_LDADD = $(LINK_PUBLIC)
# a shell script that speaks TAP (see tap.sh): one line,
#   dist_check_SCRIPTS += tests/NAME.sh
# For more than one source file add tests_NAME_SOURCES = ...
unit_tests += tests/test_context
unit_tests += tests/test_heap
unit_tests += tests/test_linalg_copy
unit_tests += tests/test_linalg_interp
unit_tests += tests/test_linalg_map
tests_test_linalg_map_SOURCES = tests/test_linalg_map.c \
  tests/map_reference.c tests/map_reference.h
unit_tests += tests/test_linalg_map_tail
unit_tests += tests/test_linalg_reduce
unit_tests += tests/test_rng
unit_tests += tests/test_status
unit_tests += tests/test_util_self
public_tests += tests/test_public_base
tests_test_public_base_LDADD = $(LINK_PUBLIC)
dist_check_SCRIPTS += tests/check-headers.sh
dist_check_SCRIPTS += tests/check-includes.sh
dist_check_SCRIPTS += tests/check-style.sh
dist_check_SCRIPTS += tests/check-symbols.sh
dist_check_SCRIPTS += tests/check-vector.sh

EXTRA_DIST += %D%/tap.sh %D%/totals.sh
noinst_HEADERS += %D%/cutap.h %D%/test_util.h
if HAVE_CUNIT
check_LTLIBRARIES += tests/libtest.la
tests_libtest_la_SOURCES = %D%/cutap.c %D%/test_util.c %D%/test_alloc.c
tests_libtest_la_CPPFLAGS = $(AM_CPPFLAGS) \
  -DTEST_SRCDIR='"$(abs_top_srcdir)"'
check_PROGRAMS += $(unit_tests) $(public_tests)
endif
TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)

# Programs and scripts print TAP, so that single tests are counted.
TEST_EXTENSIONS = .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
  $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
  COVAR_TAP=1; export COVAR_TAP; \
  top_srcdir='$(top_srcdir)'; export top_srcdir; \
  top_builddir='$(top_builddir)'; export top_builddir; \
  CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX; \
  NM='$(NM)'; export NM; AWK='$(AWK)'; export AWK; \
  public_headers='$(public_headers)'; export public_headers;

# Stands in for automake's rule of this name, so that `make check` ends with
# one plain line that counts all tests, whether they pass or not.
check-TESTS: $(check_PROGRAMS)
	@rm -f $(TEST_LOGS) $(TEST_LOGS:.log=.trs) $(TEST_SUITE_LOG)
	@$(MAKE) $(AM_MAKEFLAGS) $(TEST_SUITE_LOG); status=$$?; \
	$(MAKE) $(AM_MAKEFLAGS) -s totals; exit $$status
totals:
	@AWK='$(AWK)' $(SHELL) $(top_srcdir)/tests/totals.sh $(TEST_LOGS)
.PHONY: totals
