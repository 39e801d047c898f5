# Every function of the public headers is called by a test of its misuse.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
cd "$top_srcdir" || exit 99

cat tests/test_misuse_*.c > "$scratch/tests"
headers=$(sed -n 's/^  \(\(src\|datasets\)[^ ]*\.h\)$/\1/p' \
    m4/covar_headers.m4)
: > "$scratch/bad"
for header in $headers; do
    tr '\n' ' ' < "$header" | sed 's/;/;\n/g' |
        grep -oE '(COVAR_API|static inline)[^;{]*\b[a-z_0-9]+ *\(' |
        sed -E 's/.*\b([a-z_0-9]+) *\($/\1/' | grep -E '^(covar|la|ad|gp|dataset)_' |
        sort -u > "$scratch/names"
    while read -r name; do
        echo "$name" >> "$scratch/all"
        grep -qw "$name" "$scratch/tests" ||
            echo "$header: $name" >> "$scratch/bad"
    done < "$scratch/names"
done
[ "$(wc -l < "$scratch/all")" -gt 200 ] ||
    echo "only $(wc -l < "$scratch/all") functions were found" \
        >> "$scratch/bad"
check "every public function was misused" "$scratch/bad"
finish
