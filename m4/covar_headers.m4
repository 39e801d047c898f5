# The public headers.  SPDX-License-Identifier: GPL-3.0-or-later
#
# The one list: it says what is installed in $(includedir)/covar and what
# <covar/...> finds in the build tree.
m4_define([COVAR_PUBLIC_HEADERS], [
  src/base.h
  src/context.h
  src/covar.h
  src/rng.h
  src/status.h
  src/linalg/gsl.h
  src/linalg/linalg.h
  src/autodiff/autodiff.h
  src/autodiff/op.h
  src/autodiff/optim.h
  src/gp/gp.h
  datasets/dataset.h
])

# COVAR_PUBLIC_HEADER_LINKS
# Links include/covar/NAME.h in the build tree; substitutes public_headers.
AC_DEFUN([COVAR_PUBLIC_HEADER_LINKS], [
  m4_foreach_w([covar_header], COVAR_PUBLIC_HEADERS,
    [AC_CONFIG_LINKS(
      [include/covar/]m4_bpatsubst(covar_header, [.*/], [])[:]covar_header)])
  AC_SUBST([public_headers],
    ["m4_normalize(COVAR_PUBLIC_HEADERS)"])])
