# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by tests that try several compilers; they have a function broken().

# compiler_is_here COMMAND PROMISE: if it is not, the promise is skipped, or broken where META_TEST_CI=1 asks for all
# compilers.
compiler_is_here()
{
    ! command -v "${1##* }" >/dev/null || return 0 # behind ccache
    if [ "${META_TEST_CI-}" = 1 ]; then broken "META_TEST_CI=1 asks for $1, which is not here"; else echo "skipped $2"; fi
    return 1
}
