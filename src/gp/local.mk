# Files of this folder, one line each:
#   libcovar_core_la_SOURCES += %D%/file.c
libcovar_core_la_SOURCES += %D%/gp_impl.h %D%/kernel_leaf.h
libcovar_core_la_SOURCES += %D%/kernel_tree.h
libcovar_core_la_SOURCES += %D%/kernel.c
libcovar_core_la_SOURCES += %D%/kernel_build.c
libcovar_core_la_SOURCES += %D%/kernel_matern.c
libcovar_core_la_SOURCES += %D%/kernel_parse.c
libcovar_core_la_SOURCES += %D%/kernel_periodic.c
libcovar_core_la_SOURCES += %D%/kernel_plain.c
libcovar_core_la_SOURCES += %D%/kernel_print.c
libcovar_core_la_SOURCES += %D%/kernel_stationary.c
libcovar_core_la_SOURCES += %D%/kernel_table.c
libcovar_core_la_SOURCES += %D%/kernel_user.c
libcovar_core_la_SOURCES += %D%/kernel_values.c
libcovar_core_la_SOURCES += %D%/params.c
libcovar_core_la_SOURCES += %D%/params_settings.c
