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

# ---- numbers that cannot be meant ----
nile=$data/nile.h5
# refused NAME TEXT ARGUMENTS...: wrong usage, and a sentence with TEXT.
refused() {
    name=$1 text=$2
    shift 2
    gives "$name" 2 "$gp" "$@"
    has "... says so" err "$text"
}
for v in nan inf -inf 1e999 one ''; do
    refused "--noise '$v'" 'finite number' fit "$nile" --noise "$v"
done
refused "a negative noise" 'above 0' fit "$nile" --noise -1
refused "a start of 0 for the noise" 'above 0' fit "$nile" --noise 0
refused "a negative fixed noise" '0 or more' fit "$nile" --fix-noise -1
refused "a value that is no number" 'finite' fit "$nile" --set variance=nan
refused "a fixed value that is infinite" 'finite' fit "$nile" --fix variance=inf
refused "an infinite jitter" 'jitter' fit "$nile" --jitter inf
refused "a negative time" '0 (no limit) or more' fit "$nile" --max-seconds -1
refused "no iterations" '1 or more' fit "$nile" --max-iterations 0
refused "too many restarts" '0 to 60' fit "$nile" --restarts 61
for command in 'fit' 'predict m.h5' 'info'; do
    # shellcheck disable=SC2086
    refused "too many threads for $command" '0 (all processors) to 1024' \
        $command "$nile" --threads 99999999999
done
refused "a number too long for a seed" 'too large' fit "$nile" \
    --seed 99999999999999999999
for f in 0 1 -0.5 2; do
    refused "--test-fraction $f" 'between 0 and 1' fit "$nile" \
        --test-fraction "$f"
done
gives "a split of a file without splits" 1 "$gp" fit "$nile" --split 0
has "... says what to do" err 'no splits.*--test-fraction'

refused "a word that is none" 'zero' fit "$nile" --mean frob
refused "a split and a fraction" 'not both' fit "$nile" --split 0 \
    --test-fraction 0.5
refused "a start and a fixed value" 'not both' fit "$nile" --noise 1 \
    --fix-noise 1
refused "no data" 'one data file' fit
refused "two data files" 'one data file' fit "$nile" "$nile"
refused "a model without inputs" 'MODEL.h5 and INPUTS' predict m.h5
refused "a prior that is none" 'lognormal' fit "$nile" --prior variance=frob
refused "a jitter that is none" 'auto, none' fit "$nile" --jitter frob

# ---- what does not give a result ----
gives "a target that is none" 1 "$gp" fit "$nile" --target frob
has "... lists what there is" err 'year'
gives "a noise column that is none" 1 "$gp" fit "$nile" --noise-column frob
has "... is named" err 'frob'
gives "a kernel of a column that is none" 1 "$gp" fit "$nile" --kernel 'rbf[3]'
has "... is named" err 'column 3'
gives "a covariance that does not factor" 1 "$gp" fit "$nile" --no-fit \
    --kernel 'rbf(lengthscale=1e4)' --fix-noise 0 --jitter none
has "... names the kernel" err 'rbf'
gives "a damaged table" 1 "$gp" info cut.h5
gives "data for a model" 1 "$gp" predict "$nile" "$nile"

# ---- data that cannot be meant ----
printf 'a\n1\n2\n3\n' > one.csv
gives "one column" 1 "$gp" fit one.csv
has "... says what is needed" err 'one.csv.*target.*at least one'
gives "all columns spoken for" 1 "$gp" fit flat.csv --noise-column a
has "... says by what" err 'target `b`.*noise.*`a`'
gives "noise from the target" 1 "$gp" fit flat.csv --noise-column b
has "... says so" err '`b` cannot be both'
gives "NaN in an input, again" 1 "$gp" fit nan.csv
has "... names the file" err '^covar-gp: nan.csv'
has "... and the column" err 'column 0 (`a`)'
gives "NaN in an input of a split" 1 "$gp" fit nan.csv --test-fraction 0.5
has "... is placed by the file's row" err 'row 2'
printf 'a,b\n1,5.25\n2,5.25\n3,5.25\n4,5.25\n' > flat.csv
gives "equal targets" 1 "$gp" fit flat.csv
has "... are named with file and value" err 'flat.csv.*equal (5\.25)'
printf 'a,b\n1,1e-200\n2,2e-200\n3,1e-200\n4,3e-200\n' > tiny.csv
gives "targets whose squares vanish" 1 "$gp" fit tiny.csv
has "... are not called equal" err '1e-200 to 3e-200.*squares.*vanish'
printf 'a,b\n1,1e200\n2,2e200\n3,1e200\n4,3e200\n' > huge.csv
gives "targets whose squares overflow" 1 "$gp" fit huge.csv
has "... are named" err '1e+200 to 3e+200.*squares'

