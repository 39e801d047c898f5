# covar-gp from the outside: exit status, reports, files, errors.
# SPDX-License-Identifier: GPL-3.0-or-later
. "${top_srcdir:-.}/tests/tap.sh"

top=$(cd "$top_builddir" && pwd)
data=$(cd "$top_srcdir/datasets" && pwd)
gp=$top/covar-gp
cd "$scratch" || exit 99

# gives NAME STATUS COMMAND...: the exit status, with out and err kept.
gives() {
    name=$1 status=$2
    shift 2
    "$@" > out 2> err < /dev/null
    got=$?
    : > bad
    if [ "$got" != "$status" ]; then
        { echo "exit status $got, not $status"; head -n 5 err; } > bad
    fi
    check "$name" bad
}

# has NAME FILE TEXT
has() {
    : > bad
    grep -q -e "$3" "$2" || { echo "no '$3' in:"; head -n 20 "$2"; } > bad
    check "$1" bad
}

gives "no arguments" 2 "$gp"
gives "an unknown command" 2 "$gp" frob
gives "an unknown option" 2 "$gp" fit --frob x
has "... is named" err frob
gives "a value that is missing" 2 "$gp" fit x --kernel
gives "a kernel that is none" 2 "$gp" fit "$data/nile.h5" --kernel 'rbg'
has "... says where" err 'column 1'
gives "mixed precision" 2 "$gp" fit "$data/nile.h5" --dtype mixed
gives "a file that is none" 1 "$gp" fit nothing.h5
has "... is named" err nothing.h5
gives "a parameter that is none" 1 "$gp" fit "$data/nile.h5" --set frob=1
has "... lists the known ones" err noise_variance
gives "help" 0 "$gp" --help
has "... is help" out Usage
gives "version" 0 "$gp" --version
gives "info" 0 "$gp" info "$data/nile.h5"
has "... names a member" out X

gives "fit" 0 "$gp" fit "$data/nile.h5" --kernel rbf --restarts 0 \
    --save m.h5 --plot nile.svg
has "... reports the likelihood" out 'LML'
for file in m.h5 nile.gp nile.dat; do
    : > bad
    [ -s "$file" ] || echo "no $file" > bad
    check "... leaves $file" bad
done

gives "fit, as JSON" 0 "$gp" fit "$data/mcycle.h5" --kernel matern52 \
    --mean zero --standardise none --restarts 0 --test-fraction 0.2 \
    --report json
cp out report.json
for key in schema data split n n_missing d kernel mean standardise y_mean y_sd \
    lml lml_standardised objective parameters std_errors gradient fixed \
    at_bound irrelevant_inputs dropped_columns reason evaluations iterations \
    restarts jitter rcond noise_at_floor rounded_variances notes seconds \
    peak_bytes test crps smse msll coverage_95; do
    grep -q "\"$key\":" report.json || echo "no $key"
done > bad
check "... has every key" bad
if command -v python3 > /dev/null; then
    python3 -m json.tool report.json > pretty 2> bad
    check "... is JSON" bad
else
    skip "... is JSON" "no python3"
fi

gives "predict" 0 "$gp" predict m.h5 "$data/nile.h5" -o p.csv
has "... writes a header" p.csv 'mean,var_f,var_y'
echo "$(wc -l < p.csv)" | grep -qx ' *101' || wc -l p.csv > bad
check "... and a line for each row" bad
gives "predict to HDF5" 0 "$gp" predict m.h5 "$data/nile.h5" -o p.h5 \
    --samples 2
gives "info of that" 0 "$gp" info p.h5
has "... has the samples" out samples

head -c 2000 m.h5 > cut.h5
gives "a truncated model" 1 "$gp" predict cut.h5 "$data/nile.h5"
has "... is named" err cut.h5
printf 'a,b\n1,2\n2,x\n' > bad.csv
gives "a CSV cell that is no number" 1 "$gp" fit bad.csv
has "... is placed" err 'line 3'
printf 'a,b\n1,2\n2,3\nnan,4\n5,6\n' > nan.csv
gives "NaN in an input" 1 "$gp" fit nan.csv
has "... is placed" err 'row 2'
printf 'a,b\n1,5\n2,5\n3,5\n4,5\n' > flat.csv
gives "constant targets" 1 "$gp" fit flat.csv
gives "constant targets under MAP" 0 "$gp" fit flat.csv --objective map

# Ctrl-C ends a long fit with a result, once there is one: on a slow machine
# it is tried again later.
for seconds in 1 4 16 64; do
    : > bad
    "$gp" fit "$data/co2_monthly.h5" --restarts 60 --kernel \
        'rbf+rbf*periodic+rq+rbf+matern32*periodic' --report json \
        > out 2> err &
    child=$!
    sleep "$seconds"
    kill -INT "$child"
    wait "$child" || echo "exit status $?" > bad
    grep -q '"cancelled"' out || echo "not cancelled" >> bad
    [ -s bad ] || break
done
check "an interrupted fit still reports" bad
finish
