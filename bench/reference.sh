#!/bin/sh
# The reference table: covar-gp on real data against values measured by others
# of the same quantity.  SPDX-License-Identifier: GPL-3.0-or-later
#
#   sh bench/reference.sh [BUILD-DIR] [GROUP ...]
#
# Groups: series boston concrete energy yacht wine kin8nm; all by default. Data
# come from $COVAR_SHARED/data (default: ../shared beside the source folder).
# Prints a line for each run: ours, the bar, whether it is met, seconds; fails
# when one is not.
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
build=${1:-$here/build}
[ $# -gt 0 ] && shift
groups=${*:-series boston concrete energy yacht wine kin8nm}
data=${COVAR_SHARED:-$here/../shared}/data
gp=$build/covar-gp
report=$(mktemp) || exit 1
trap 'rm -f "$report" "$report".*' EXIT
[ -d "$data" ] || { echo "no data in $data"; exit 77; }

# The number of a JSON member: member NAME in the report (first match), or in
# the object that begins with line NAME and then KEY.
number() {
    awk -v name="\"$1\":" -v key="\"$2\":" '
        function value(s) { sub(/^[^:]*: */, "", s); sub(/,$/, "", s); return s }
        $1 == name && key == "\"\":" { print value($0); exit }
        $1 == name { inside = 1; next }
        inside && $1 == key { print value($0); exit }' "$report"
}

# run LABEL FILE OPTIONS...: one fit; its report is left in $report.
run() {
    label=$1 file=$2
    shift 2
    if ! "$gp" fit "$data/$file.h5" --report json --quiet "$@" > "$report"; then
        printf '%-34s failed\n' "$label"
        : > "$report.missed"
        return 1
    fi
}

# expect WHAT OURS RELATION BAR [TOLERANCE]. What is no number is a miss.
expect() {
    awk -v label="$label" -v what="$1" -v ours="$2" -v rel="$3" -v bar="$4" \
        -v tol="${5:-0}" -v seconds="$(number seconds)" 'BEGIN {
        d = ours - bar
        ok = rel == "=" ? (d < 0 ? -d : d) <= tol : rel == ">=" ? d >= -tol \
            : d <= tol
        ok = ok && ours ~ /^-?[0-9]/
        printf "%-34s %-22s %16.8f %2s %14.6f  %-4s %8.2f s\n", label, what, \
            ours, rel, bar, ok ? "ok" : "MISS", seconds
        exit !ok }' || : > "$report.missed"
}


series() {
    for row in "rbf -55.90027669" "matern12 -68.30588481" \
        "matern32 -60.57398881" "matern52 -58.55545556"; do
        run "snelson ${row% *}" snelson --kernel "${row% *}" --mean zero \
            --standardise none --restarts 0 &&
            expect lml "$(number lml)" = "${row#* }" 1e-6
    done
    co2="4356*rbf(lengthscale=67) + 5.76*rbf(lengthscale=90)*periodic(\
lengthscale=1.3,period:=1) + 0.4356*rq(lengthscale=1.2,alpha=0.78) + \
0.0324*rbf(lengthscale=0.134)"
    free=$(echo "$co2" | sed 's/period:=1/period=1/')
    set -- --noise 0.0361 --mean zero --standardise y
    run "co2 at the start" co2_r --kernel "$co2" "$@" --no-fit &&
        expect lml "$(number lml)" = -87.033511 1e-6
    run "co2, given start only" co2_r --kernel "$co2" "$@" --restarts 0 &&
        expect lml "$(number lml)" = -83.213816 1e-4
    run "co2, default starts" co2_r --kernel "$co2" "$@" &&
        expect lml "$(number lml)" ">=" -83.213816 1e-4
    run "co2, free period" co2_r --kernel "$free" "$@" --restarts 0 &&
        expect lml "$(number lml)" ">=" -82.90
    for row in "rbf -623.34963326210937" "matern32 -628.18644357310511" \
        "matern52 -626.18803294816937"; do
        run "mcycle ${row% *}" mcycle --mean zero --standardise none --no-fit \
            --kernel "2500*${row% *}(lengthscale=5)" --fix-noise 400 &&
            expect lml "$(number lml)" = "${row#* }" 1e-8
    done
}

# splits LABEL FILE SLACK "LML..." OPTIONS...
splits() {
    name=$1 file=$2 slack=$3 bars=$4 k=0
    shift 4
    : > "$report.means"
    for bar in $bars; do
        if run "$name split $k" "$file" --split "$k" "$@"; then
            [ "$bar" = - ] ||
                expect lml_standardised "$(number lml_standardised)" ">=" \
                    "$bar" "$slack"
            echo "$(number standardised rmse) \
$(number standardised mean_log_density) $(number test rmse) \
$(number test mean_log_density)" >> "$report.means"
        else
            echo - - - - >> "$report.means"
        fi
        k=$((k + 1))
    done
    label="$name, mean"
}

# Mean of column $1 of the splits' scores, if every split has one.
mean() {
    awk -v c="$1" '{ s += $c; n++; gaps += $c !~ /^-?[0-9]/ }
        END { print n == 0 || gaps ? "missing" : s / n }' "$report.means"
}

boston() {
    bars="-118.986 -114.417 -132.038 -128.929 -122.092 -126.755 -112.448 \
-110.171 -98.293 -115.357"
    splits boston boston 0.05 "$bars"
    expect "standardised RMSE" "$(mean 1)" "<=" 0.315
    expect "std. log density" "$(mean 2)" ">=" -0.27
    splits "boston MAP" boston 0 "- - - - - - - - - -" --objective map
    expect "standardised RMSE" "$(mean 1)" "<=" 0.30
    expect "std. log density" "$(mean 2)" ">=" -0.21
}

scores() {
    expect RMSE "$(mean 3)" "<=" "$1"
    [ -z "$2" ] || expect "mean log density" "$(mean 4)" ">=" "$2"
}

concrete() {
    splits concrete concrete 2 "-288.796 -285.157 -302.610 -272.923 -255.336"
    scores 5.30 -3.09
}

energy() {
    splits energy energy 2 "1005.138 1042.547 1014.370 1029.127 1021.677"
    scores 0.43 -0.60
}

yacht() {
    splits yacht yacht 2 "533.845 537.682 532.978 532.477 533.209"
    scores 0.345 -0.195
}

wine() {
    splits wine_red wine_red 0 "- - - - -"
    scores 0.62 ""
    echo "  notes of the last split:" \
        "$(sed -n '/"notes"/,/]/p' "$report" | tr -d '\n"[]' | tr , ' ' |
            sed 's/notes://')"
}

kin8nm() {
    splits kin8nm kin8nm 0 "-"
    expect RMSE "$(mean 3)" "<=" 0.083
    expect "mean log density" "$(mean 4)" ">=" 1.1
    echo "  peak bytes: $(number peak_bytes)"
}

for group in $groups; do
    "$group"
done
[ ! -e "$report.missed" ]
