#!/bin/sh
# The two commands:
#   sh setup.sh demo     builds covar and shows what it can do
#   sh setup.sh check    builds covar and runs its tests
# Packages are installed only if some are missing; a second run does nothing
# again that is done.  SPDX-License-Identifier: GPL-3.0-or-later
set -e
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
build=$here/build

# Everything the build, the tests and the demo need, as Debian packages. Only
# the OpenMP build of OpenBLAS: beside another one it would not be chosen.
deps="gcc g++ make autoconf automake libtool pkg-config
    libgsl-dev libopenblas-openmp-dev liblapacke-dev libhdf5-dev libnlopt-dev
    libsleef-dev zlib1g-dev libcunit1-dev gnuplot-nox"

say() { echo "setup: $*"; }

missing_packages() {
    command -v dpkg-query > /dev/null || return 0
    for package in $deps; do
        state=$(dpkg-query -W -f '${Status}' "$package" 2> /dev/null) || state=
        [ "$state" = "install ok installed" ] || printf ' %s' "$package"
    done
}

install_packages() {
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    apt="apt-get -o DPkg::Lock::Timeout=600"
    options="-y --no-install-recommends"
    say "packages to install:$missing"
    if [ "$(id -u)" = 0 ]; then
        run=env
    elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
        run="sudo env"
    elif command -v sudo > /dev/null && [ -t 0 ]; then
        run="sudo env"
    else
        say "run this as root, then start again:"
        echo "apt-get update && apt-get install $options$missing"
        exit 1
    fi
    $run DEBIAN_FRONTEND=noninteractive $apt update -q
    $run DEBIAN_FRONTEND=noninteractive $apt install $options $missing
}

bootstrap() {
    [ -f "$here/configure" ] && [ -f "$here/Makefile.in" ] && return 0
    say "making configure"
    (cd "$here" && autoreconf -fi)
}

configure_build() {
    [ -f "$build/Makefile" ] && return 0
    mkdir -p "$build"
    (cd "$build" && "$here/configure" --disable-static --prefix="$build/usr")
}

build_all() {
    jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null) || jobs=1
    make -C "$build" -j"$jobs" --no-print-directory
}

run_check() {
    rm -f "$build"/tests/*.trs
    make -C "$build" -j"$jobs" --no-print-directory check && return 0
    make -C "$build" -s --no-print-directory totals
    return 1
}

# Fits a Gaussian process to 39 years of monthly CO2 at Mauna Loa (four terms:
# trend, year, irregularities, weather; Rasmussen and Williams 2006, sec. 5.4.3)
# and says where the picture is.
run_demo() {
    picture=$build/co2.svg
    "$build/covar-gp" fit "$here/datasets/co2_monthly.h5" \
        --kernel "4356*rbf(lengthscale=67) \
            + 5.76*rbf(lengthscale=90)*periodic(lengthscale=1.3,period:=1) \
            + 0.4356*rq(lengthscale=1.2,alpha=0.78) \
            + 0.0324*rbf(lengthscale=0.134)" \
        --noise 0.0361 --mean zero --standardise y --restarts 0 \
        --save "$build/co2_model.h5" --plot "$picture"
    say "the picture:"
    realpath --relative-to="$PWD" "$picture"
}

case $1 in
    demo | check) ;;
    *) echo "usage: sh setup.sh demo | check" >&2; exit 2 ;;
esac
install_packages
bootstrap
configure_build
build_all
"run_$1"
