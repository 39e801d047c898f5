# Every public header compiles alone, without a warning, in C11 and in C++17.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
: "${public_headers:=$(sed -n 's/^ *\(src.*\.h\)$/\1/p' \
    "$top_srcdir/m4/covar_headers.m4")}"
warnings='-Wall -Wextra -Wshadow -Wconversion -Wvla -pedantic -Werror'
include="-I$top_builddir/include"

for header in $public_headers; do
    name=covar/${header##*/}
    for i in 1 2; do echo "#include <$name>"; done > "$scratch/one.c"
    echo 'int covar_header_alone;' >> "$scratch/one.c"
    cp "$scratch/one.c" "$scratch/one.cc"
    if ! ${CC:-cc} -std=c11 $warnings -Wstrict-prototypes $include \
        -c -o "$scratch/one.o" "$scratch/one.c" > "$scratch/out" 2>&1; then
        echo "the compiler failed" >> "$scratch/out"
    fi
    check "<$name> alone in C11" "$scratch/out"
    if ! ${CXX:-c++} --version > /dev/null 2>&1; then
        skip "<$name> alone in C++17" "no C++ compiler"
        continue
    fi
    if ! ${CXX:-c++} -std=c++17 $warnings $include \
        -c -o "$scratch/one.o" "$scratch/one.cc" > "$scratch/out" 2>&1; then
        echo "the compiler failed" >> "$scratch/out"
    fi
    check "<$name> alone in C++17" "$scratch/out"
done
finish
