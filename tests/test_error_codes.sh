#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every error code of meta.h is reached: some test checks that a call returns it. Prints how many checks expect each.
# TEST: labels=core,build smoke=yes
src=${META_TEST_SRCDIR:-.}
build=${META_TEST_BUILDDIR:-.}
awk=$(sed -n 's/^AWK = //p' "$build/Makefile")

# A check is a statement of a test that compares with a code; comments and preprocessor lines are none.
"${awk:-awk}" '
    FNR == 1 { statement = "" }
    NR == FNR {
        if (match($0, /^    META_ERR_[A-Z_]+/) && $1 !~ /COUNT/)
            code[++codes] = substr($0, RSTART + 4, RLENGTH - 4)
        next
    }
    /^ *(#|\/\*| \*)/ { next }
    {
        statement = statement " " $0
        if ($0 !~ /;|[{}] *$/) next
        if (statement ~ /CHECK_ERR|CHECK_INT|CHECK\(|REFUSED|refused\(|ARGUMENT_WRONG|WRONG_POINTER/)
            for (k = 1; k <= codes; ++k)
                if (statement ~ ("(^|[^A-Z_])" code[k] "([^A-Z_]|$)")) ++checks[code[k]]
        statement = ""
    }
    END {
        for (k = 1; k <= codes; ++k) {
            printf "%5d %s\n", checks[code[k]], code[k]
            if (checks[code[k]]) continue
            print "BROKEN: no test expects " code[k]
            failed = 1
        }
        if (codes < 19) {
            print "BROKEN: meta.h was not read"
            failed = 1
        }
        exit failed
    }' "$src/core/meta.h" "$src"/tests/*.c "$src"/tests/misuse/*.c || exit 1
echo "kept   every error code is reached"
