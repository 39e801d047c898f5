# Compiles the examples of the guide and of the README against the built
# library, runs them and compares their output with what the pages show.  With GUIDE_WRITE=1 it writes
# the output into the pages instead.  SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"

top=$(cd "$top_builddir" && pwd)
pages=$(cd "$top_srcdir/doc/guide" && pwd)
cd "$scratch" || exit 99

# The lines of the first block fenced by ```$2 after "<!-- example" in page $1.
block() {
    awk -v fence="\`\`\`$2" '
        /^<!-- example/ { seen = 1 }
        seen && $0 == fence && !done { inside = 1; next }
        inside && $0 == "```" { inside = 0; done = 1 }
        inside { print }' "$1"
}

# Page $1 with its output block replaced by file $2.
rewrite() {
    awk -v file="$2" '
        $0 == "```output" { print; while ((getline line < file) > 0)
            print line; skip = 1; next }
        skip && $0 == "```" { skip = 0 }
        !skip { print }' "$1"
}

readme=$(cd "$top_srcdir" && pwd)/README.md
for page in "$readme" "$pages"/*.md; do
    grep -q '^<!-- example' "$page" || continue
    name=$(basename "$page" .md)
    {
        echo '#include <covar/context.h>'
        awk '/^#define CHECK/ { on = 1 } on && /^```/ { exit } on' \
            "$pages/index.md"
        block "$page" c
    } > "$name.c"
    block "$page" output > "$name.expected"
    if ! "$top/libtool" --silent --tag=CC --mode=link $CC -std=gnu11 -Wall \
        -Werror $SAN_CFLAGS -I"$top/include" "$name.c" "$top/libcovar.la" \
        $GSL_LIBS -lm -o "$name" > "$name.log" 2>&1; then
        check "$name.md: the example compiles" "$name.log"
        continue
    fi
    ./"$name" > "$name.out" 2>&1 || echo "exit status $?" >> "$name.out"
    if [ "$GUIDE_WRITE" = 1 ]; then
        rewrite "$page" "$name.out" > "$name.md" && cp "$name.md" "$page"
    fi
    diff "$name.expected" "$name.out" > "$name.log" 2>&1
    check "$name.md: the example prints what the page shows" "$name.log"
done
finish