# ---- names of parameters ----
gives "a name with a slip" 1 "$gp" fit "$nile" --set lenghtscale=1
has "... is met by the nearest" err 'did you mean lengthscale\[0\]?'
has "... the mean is listed" err 'mean.constant'
printf 'a,k,b\n1,7,1\n2,7,3\n3,7,2\n4,7,5\n5,7,1\n' > constant.csv
gives "a name that is none, with a constant column" 1 "$gp" fit constant.csv \
    --set frob=1
has "... lists what is there" err 'lengthscale\[0\]'
grep -o 'lengthscale.1.' err > bad
check "... and not what was dropped" bad

# ---- where results go ----
mkdir -p folder.h5 folder.csv folder.svg
for option in --save --plot; do
    case $option in
    --save) end=h5 ends='\.h5' ;;
    *) end=svg ends='\.svg, \.png or \.pdf' ;;
    esac
    gives "$option into no folder" 1 "$gp" fit "$nile" $option "no/x.$end"
    has "... names the folder" err 'no.*folder'
    gives "$option onto a folder" 1 "$gp" fit "$nile" $option "folder.$end"
    has "... says so" err "folder.$end.*is a folder"
    refused "$option with an odd suffix" "$ends" fit "$nile" $option x.txt
    refused "$option without one" "$ends" fit "$nile" $option x
    refused "$option with nothing" "$option" fit "$nile" $option ''
done
grep -c LML out > bad 2> /dev/null
grep -qx 0 bad && : > bad
check "... before any fit" bad
cp "$nile" own.h5
refused "--save onto the data" 'same file' fit own.h5 --save ./own.h5
cp "$nile" own.dat
refused "the picture's data onto the data" 'own.dat' fit own.dat --plot own.svg
gives "predict into no folder" 1 "$gp" predict m.h5 "$nile" -o no/x.csv
has "... names the folder" err 'no.*folder'
gives "predict onto a folder" 1 "$gp" predict m.h5 "$nile" -o folder.csv
has "... says so" err 'is a folder'
refused "predict with an odd suffix" '\.h5 or \.csv' predict m.h5 "$nile" \
    -o x.txt
refused "predict onto the model" 'same file' predict m.h5 "$nile" -o m.h5
refused "predict onto the inputs" 'same file' predict m.h5 own.h5 -o own.h5
if [ "$(id -u)" != 0 ]; then
    mkdir closed && chmod 555 closed
    gives "--save into a closed folder" 1 "$gp" fit "$nile" --save closed/m.h5
    has "... says so" err 'closed.*written'
fi
# A file that cannot grow: the fit is made, the model cannot be kept.
(
    trap '' XFSZ
    ulimit -f 16
    "$gp" fit "$nile" --kernel rbf --restarts 0 --save full.h5 > out 2> err
    echo $? > status
)
grep -qx 1 status || cat status > bad
check "a model that cannot be written fails" bad
has "... says so" err 'full.h5'
has "... and the report is there" out 'LML'
(
    trap '' XFSZ
    ulimit -f 16
    "$gp" predict m.h5 "$nile" --samples 50 -o full.h5 2> err
    echo $? > status
    "$gp" predict m.h5 "$nile" --samples 50 -o full.csv 2> err2
    echo $? >> status
)
sort -u status | tr -d '\n' | grep -qx 1 || cat status > bad
check "predictions that cannot be written fail" bad
has "... says so" err 'full.h5'
has "... says so" err2 'full.csv'
ls | grep full > bad
check "... and nothing half is left" bad
if [ -w /dev/full ]; then
    "$gp" fit "$nile" --kernel rbf --restarts 0 > /dev/full 2> err
    echo $? | grep -qx 1 > bad && : > bad
    check "a report that cannot be written fails" bad
    has "... says so" err 'standard output'
