# Command line programs: thin uses of the public library.
#   bin_PROGRAMS += covar-gp
#   covar_gp_SOURCES = %D%/covar-gp.c
#   covar_gp_LDADD = $(LINK_APP)

# Makes the files in datasets/; not built unless asked for.
EXTRA_PROGRAMS += apps/make-dataset
apps_make_dataset_SOURCES = %D%/make-dataset.c
apps_make_dataset_LDADD = $(LINK_APP)
