# Command line programs: thin uses of the public library.
#   bin_PROGRAMS += covar-gp
#   covar_gp_SOURCES = %D%/covar-gp.c
#   covar_gp_LDADD = $(LINK_APP)

# Makes the files in datasets/; not built unless asked for.
EXTRA_PROGRAMS += apps/make-dataset
apps_make_dataset_SOURCES = %D%/make-dataset.c
apps_make_dataset_LDADD = $(LINK_APP)
bin_PROGRAMS += covar-gp
covar_gp_SOURCES = %D%/covar-gp.c %D%/covar-gp.h %D%/app.c %D%/app.h
covar_gp_SOURCES += %D%/app_output.c %D%/app_blas.c
covar_gp_SOURCES += %D%/covar_gp_data.c %D%/covar_gp_columns.c
covar_gp_SOURCES += %D%/app_json.c %D%/covar_gp_fit.c %D%/covar_gp_info.c
covar_gp_SOURCES += %D%/covar_gp_json.c %D%/covar_gp_options.c
covar_gp_SOURCES += %D%/covar_gp_plot.c %D%/covar_gp_predict.c
covar_gp_SOURCES += %D%/covar_gp_table.c %D%/covar_gp_text.c
covar_gp_LDADD = $(LINK_APP)