fi

# ---- predict: which column is which ----
# y = a - 10 b: swapped columns would show.
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 30; i++) {
    a = i % 6; b = int(i / 6) / 2; print a "," b "," a - 10 * b } }' > ab.csv
awk -F, '{ print $3 "," $2 "," $1 }' ab.csv > yba.csv
awk -F, '{ print $1 "," $2 }' ab.csv > only.csv
awk -F, '{ print $1 "," $2 "," $3 "," $1 }' ab.csv |
    sed '1s/.*/a,b,y,other/' > more.csv
sed '1s/b/c/' only.csv > wrong.csv
sed 1d only.csv > bare.csv
sed 1d ab.csv > bare3.csv
sed 1d more.csv > bare4.csv
cut -d, -f1 only.csv > short.csv
gives "a fit with names" 0 "$gp" fit ab.csv --restarts 0 --save ab.h5
gives "predict from the training file" 0 "$gp" predict ab.h5 ab.csv -o p1.csv
gives "predict with columns in another order" 0 "$gp" predict ab.h5 yba.csv \
    -o p2.csv
cmp p1.csv p2.csv > bad 2>&1
check "... gives the same bits" bad
has "... names what it left" err 'y'
gives "predict without the target" 0 "$gp" predict ab.h5 only.csv -o p3.csv
cmp p1.csv p3.csv > bad 2>&1
check "... gives the same bits" bad
gives "predict with one more column" 0 "$gp" predict ab.h5 more.csv -o p4.csv
has "... names it" err 'other'
cmp p1.csv p4.csv > bad 2>&1
check "... gives the same bits" bad
gives "predict with one more column, --quiet" 0 "$gp" predict ab.h5 more.csv \
    -o p4.csv --quiet
cp err bad
check "... says nothing" bad
gives "predict with a column missing" 1 "$gp" predict ab.h5 wrong.csv
has "... names it" err 'wrong.csv.*no column `b`'
has "... and what there is" err 'c'
gives "predict with few columns" 1 "$gp" predict ab.h5 short.csv
has "... names the missing" err 'no column `b`'
gives "predict without names" 0 "$gp" predict ab.h5 bare.csv -o p5.csv
cmp p1.csv p5.csv > bad 2>&1
check "... takes them in order" bad
has "... and says so" err 'bare.csv.*no column names.*`a`, `b`'
gives "predict without names, with the target" 0 "$gp" predict ab.h5 \
    bare3.csv -o p5.csv
cmp p1.csv p5.csv > bad 2>&1
check "... leaves the last" bad
has "... and says so" err 'not used: `c3`'
gives "predict without names, with too many" 1 "$gp" predict ab.h5 bare4.csv
has "... says how many" err 'bare4.csv.*4 columns.*2'
gives "a fit without names" 0 "$gp" fit bare3.csv --restarts 0 --save bare.h5
gives "predict from it by position" 0 "$gp" predict bare.h5 bare.csv -o p6.csv
gives "predict from it with the target" 0 "$gp" predict bare.h5 bare3.csv \
    -o p7.csv
cmp p6.csv p7.csv > bad 2>&1
check "... gives the same bits" bad
gives "predict from it with too many" 1 "$gp" predict bare.h5 bare4.csv
gives "predict from it with names" 0 "$gp" predict bare.h5 only.csv -o p8.csv
cmp p6.csv p8.csv > bad 2>&1
check "... gives the same bits" bad
# ---- columns of text ----
awk -F, 'NR == 1 { print "town,a,b,y" } NR > 1 { print "Ulm," $0 }' ab.csv \
    > town.csv
gives "a fit of a file with text" 1 "$gp" fit town.csv
has "... says where, and what to do" err \
    'line 2, column 1.*town.*Ulm.*--skip-text'
gives "a fit without its text" 0 "$gp" fit town.csv --skip-text --restarts 0 \
    --save town.h5
has "... names the column" err 'not used, for their text: town'
has "... and names the others beside their lengthscales" out \
    'lengthscale\[1\].* b'
