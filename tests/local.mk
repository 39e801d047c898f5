# Tests. A unit test NAME.c (reaches private functions): one line,
#   unit_tests += tests/NAME
# a test of the public library (links libcovar.la): two lines,
#   public_tests += tests/test_public_NAME
#   tests_test_public_NAME_LDADD = $(LINK_PUBLIC)
# a shell script that speaks TAP (see tap.sh): one line,
#   dist_check_SCRIPTS += tests/NAME.sh
# For more than one source file add tests_NAME_SOURCES = ...
unit_tests += tests/test_autodiff_body
unit_tests += tests/test_autodiff_dim
unit_tests += tests/test_autodiff_grad
unit_tests += tests/test_autodiff_graph
unit_tests += tests/test_autodiff_module
unit_tests += tests/test_autodiff_node
unit_tests += tests/test_autodiff_print
unit_tests += tests/test_autodiff_random
unit_tests += tests/test_autodiff_rop
unit_tests += tests/test_autodiff_store
unit_tests += tests/test_autodiff_optim
unit_tests += tests/test_autodiff_optim_model
unit_tests += tests/test_context
unit_tests += tests/test_golden_json
unit_tests += tests/test_gp_data
unit_tests += tests/test_gp_derivatives
unit_tests += tests/test_gp_fit
unit_tests += tests/test_gp_golden
unit_tests += tests/test_gp_lml
unit_tests += tests/test_gp_mean
unit_tests += tests/test_gp_kernel
unit_tests += tests/test_gp_model
unit_tests += tests/test_gp_objective
unit_tests += tests/test_gp_predict
unit_tests += tests/test_gp_options
unit_tests += tests/test_gp_prior
unit_tests += tests/test_gp_reference
unit_tests += tests/test_gp_refusals
unit_tests += tests/test_gp_start
unit_tests += tests/test_gp_traps
unit_tests += tests/test_disk_full
unit_tests += tests/test_heap
unit_tests += tests/test_misuse_datasets
unit_tests += tests/test_misuse_gp
unit_tests += tests/test_misuse_gp_files
unit_tests += tests/test_linalg_copy
unit_tests += tests/test_linalg_interp
unit_tests += tests/test_linalg_map
tests_test_linalg_map_SOURCES = tests/test_linalg_map.c \
  tests/map_reference.c tests/map_reference.h
unit_tests += tests/test_linalg_map_tail
unit_tests += tests/test_linalg_divide
unit_tests += tests/test_linalg_symmetric
unit_tests += tests/test_linalg_reduce
unit_tests += tests/test_linalg_array
unit_tests += tests/test_linalg_cholesky
unit_tests += tests/test_linalg_distance
unit_tests += tests/test_linalg_eigh
unit_tests += tests/test_linalg_stack
unit_tests += tests/test_linalg_gather
unit_tests += tests/test_linalg_gemm
unit_tests += tests/test_linalg_potri
unit_tests += tests/test_linalg_random
unit_tests += tests/test_linalg_tri
unit_tests += tests/test_linalg_trsm
unit_tests += tests/test_misuse_autodiff
unit_tests += tests/test_misuse_base
unit_tests += tests/test_misuse_datasets
unit_tests += tests/test_misuse_linalg
unit_tests += tests/test_misuse_op
unit_tests += tests/test_rng
unit_tests += tests/test_sobol
unit_tests += tests/test_status
unit_tests += tests/test_util_self
unit_tests += tests/test_zero_alloc
unit_tests += tests/test_autodiff_ops_golden
tests_test_autodiff_ops_golden_SOURCES = %D%/test_autodiff_ops_golden.c \
  $(eager_sources)
unit_tests += tests/test_autodiff_scan
tests_test_autodiff_scan_SOURCES = %D%/test_autodiff_scan.c $(eager_sources)
# The eager graph of a test.
eager_sources = tests/eager.c tests/eager.h
unit_tests += tests/test_conformance_ops
tests_test_conformance_ops_SOURCES = %D%/test_conformance_ops.c \
  $(conformance_sources)
unit_tests += tests/test_autodiff_adam
unit_tests += tests/test_autodiff_fuse
unit_tests += tests/test_autodiff_plan
unit_tests += tests/test_autodiff_program
unit_tests += tests/test_autodiff_runner
unit_tests += tests/test_conformance_compiled
tests_test_conformance_compiled_SOURCES = \
  %D%/test_conformance_compiled.c $(conformance_sources)
unit_tests += tests/test_conformance_rules
tests_test_conformance_rules_SOURCES = %D%/test_conformance_rules.c \
  %D%/conformance_rules.c %D%/conformance_rules.h
# The suite over an operator list, for the conformance test of each module.
conformance_sources = tests/conformance.c tests/conformance.h \
  tests/conformance_gradient.c tests/conformance_value.c
unit_tests += tests/test_datasets_csv
unit_tests += tests/test_datasets_golden
unit_tests += tests/test_datasets_hdf5
unit_tests += tests/test_datasets_hostile
unit_tests += tests/test_datasets_idx
unit_tests += tests/test_datasets_scale
unit_tests += tests/test_datasets_select
unit_tests += tests/test_datasets_split
unit_tests += tests/test_datasets_write
public_tests += tests/test_public_base
tests_test_public_base_LDADD = $(LINK_PUBLIC)
dist_check_SCRIPTS += tests/check-app.sh
dist_check_SCRIPTS += tests/check-guide.sh
dist_check_SCRIPTS += tests/check-headers.sh
dist_check_SCRIPTS += tests/check-misuse.sh
dist_check_SCRIPTS += tests/check-includes.sh
dist_check_SCRIPTS += tests/check-style.sh
dist_check_SCRIPTS += tests/check-symbols.sh
dist_check_SCRIPTS += tests/check-vector.sh

EXTRA_DIST += %D%/tap.sh %D%/totals.sh
noinst_HEADERS += %D%/cutap.h %D%/test_util.h %D%/test_linalg.h
noinst_HEADERS += %D%/test_autodiff.h
EXTRA_DIST += %D%/golden/gp_public.json
noinst_HEADERS += %D%/golden_json.h %D%/test_gp.h \
  %D%/test_gp_problem.h
EXTRA_DIST += %D%/golden/datasets.txt %D%/golden/datasets.py
noinst_HEADERS += %D%/cutap.h %D%/test_util.h
noinst_HEADERS += %D%/datasets_util.h %D%/datasets_hdf5_util.h
if HAVE_CUNIT
check_LTLIBRARIES += tests/libtest.la
tests_libtest_la_SOURCES = %D%/cutap.c %D%/test_util.c %D%/test_alloc.c
tests_libtest_la_SOURCES += %D%/golden_json.c %D%/test_gp.c \
  %D%/test_gp_problem.c
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
  SAN_CFLAGS='$(SAN_CFLAGS)'; export SAN_CFLAGS; \
  GSL_LIBS='$(GSL_LIBS)'; export GSL_LIBS; \
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
