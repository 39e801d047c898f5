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
