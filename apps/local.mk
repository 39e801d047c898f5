# Command line programs: thin uses of the public library.
#   bin_PROGRAMS += covar-gp
#   covar_gp_SOURCES = %D%/covar-gp.c
#   covar_gp_LDADD = $(LINK_APP)
