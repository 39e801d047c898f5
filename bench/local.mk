# Benchmarks: built and run by `make bench`, built by `make benches`. Two lines
# for each:
#   benches += bench/bench_gemm
#   bench_bench_gemm_LDADD = $(LINK_BENCH)
benches += bench/bench_call
bench_bench_call_LDADD = $(LINK_BENCH)
benches += bench/bench_elementwise
bench_bench_elementwise_SOURCES = bench/bench_elementwise.c \
  bench/bench_elementwise.h
bench_bench_elementwise_LDADD = $(fused_loops) $(LINK_BENCH)
fused_loops = bench/libfused_base.la
fused_sources = bench/elementwise_fused.c bench/elementwise_fused.inc
EXTRA_LTLIBRARIES = $(fused_loops)
bench_libfused_base_la_SOURCES = $(fused_sources)
bench_libfused_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_base
bench_libfused_base_la_CFLAGS = $(VEC_CFLAGS_BASE)
if ISA_X86
fused_loops += bench/libfused_v3.la bench/libfused_v4.la
bench_libfused_v3_la_SOURCES = $(fused_sources)
bench_libfused_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v3
bench_libfused_v3_la_CFLAGS = $(VEC_CFLAGS_V3)
bench_libfused_v4_la_SOURCES = $(fused_sources)
bench_libfused_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v4
bench_libfused_v4_la_CFLAGS = $(VEC_CFLAGS_V4)
endif

benches += bench/bench_gp
bench_bench_gp_LDADD = $(LINK_BENCH)
benches += bench/bench_linalg
bench_bench_linalg_LDADD = $(LINK_BENCH)
benches += bench/bench_optim
bench_bench_optim_SOURCES = bench/bench_optim.c bench/bench_optim.h \
  bench/bench_optim_plain.c bench/bench_optim_gp.c
bench_bench_optim_LDADD = $(LINK_BENCH)

EXTRA_DIST += %D%/reference.sh %D%/peers/gp_sklearn.py
EXTRA_DIST += %D%/peers/gp_torch.py
EXTRA_PROGRAMS += $(benches)
CLEANFILES += $(benches)

benches: $(benches)
bench: $(benches)
	@for b in $(benches); do echo "== $$b"; ./$$b || exit 1; done
.PHONY: bench benches
