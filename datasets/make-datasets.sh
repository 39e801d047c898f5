#!/bin/sh
# Makes the bundled data sets anew from Debian 12 packages.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   make apps/make-dataset && sh datasets/make-datasets.sh [OUTPUT FOLDER]
#
# Needs apt-get, dpkg-deb, awk and Rscript (r-base-core, which also holds most
# of the series; nothing of it runs in covar). The packages are unpacked in a
# temporary folder, not installed. Not part of the build: its results are
# committed, and tests/test_datasets_bundled.c knows their sums.
set -eu
output=${1:-$(dirname "$0")}
tool=${MAKE_DATASET:-apps/make-dataset}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$work" && apt-get -q download r-base-core r-cran-mass \
    python3-statsmodels)
for package in "$work"/*.deb; do
    dpkg-deb -x "$package" "$work/root"
done
statsmodels=$work/root/usr/lib/python3/dist-packages/statsmodels/datasets
R_LIBRARY=$work/root/usr/lib/R/library
export R_LIBRARY work

# 17 digits: the numbers come back to the bit. Times are R's own time().
Rscript --vanilla - <<'R'
sets <- new.env()
for (p in c("datasets", "MASS"))
    lazyLoad(file.path(Sys.getenv("R_LIBRARY"), p, "data", "Rdata"), sets)
table <- function(name, x, y, columns) {
    rows <- sprintf("%.17g,%.17g", as.numeric(x), as.numeric(y))
    file <- file.path(Sys.getenv("work"), paste0(name, ".csv"))
    writeLines(c(columns, rows), file)
}
series <- function(name, object, target) {
    y <- get(object, sets)
    table(name, time(y), y, paste0("year,", target))
}
series("airpassengers", "AirPassengers", "passengers")
series("co2_monthly", "co2", "ppm")
series("lakehuron", "LakeHuron", "level")
series("lynx", "lynx", "trappings")
series("sunspots_year", "sunspot.year", "sunspots")
table("faithful", sets$faithful$eruptions, sets$faithful$waiting,
      "eruptions,waiting")
table("mcycle", sets$mcycle$times, sets$mcycle$accel, "time_ms,accel_g")
R

# The date YYYYMMDD of a sample as a decimal year: day of the year from 0 over
# the days of that year. Every week has a line, 59 of them no value.
awk -F, '
function leap(y) { return y % 4 == 0 && (y % 100 != 0 || y % 400 == 0) }
function days(y) { return leap(y) ? 366 : 365 }
function day(date,   y, m, d, k, n) {
    y = int(date / 10000); m = int(date / 100) % 100; d = date % 100
    split("31 28 31 30 31 30 31 31 30 31 30 31", n, " ")
    for (k = 1; k < m; k++) d += n[k] + (k == 2 && leap(y))
    return d - 1
}
NR == 1 { print "decimal_year,ppm"; next }
{
    y = int($1 / 10000)
    printf "%.17g,%s\n", y + day($1) / days(y), $2
}' "$statsmodels/co2/co2.csv" > "$work/co2_weekly.csv"
sed '1s/.*/year,flow/' "$statsmodels/nile/nile.csv" > "$work/nile.csv"
# Without the number of the observation; the target last.
awk -F, 'NR == 1 {
    print "GNP_deflator,GNP,unemployed,armed_forces,population,year,employed"
    next
}
{ print $3 "," $4 "," $5 "," $6 "," $7 "," $8 "," $2 }' \
    "$statsmodels/longley/longley.csv" > "$work/longley.csv"

# make_set NAME TARGET TASK SOURCE LICENCE TITLE
make_set() {
    "$tool" "$work/$1.csv" "$output/$1.h5" "$2" "name=$1" "title=$6" \
        "task=$3" "source=$4" "licence=$5"
}
r="Debian r-base-core 4.2.2, R package datasets, object"
s="Debian python3-statsmodels 0.13.5, datasets"
facts="published table of numbers (facts)"
free="public domain (stated by the package)"
make_set airpassengers passengers timeseries "$r AirPassengers" "$facts" \
    "International airline passengers 1949-1960, monthly, thousands (Box and \
Jenkins 1976)"
make_set co2_monthly ppm timeseries "$r co2" "$facts" \
    "CO2 at Mauna Loa 1959-1997, monthly, ppm (Keeling and Whorf)"
make_set co2_weekly ppm timeseries "$s co2" "$free" \
    "CO2 at Mauna Loa 1958-2001, weekly, ppm, with gaps (Keeling and Whorf \
2004)"
make_set faithful waiting regression "$r faithful" "$facts" \
    "Old Faithful geyser: length of an eruption and waiting time for the next, \
minutes (Haerdle 1991)"
make_set lakehuron level timeseries "$r LakeHuron" "$facts" \
    "Level of Lake Huron 1875-1972, yearly, feet (Brockwell and Davis 1991)"
make_set longley employed regression "$s longley" "$free" \
    "US macroeconomics 1947-1962, nearly collinear (Longley 1967; NIST StRD)"
make_set lynx trappings timeseries "$r lynx" "$facts" \
    "Canadian lynx trapped 1821-1934, yearly (Campbell and Walker 1977)"
make_set mcycle accel_g regression \
    "Debian r-cran-mass 7.3-58.2, object mcycle" "$facts" \
    "Head acceleration in a simulated motorcycle accident, g by ms (Silverman \
1985)"
make_set nile flow timeseries "$s nile" "$free" \
    "Flow of the Nile at Aswan 1871-1970, yearly, 1e8 cubic metres (Cobb 1978)"
make_set sunspots_year sunspots timeseries "$r sunspot.year" "$facts" \
    "Sunspot numbers 1700-1988, yearly (Tong 1996)"
