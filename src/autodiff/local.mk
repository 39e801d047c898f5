# Files of this folder, one line each:
#   libcovar_core_la_SOURCES += %D%/file.c
