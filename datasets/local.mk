# Reading, splitting and scaling data sets; small sets that are shipped.
libcovar_core_la_SOURCES += %D%/dataset.c
libcovar_core_la_SOURCES += %D%/dataset_csv.c
libcovar_core_la_SOURCES += %D%/dataset_csv.h
libcovar_core_la_SOURCES += %D%/dataset_csv_scan.c
libcovar_core_la_SOURCES += %D%/dataset_file.c
libcovar_core_la_SOURCES += %D%/dataset_hdf5.c
libcovar_core_la_SOURCES += %D%/dataset_hdf5.h
libcovar_core_la_SOURCES += %D%/dataset_hdf5_attribute.c
libcovar_core_la_SOURCES += %D%/dataset_hdf5_chunks.c
libcovar_core_la_SOURCES += %D%/dataset_hdf5_member.c
libcovar_core_la_SOURCES += %D%/dataset_idx.c
libcovar_core_la_SOURCES += %D%/dataset_impl.h
libcovar_core_la_SOURCES += %D%/dataset_info.c
libcovar_core_la_SOURCES += %D%/dataset_load.c
libcovar_core_la_SOURCES += %D%/dataset_names.c
libcovar_core_la_SOURCES += %D%/dataset_scale.c
libcovar_core_la_SOURCES += %D%/dataset_select.c
libcovar_core_la_SOURCES += %D%/dataset_split.c
libcovar_core_la_SOURCES += %D%/dataset_write.c
libcovar_core_la_SOURCES += %D%/dataset_write_csv.c

# The bundled sets, and where dataset_load_bundled finds them.
AM_CPPFLAGS += -DCOVAR_DATADIR='"$(pkgdatadir)"'
dist_pkgdata_DATA = \
  %D%/airpassengers.h5 \
  %D%/co2_monthly.h5 \
  %D%/co2_weekly.h5 \
  %D%/faithful.h5 \
  %D%/lakehuron.h5 \
  %D%/longley.h5 \
  %D%/lynx.h5 \
  %D%/mcycle.h5 \
  %D%/nile.h5 \
  %D%/sunspots_year.h5
EXTRA_DIST += %D%/README.md %D%/make-datasets.sh
