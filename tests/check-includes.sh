# Includes point downwards only:
#   base <- linalg <- autodiff <- gp, kalman, dnn, rnn <- apps
# and datasets may use base and linalg. The four siblings do not include each
# other, but gp/temporal.c may use <covar/kalman.h>.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"
cd "$top_srcdir" || exit 99

find src datasets apps -name '*.[ch]' -o -name '*.inc' -o -name '*.cu' |
    sort > "$scratch/files"

# FILE TARGET, one line for each include that may name a file of ours.
while read -r file; do
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*[<"]\([^>"]*\)[>"].*/\1/p' "$file" |
        sed "s|^|$file |"
done < "$scratch/files" > "$scratch/includes"

$AWK '
function layer(path,   part) {
    split(path, part, "/")
    if (part[1] != "src")
        return part[1]
    return path ~ /^src\/[^\/]*$/ ? "base" : part[2]
}
# The file that an include line means; "" for a system header.
function resolve(from, target,   dir) {
    if (target ~ /^covar\//) {
        sub(/^covar\//, "", target)
        return target in public ? public[target] : "missing"
    }
    dir = from
    sub(/[^\/]*$/, "", dir)
    if ((dir target) in known)
        return dir target
    return ("src/" target) in known ? "src/" target : ""
}
BEGIN {
    below["base"] = "base"
    below["linalg"] = "base linalg"
    below["autodiff"] = "base linalg autodiff"
    below["datasets"] = "base linalg datasets"
    n = split("gp kalman dnn rnn", sibling, " ")
    for (i = 1; i <= n; i++)
        below[sibling[i]] = below["autodiff"] " " sibling[i]
}
FILENAME ~ /files$/ {
    known[$1] = 1
    name = $1
    sub(/.*\//, "", name)
    if (name ~ /\.h$/)
        public[name] = $1
    next
}
{
    target = resolve($1, $2)
    if (target == "" || $1 == "src/covar.h")
        next
    from = layer($1)
    if (target == "missing")
        print $1 " includes <" $2 ">, which no folder has"
    else if (from == "apps") {
        if ($2 !~ /^covar\// && layer(target) != "apps")
            print $1 " includes private " target
    } else if (target == "src/covar.h" && $1 != "src/version.c")
        print $1 " includes the umbrella header"
    else if ($1 == "src/gp/temporal.c" && $2 == "covar/kalman.h")
        next
    else if (!(from in below))
        print $1 " is in a folder that has no layer"
    else if (index(" " below[from] " ", " " layer(target) " ") == 0)
        print $1 " (" from ") includes " target " (" layer(target) ")"
}' "$scratch/files" "$scratch/includes" > "$scratch/bad"
check "includes point downwards" "$scratch/bad"
finish
