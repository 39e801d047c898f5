# Macros of this project's configure.ac.  SPDX-License-Identifier: GPL-3.0-or-later

# COVAR_NEED(PREFIX, PKG-CONFIG MODULE, DEBIAN PACKAGE)
# A library that must be there; a missing one is added to $missing.
AC_DEFUN([COVAR_NEED],
  [PKG_CHECK_MODULES([$1], [$2], [], [missing="$missing $3"])])

# COVAR_CC_FLAG(VARIABLE, FLAG)
# Appends FLAG to VARIABLE if the C compiler takes it without a complaint.
AC_DEFUN([COVAR_CC_FLAG], [
  covar_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $2"
  AC_MSG_CHECKING([whether $CC takes $2])
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])
     $1="$$1 $2"],
    [AC_MSG_RESULT([no])])
  CFLAGS=$covar_saved_CFLAGS])

# COVAR_ISA
# Can kernels be compiled for x86-64-v3 and -v4 and chosen at run time?
AC_DEFUN([COVAR_ISA], [
  covar_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -march=x86-64-v4 -mprefer-vector-width=512"
  AC_CACHE_CHECK([whether $CC builds kernels per x86-64 level],
    [covar_cv_isa_x86],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([], [[
       __builtin_cpu_init();
       return __builtin_cpu_supports("avx512f")
           && __builtin_cpu_supports("bmi2");]])],
      [covar_cv_isa_x86=yes], [covar_cv_isa_x86=no])])
  CFLAGS=$covar_saved_CFLAGS
  AM_CONDITIONAL([ISA_X86], [test "$covar_cv_isa_x86" = yes])
  AS_IF([test "$covar_cv_isa_x86" = yes],
    [AC_DEFINE([HAVE_ISA_X86], [1],
      [Kernels for x86-64-v3 and x86-64-v4 are built.])])])
