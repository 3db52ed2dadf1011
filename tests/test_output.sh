#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What a program prints and cannot be written is an error: on a full disk, where the reader has gone, and where there
# is no standard output. Of each program and script, each option that --help lists.
# TEST: labels=programs
. "$META_TEST_SRCDIR/tests/programs.sh"
top=$META_TEST_SRCDIR
module=$build/tests/plugins/.libs/user_module.so
python=$(command -v python3) || python=
: >out

# Runs of a program, one a line, in which it prints in all of its ways.
modes()
{
    grid='--scaling 1 --nx 8 --ny 8 --nz 8 --num_vars 1 --num_tsteps 4 --report_diffusion 1'
    case $1 in
        meta-minighost*) cat <<END
$grid --percent_sum 100 --progress 2
$grid --report_perf 2
END
            ;;
        meta-dot3d*) echo '--nx 8 --ny 8 --nz 8 --iters 2' ;;
        meta-bench) cat <<END
dispatch --rounds 1 --backend openmp
dispatch --rounds 1 --backend openmp --json
END
            ;;
        meta-info) cat <<END

--json
--env
--documents
--ranks 2 --ranks-per-node 1
--draw
--kernels $module
--kernels --json $module
--learned learned.txt
END
            [ "${META_TEST_MPI:-none}" = none ] || printf '%s\n' --launcher --compiler
            ! "$build/meta-info" --fortran-compiler >/dev/null 2>&1 || echo --fortran-compiler
            ;;
        meta-kernel) cat <<END
check sound.kernel.h --for c --verbose
build sound.kernel.h --for cpu:baseline --plain -o objects
embed sound.kernel.h
text sound.kernel.h
fortran sound.kernel.h --module sound
END
            ;;
        count-changed-lines) printf '\n--list\n' ;;
        plot-* | meta-plot-*) [ -z "$python" ] && return ;;
        abi | gpu-check | make-wheel | release) ;;
        *) broken 'this test has no modes of it'; return ;;
    esac
    printf '%s\n' --help
    case $1 in meta-*) echo --version ;; esac
}

# Options that need not be run: they change nothing in how the program prints, or what it prints is printed at its end
# by the function that prints the help.
quiet()
{
    case $1 in
        meta-minighost*) echo ndim npx npy npz npdim num_spikes stencil comm_method bc error_tol checkpoint_method \
            checkpoint_interval checkpoint_file checkpoint_keep restart_file restart_cp_num every vti png png-variable \
            png-plane debug_grid grid-in grid-out expect json type kernel balance overlap ;;
        meta-dot3d*) echo type blas json ;;
        meta-bench) echo size fields type ;;
        meta-kernel) echo library ;;
        abi) echo baseline ;;
        make-wheel) echo local output ;; # the name of what it made
        release) echo armor detach-sign dry-run key local-user out ;; # gpg has its own
        gpu-check) echo backend report parts bench build ;;
        plot-devices) echo plain devices cases axpy cyclic cg minighost repeat threads out examples programs no-plot \
            replot ;;
        count-changed-lines) echo balance overlap ;; # of programs that it speaks of
        meta-plot-profile) echo out events ;;
        plot-scaling) echo ranks backends apps size steps repeat threads weak strong out programs mpiexec replot blas \
            report_perf ;;
    esac
}

# told RC: the program said why, in one line.
told()
{
    [ "$1" = 2 ] || broken "exit status $1, expected 2"
    [ "$(grep -c "$name: standard output cannot be written" err)" = 1 ] || broken 'does not say so, once'
    ! grep -q Traceback err || broken 'a trace of Python'
}

# lost PROGRAM ARGUMENT…: to a full disk, a reader that has gone, and nowhere.
lost()
{
    what="$* >/dev/full"
    "$@" >/dev/full 2>err </dev/null
    told $?
    what="$* | (exit)"
    exec 8<>pipe 9>pipe 8<&-
    "$@" >&9 2>err </dev/null 9>&-
    told $?
    exec 9>&-
    what="$* >&-"
    case $* in *--version | *--help | *--launcher) ;; *) return ;; esac
    "$@" >&- 2>err </dev/null
    told $?
}

mkfifo pipe
cp "$top/tests/user_sound.kernel.h" sound.kernel.h
META_BACKEND_PATH=$build/tests/plugins/.libs META_TEST_SIM='near memory=1G' META_MODE=auto \
    META_AUTO_DEVICES=openmp,sim META_LEARN=on:learned.txt "$build/meta-bench" schedule --rounds 1 --backend openmp >out 2>&1
what='meta-bench schedule'
[ -s learned.txt ] || broken 'writes no file of learned times'
: >out

count=0
for program in "$build"/meta-* "$top"/tools/*; do
    name=${program##*/}
    [ -f "$program" ] && [ -x "$program" ] || continue
    case $name in *.* | meta-mpi-probe) continue ;; esac
    what=$name
    modes "$name" >modes
    while read -r arguments; do
        # shellcheck disable=SC2086
        lost "$program" $arguments
        count=$((count + 1))
    done <modes
    [ -s modes ] || continue
    "$program" --help >help 2>err </dev/null || broken '--help fails'
    what=$name
    for option in $(grep -oE '(^|[^-a-z_])--[a-z][a-z_-]*' help | sed 's/^.*--/--/' | sort -u); do
        case " $(cat modes | tr '\n' ' ') " in *" $option "*) continue ;; esac
        case " $(quiet "$name") " in *" ${option#--} "*) continue ;; esac
        broken "$option is not run here: add it to modes() or quiet()"
    done
done
what='the list of modes'
[ $count -gt 20 ] || broken "has only $count"

[ $failed = 0 ] && echo "lost output is an error in $count modes of all programs"
exit $failed
