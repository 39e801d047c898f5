# TAP for shell tests, to be sourced: . "$top_srcdir/tests/tap.sh"
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   check NAME FILE     passes if FILE is empty; else prints it as comments
#   skip NAME REASON
#   finish              last line of the script
: "${top_srcdir:=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)}"
: "${top_builddir:=.}"
: "${AWK:=awk}"
tap_n=0
tap_failed=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 99' HUP INT TERM

check() {
    tap_n=$((tap_n + 1))
    if [ -s "$2" ]; then
        tap_failed=1
        echo "not ok $tap_n - $1"
        sed 's/^/# /' "$2"
    else
        echo "ok $tap_n - $1"
    fi
}

skip() {
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_n"
    if [ -n "$COVAR_TAP" ]; then exit 0; fi
    exit "$tap_failed"
}
