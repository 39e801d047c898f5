# The parts of the style that a script can see.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
cd "$top_srcdir" || exit 99

c_files() {
    find "$@" -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' 2> /dev/null |
        sort
}

c_files src tests apps datasets bench > "$scratch/all"
c_files src datasets > "$scratch/library"
# Public headers are mostly documentation: their length is no matter.
sed -n 's/^ *\(.*\.h\)$/\1/p' m4/covar_headers.m4 > "$scratch/public"
grep -vxF -f "$scratch/public" "$scratch/all" > "$scratch/limited"

# Runs an awk program over a list of files: each NAME LIST PROGRAM
each() {
    xargs $AWK "$3" /dev/null < "$2" > "$scratch/bad"
    check "$1" "$scratch/bad"
}

each "lines have at most 80 columns" "$scratch/all" '
    { line = $0; gsub(/[\200-\277]/, "", line) }
    length(line) > 80 { print FILENAME ":" FNR ": " length(line) " columns" }'
each "no trailing blanks or tabs" "$scratch/all" '
    /[ \t]$/ || /\t/ { print FILENAME ":" FNR }'
each "files have at most 400 lines" "$scratch/limited" '
    FNR == 1 { reason = 0 }
    FNR <= 20 && /[Ll]onger than 400 lines/ { reason = 1 }
    FNR == 401 && !reason { print FILENAME ": say why in the head comment" }'
each "functions have at most 60 lines" "$scratch/all" '
    FNR == 1 { start = 0 }
    /^{/ { start = FNR }
    /^}/ && start {
        if (FNR - start + 1 > 60)
            print FILENAME ":" start ": " FNR - start + 1 " lines"
        start = 0
    }'
each "every file names its licence" "$scratch/all" '
    FNR == 1 { if (file != "" && !found) print file; found = 0
               file = FILENAME }
    /SPDX-License-Identifier: GPL-3.0-or-later/ { found = 1 }'
each "no forbidden call in the library" "$scratch/library" '
    {
        code = $0
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        gsub(/\/\*.*\*\//, "", code)
        sub(/\/\*.*/, "", code)
        sub(/^ \*.*/, "", code)
    }
    code ~ /(^|[^a-zA-Z0-9_])(cblas_[a-z]+|getenv|printf|puts|exit|abort)[ ]*\(/ {
        print FILENAME ":" FNR ": " $0
    }
    code ~ /(^|[^a-zA-Z0-9_])(stdout|stderr|alloca)([^a-zA-Z0-9_]|$)/ {
        print FILENAME ":" FNR ": " $0
    }'

: > "$scratch/bad"
[ -f .clang-format ] || echo ".clang-format is missing" > "$scratch/bad"
check ".clang-format is there" "$scratch/bad"
finish