gives "predict from a file with text" 0 "$gp" predict town.h5 town.csv -o pt.csv
cmp p1.csv pt.csv > bad 2>&1
check "... gives the same bits" bad
has "... names the column" err 'not used, for their text: town'
sed '3s/,[0-9.]*,/,many,/' town.csv > many.csv
gives "predict with text where a number should be" 1 "$gp" predict town.h5 \
    many.csv
has "... says which column is missing, and why" err \
    'no column `a`.*left out for their text: town,a'
gives "info of a model" 0 "$gp" info town.h5
has "... says what it takes" out 'n = 30, d = 2: a, b'
has "... its kernel" out '^kernel .*matern52(ard'
has "... and parameters" out '^lengthscale\[1\] .* b'
gives "info of a file with text" 0 "$gp" info town.csv
gives "a kernel that is nearly one" 2 "$gp" fit ab.csv --kernel matern5/2
has "... is met by the nearest" err 'did you mean matern52?'
gives "a table in place of a model" 1 "$gp" predict ab.csv ab.csv
has "... is said to be none" err 'ab.csv: is no saved model'

# Names that look like numbers of columns are names when a header has them.
sed '1s/.*/x1,x2,y/' ab.csv > x12.csv
awk -F, '{ print $2 "," $1 }' x12.csv > x21.csv
sed '1s/x1/z/' x21.csv > x2z.csv
awk -F, '{ print $2 "," $1 "," $3 }' x12.csv > x21y.csv
cut -d, -f1,2 x12.csv > x12only.csv
gives "a fit with names like x1" 0 "$gp" fit x12.csv --restarts 0 --save x.h5
gives "predict with those swapped" 0 "$gp" predict x.h5 x21.csv -o p9.csv
cmp p1.csv p9.csv > bad 2>&1
check "... takes them by name" bad
gives "predict with one of them missing" 1 "$gp" predict x.h5 x2z.csv
has "... names it" err 'no column `x1`'
gives "a fit with those swapped" 0 "$gp" fit x21y.csv --restarts 0 --save x.h5
"$gp" predict x.h5 x21y.csv -o p10.csv > out 2> err
gives "predict with those in order" 0 "$gp" predict x.h5 x12only.csv -o p11.csv
cmp p10.csv p11.csv > bad 2>&1
check "... takes them by name" bad
gives "predict from the middle of no names" 0 "$gp" fit bare3.csv \
    --target c2 --restarts 0 --save middle.h5
"$gp" predict middle.h5 bare3.csv -o p12.csv > out 2> err
has "... leaves the middle one, and says so" err 'not used: `c2`'
cut -d, -f1,3 bare3.csv > bare13.csv
"$gp" predict middle.h5 bare13.csv -o p13.csv > out 2> err
cmp p12.csv p13.csv > bad 2>&1
check "... or takes what is there in order" bad
printf 'a,b\n1,2\n3,\n' > gap.csv
gives "predict at NaN" 1 "$gp" predict ab.h5 gap.csv
has "... is placed" err 'gap.csv.*row 1.*`b`'
printf 'a,b\n1,1e300\n' > far.csv
gives "predict too far away" 1 "$gp" predict ab.h5 far.csv
has "... names the file" err '^covar-gp: far.csv'
gives "more samples than memory" 1 "$gp" predict ab.h5 only.csv \
    --samples 2305843009213693952

# ---- BLAS below the processor ----
if grep -qw avx2 /proc/cpuinfo 2> /dev/null; then
    OPENBLAS_CORETYPE=Prescott "$gp" fit "$nile" --no-fit --kernel rbf \
        > out 2> err
    grep -c 'uses its Prescott kernels' err | grep -vx 1 > bad
    if grep -q 'Core: Prescott' err || [ ! -s bad ]; then
        check "slow BLAS kernels are named, once" bad
        has "... with what to do" err 'OPENBLAS_CORETYPE=\(Haswell\|SkylakeX\)'
    else
        skip "slow BLAS kernels are named, once" "another BLAS"
    fi
    OPENBLAS_CORETYPE=Prescott "$gp" fit "$nile" --no-fit --kernel rbf \
        --quiet > out 2> bad
    check "... not with --quiet" bad
    OPENBLAS_CORETYPE=Haswell "$gp" fit "$nile" --no-fit --kernel rbf \
        > out 2> bad
    check "... not when they fit" bad
fi
"$gp" --help > out
has "help says what mixed is" out 'mixed'

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
