# Man pages and the guide.
#   dist_man_MANS += %D%/covar-gp.1
#   EXTRA_DIST += %D%/guide/gp.md
