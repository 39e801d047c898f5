# Counts the results of all tests: totals.sh tests/a.log tests/b.log ...
# A test that left no result counts as failed.
# SPDX-License-Identifier: GPL-3.0-or-later
for log; do
    trs=${log%.log}.trs
    if [ -f "$trs" ]; then cat "$trs"; else echo ":test-result: ERROR"; fi
done | ${AWK:-awk} '
    /^:test-result:/ { n[$2]++ }
    END {
        skipped = n["SKIP"] + 0
        passed = n["PASS"] + n["XFAIL"]
        failed = n["FAIL"] + n["XPASS"] + n["ERROR"]
        printf "%d passed, %d failed", passed, failed
        if (skipped > 0)
            printf ", %d skipped", skipped
        print ""
    }'
