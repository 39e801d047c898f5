# Linear algebra on arrays. Three kinds of file:
#
# 1. An ordinary file or a private header:
#      libcovar_core_la_SOURCES += %D%/array.c
#
# 2. A file with inner loops, compiled with KERNEL_CFLAGS. The first one
#    brings the library, the others are one `_SOURCES +=` line each:
#      noinst_LTLIBRARIES += liblinalg_kernel.la
#      liblinalg_kernel_la_SOURCES = %D%/reduce.c
#      liblinalg_kernel_la_CFLAGS = $(KERNEL_CFLAGS)
#      libcovar_core_la_LIBADD += liblinalg_kernel.la
#
# 3. A file compiled once per instruction set. It names its external symbols
#    with the suffix ISA (_base, _v3, _v4); the caller chooses by
#    covar_context_isa and looks at HAVE_ISA_X86 of config.h:
#      isa_sources = %D%/map_kernels.c
#      noinst_LTLIBRARIES += liblinalg_base.la
#      liblinalg_base_la_SOURCES = $(isa_sources)
#      liblinalg_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_base
#      liblinalg_base_la_CFLAGS = $(VEC_CFLAGS_BASE)
#      libcovar_core_la_LIBADD += liblinalg_base.la
#      if ISA_X86
#      noinst_LTLIBRARIES += liblinalg_v3.la liblinalg_v4.la
#      liblinalg_v3_la_SOURCES = $(isa_sources)
#      liblinalg_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v3
#      liblinalg_v3_la_CFLAGS = $(VEC_CFLAGS_V3)
#      liblinalg_v4_la_SOURCES = $(isa_sources)
#      liblinalg_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v4
#      liblinalg_v4_la_CFLAGS = $(VEC_CFLAGS_V4)
#      libcovar_core_la_LIBADD += liblinalg_v3.la liblinalg_v4.la
#      endif

libcovar_core_la_SOURCES += %D%/array.c
libcovar_core_la_SOURCES += %D%/batch.c
libcovar_core_la_SOURCES += %D%/batch.h
libcovar_core_la_SOURCES += %D%/blas.h
libcovar_core_la_SOURCES += %D%/blas.inc
libcovar_core_la_SOURCES += %D%/check.c
libcovar_core_la_SOURCES += %D%/check.h
libcovar_core_la_SOURCES += %D%/device.c
libcovar_core_la_SOURCES += %D%/device_cpu.c
libcovar_core_la_SOURCES += %D%/each_real.h
libcovar_core_la_SOURCES += %D%/leaf.h
libcovar_core_la_SOURCES += %D%/leaf_decl.inc
libcovar_core_la_SOURCES += %D%/linalg_impl.h
libcovar_core_la_SOURCES += %D%/solve.h
libcovar_core_la_SOURCES += %D%/solve_decl.inc
libcovar_core_la_SOURCES += %D%/triangle.h
libcovar_core_la_SOURCES += %D%/triangle_decl.inc
libcovar_core_la_SOURCES += %D%/view.c

libcovar_core_la_SOURCES += %D%/copy.c
libcovar_core_la_SOURCES += %D%/interp.c
libcovar_core_la_SOURCES += %D%/map.c
libcovar_core_la_SOURCES += %D%/map_bound.c
libcovar_core_la_SOURCES += %D%/map_check.c
libcovar_core_la_SOURCES += %D%/map_optimise.c
libcovar_core_la_SOURCES += %D%/map_decode.c
libcovar_core_la_SOURCES += %D%/map_decode.h
libcovar_core_la_SOURCES += %D%/map_piece.c
libcovar_core_la_SOURCES += %D%/map_plan.c
libcovar_core_la_SOURCES += %D%/map_plan.h
libcovar_core_la_SOURCES += %D%/map_table.c
libcovar_core_la_SOURCES += %D%/map_table.h
libcovar_core_la_SOURCES += %D%/nest.c
libcovar_core_la_SOURCES += %D%/nest.h
libcovar_core_la_SOURCES += %D%/reduce.c

