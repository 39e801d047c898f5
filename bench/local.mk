# Benchmarks: built and run by `make bench`, built by `make benches`. Two lines
# for each:
#   benches += bench/bench_gemm
#   bench_bench_gemm_LDADD = $(LINK_BENCH)
benches += bench/bench_gp
bench_bench_gp_LDADD = $(LINK_BENCH)
benches += bench/bench_linalg
bench_bench_linalg_LDADD = $(LINK_BENCH)

EXTRA_DIST += %D%/reference.sh %D%/peers/gp_sklearn.py
EXTRA_DIST += %D%/peers/gp_torch.py
EXTRA_PROGRAMS += $(benches)
CLEANFILES += $(benches)

benches: $(benches)
bench: $(benches)
	@for b in $(benches); do echo "== $$b"; ./$$b || exit 1; done
.PHONY: bench benches
