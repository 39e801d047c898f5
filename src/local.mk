# Base: status, context, heap, random streams.
# A source file or private header: one line below. A public header: one line
# in m4/covar_headers.m4 instead.
libcovar_core_la_SOURCES += %D%/context.c
libcovar_core_la_SOURCES += %D%/heap.c
libcovar_core_la_SOURCES += %D%/heap.h
libcovar_core_la_SOURCES += %D%/number.c %D%/number.h
libcovar_core_la_SOURCES += %D%/rng.c
libcovar_core_la_SOURCES += %D%/sobol.c
libcovar_core_la_SOURCES += %D%/sobol.h
libcovar_core_la_SOURCES += %D%/status.c
libcovar_core_la_SOURCES += %D%/version.c
