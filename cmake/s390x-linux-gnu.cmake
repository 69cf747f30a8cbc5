# s390x-linux-gnu.cmake - toolchain file: builds for s390x (big-endian), runs programs by qemu.
#
# On Debian, after `dpkg --add-architecture s390x`: gcc-s390x-linux-gnu, qemu-user, and
# of architecture s390x libgomp1, libcmocka-dev, libxxhash-dev and libjansson-dev.
# TAPER_QEMU_CPU chooses the CPU: a name from `qemu-s390x -cpu help`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
find_program(CMAKE_CXX_COMPILER s390x-linux-gnu-g++) # without it, no C++ is built

set(TAPER_QEMU_CPU max CACHE STRING "The CPU that qemu emulates")
# No -L: programs load the libraries that they were linked with.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -cpu ${TAPER_QEMU_CPU})

# pkg-config describes the libraries of the target, not those of this machine.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/s390x-linux-gnu/pkgconfig:/usr/share/pkgconfig)
