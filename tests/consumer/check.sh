#!/bin/bash
# check.sh - one test of taper as a package; called by ctest.
#
#     check.sh WHAT KIND SOURCE WORK CMAKE SETTING...
#
# WHAT   install        build KIND, static or shared, install it, and move it elsewhere
#        consume        build and run programs against the moved tree
#        exports        compare the symbols of the moved library with what they may be
#        subdirectory   use SOURCE inside another project
# WORK   a folder for all this; the rest is how to call CMake for taper
set -euo pipefail

what=$1 kind=$2 source=$3 work=$4/$2 cmake=$5
settings=("${@:6}")

fail()
{
    printf '%s\n' "$*" >&2
    exit 1
}

same() # WHAT WANTED FOUND
{
    [ "$2" = "$3" ] || fail "$1: '$3' instead of '$2'"
}

# The static package has the plain layout and the shared one that of a distribution with
# several architectures, for the sake of the relative paths in it.
case $kind in
static) shared=OFF libdir=lib ;;
shared) shared=ON libdir=lib/any-linux-gnu ;;
esac
tree=$work/moved
lib=$tree/$libdir

# CMake looks into lib by itself, and into the folder of another architecture never.
case $kind in
static) found_by=-DCMAKE_PREFIX_PATH=$tree ;;
shared) found_by=-Dtaper_DIR=$lib/cmake/taper ;;
esac

# The compiler of taper, and the C++ compiler that belongs to it: with a static library
# both must agree on the OpenMP runtime.
for setting in "${settings[@]}"; do
    case $setting in -DCMAKE_C_COMPILER=*) cc=${setting#*=} ;; esac
done
cxx=$(sed -E 's,clang([^/]*)$,clang++\1,; s,gcc([^/]*)$,g++\1,; s,cc$,c++,' <<<"$cc")

install()
{
    rm -rf "$work"
    "$cmake" -S "$source" -B "$work/build" "${settings[@]}" \
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/prefix" \
        -DCMAKE_INSTALL_LIBDIR=$libdir -DBUILD_SHARED_LIBS=$shared \
        -DTAPER_TESTS=OFF -DTAPER_CLI=OFF -DTAPER_BENCH=OFF
    "$cmake" --build "$work/build" --parallel 2
    "$cmake" --install "$work/build"
    if grep -rl "$work" "$work/prefix"; then
        fail "the installed files above name the folder they were installed to"
    fi
    mv "$work/prefix" "$tree"
}

by_cmake() # LANGUAGES BINARY...
{
    local build=$work/by-cmake-${1/;/-}
    "$cmake" --fresh -S "$source/tests/consumer/project" -B "$build" -DLANGUAGES="$1" \
        "$found_by" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx"
    "$cmake" --build "$build"
    for program in "${@:2}"; do
        "$build/$program"
    done
}

by_pkg_config()
{
    export PKG_CONFIG_PATH=$lib/pkgconfig
    local static=() flags
    [ $kind = shared ] || static=(--static)
    read -ra flags < <(pkg-config --cflags --libs "${static[@]}" taper)
    flags+=("-DPACKAGE_VERSION=\"$(pkg-config --modversion taper)\"")
    printf 'pkg-config: %s\n' "${flags[*]}"

    local here=$source/tests/consumer/project
    "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/in_c.c" "${flags[@]}" \
        -o "$work/in_c"
    "$cxx" -std=c++11 -Wall -Wextra -Wpedantic -Werror "$here/in_cxx.cc" "${flags[@]}" \
        -o "$work/in_cxx"
    LD_LIBRARY_PATH=$lib "$work/in_c"
    LD_LIBRARY_PATH=$lib "$work/in_cxx"
}

consume()
{
    by_cmake "C;CXX" in_c in_cxx
    by_cmake C in_c
    by_cmake CXX in_cxx
    by_pkg_config
}

exports()
{
    local version
    version=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion taper)
    if [ $kind = static ]; then
        nm -g --defined-only "$lib/libtaper.a" | awk 'NF == 3 {print $3}' >"$work/symbols"
        [ -s "$work/symbols" ] || fail "no symbols in libtaper.a"
        if grep -v '^taper_' "$work/symbols"; then
            fail "the symbols above do not begin with taper_"
        fi
        return
    fi
    nm -D --defined-only "$lib/libtaper.so" | awk '{print $3}' | LC_ALL=C sort |
        diff -u "$source/tests/exports.txt" - ||
        fail "libtaper.so exports something else than tests/exports.txt says"
    # Until 1.0 a minor version may change the ABI, so it is part of the name.
    same SONAME "libtaper.so.${version%.*}" \
        "$(readelf -d "$lib/libtaper.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')"
    [ -f "$lib/libtaper.so.$version" ] || fail "there is no libtaper.so.$version"
}

subdirectory()
{
    local build=$work/subdirectory
    rm -rf "$build"
    "$cmake" -S "$source/tests/consumer/project" -B "$build" -DTAPER_SOURCE="$source" \
        -DCMAKE_CXX_COMPILER="$cxx" "${settings[@]}"
    "$cmake" --build "$build" --parallel 2
    "$build/in_c"
    "$build/in_cxx"

    # Nothing but the library is built or installed.
    "$cmake" --install "$build" --prefix "$build/prefix"
    same "installed files" "" "$(find "$build/prefix" -type f 2>/dev/null || true)"
    same "programs" "in_c in_cxx" "$(find "$build" -path '*/CMakeFiles' -prune -o \
        -type f -perm -u+x -printf '%f\n' | sort | paste -sd ' ')"
    same "tests" "" "$(find "$build" -name CTestTestfile.cmake)"
}

"$what"