# Dense kernels: one library of files with inner loops, and one per
# instruction set with the leaves.
noinst_LTLIBRARIES += libdense.la libdense_base.la
libcovar_core_la_LIBADD += libdense.la libdense_base.la
libdense_la_CFLAGS = $(KERNEL_CFLAGS)
libdense_la_SOURCES =
libdense_la_SOURCES += %D%/cholesky.c
libdense_la_SOURCES += %D%/cholesky.inc
libdense_la_SOURCES += %D%/diag.c
libdense_la_SOURCES += %D%/diag.inc
libdense_la_SOURCES += %D%/distance.c
libdense_la_SOURCES += %D%/distance.inc
libdense_la_SOURCES += %D%/eigh.c
libdense_la_SOURCES += %D%/eigh.inc
libdense_la_SOURCES += %D%/gather.c
libdense_la_SOURCES += %D%/gather.inc
libdense_la_SOURCES += %D%/gemm.c
libdense_la_SOURCES += %D%/gemm.inc
libdense_la_SOURCES += %D%/potri.c
libdense_la_SOURCES += %D%/potri.inc
libdense_la_SOURCES += %D%/random.c
libdense_la_SOURCES += %D%/solve.c
libdense_la_SOURCES += %D%/solve.inc
libdense_la_SOURCES += %D%/tri.c
libdense_la_SOURCES += %D%/tri.inc
libdense_la_SOURCES += %D%/triangle.c
libdense_la_SOURCES += %D%/triangle.inc
libdense_la_SOURCES += %D%/trsm.c
libdense_la_SOURCES += %D%/trsm.inc

dense_isa_sources = %D%/leaf.c %D%/leaf.inc %D%/leaf_group.inc \
  %D%/leaf_solve.inc
libdense_base_la_SOURCES = $(dense_isa_sources)
libdense_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_base
libdense_base_la_CFLAGS = $(VEC_CFLAGS_BASE)
if ISA_X86
noinst_LTLIBRARIES += libdense_v3.la libdense_v4.la
libcovar_core_la_LIBADD += libdense_v3.la libdense_v4.la
libdense_v3_la_SOURCES = $(dense_isa_sources)
libdense_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v3
libdense_v3_la_CFLAGS = $(VEC_CFLAGS_V3)
libdense_v4_la_SOURCES = $(dense_isa_sources)
libdense_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v4
libdense_v4_la_CFLAGS = $(VEC_CFLAGS_V4)
endif

# Map kernels: the rows of the map table, one library per instruction set.
noinst_LTLIBRARIES += libmap_base.la
libcovar_core_la_LIBADD += libmap_base.la
map_isa_sources = %D%/map_kernels.c %D%/map_isa.h %D%/map_vec.inc
map_isa_sources += %D%/map_pair.inc
map_isa_sources += %D%/map_exp.inc %D%/map_hyperbolic.inc %D%/map_erf.inc
map_isa_sources += %D%/map_brief.inc %D%/map_f32.inc
map_isa_sources += %D%/map_funcs.inc %D%/map_each.inc %D%/map_rows.inc
map_isa_sources += %D%/map_divide.inc %D%/map_super.inc %D%/map_reduce.inc
libmap_base_la_SOURCES = $(map_isa_sources)
libmap_base_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_base
libmap_base_la_CFLAGS = $(VEC_CFLAGS_BASE)
if ISA_X86
noinst_LTLIBRARIES += libmap_v3.la libmap_v4.la
libcovar_core_la_LIBADD += libmap_v3.la libmap_v4.la
libmap_v3_la_SOURCES = $(map_isa_sources)
libmap_v3_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v3
libmap_v3_la_CFLAGS = $(VEC_CFLAGS_V3)
libmap_v4_la_SOURCES = $(map_isa_sources)
libmap_v4_la_CPPFLAGS = $(AM_CPPFLAGS) -DISA=_v4
libmap_v4_la_CFLAGS = $(VEC_CFLAGS_V4)
endif
