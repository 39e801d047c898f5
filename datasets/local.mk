# Reading, splitting and scaling data sets; small sets that are shipped.
#   libcovar_core_la_SOURCES += %D%/dataset.c
#   EXTRA_DIST += %D%/co2.csv
