# aarch64-linux-gnu.cmake - toolchain file: builds for AArch64, runs programs by qemu.
#
# On Debian, after `dpkg --add-architecture arm64`: gcc-aarch64-linux-gnu, qemu-user, and
# of architecture arm64 libgomp1, libcmocka-dev, libxxhash-dev and libjansson-dev.
# TAPER_QEMU_CPU chooses the CPU: a name from `qemu-aarch64 -cpu help`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
find_program(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++) # without it, no C++ is built

set(TAPER_QEMU_CPU max CACHE STRING "The CPU that qemu emulates")
# No -L: programs load the libraries that they were linked with.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu ${TAPER_QEMU_CPU})

# pkg-config describes the libraries of the target, not those of this machine.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
