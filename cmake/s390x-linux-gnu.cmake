# s390x-linux-gnu.cmake - toolchain file: builds for s390x (big-endian) and runs programs by qemu.
#
# On Debian: gcc-s390x-linux-gnu, qemu-user, and libraries of architecture s390x.
# TAPER_QEMU_CPU chooses the CPU: a name from `qemu-s390x -cpu help`.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER s390x-linux-gnu-g++)

set(TAPER_QEMU_CPU max CACHE STRING "The CPU that qemu emulates")
set(CMAKE_CROSSCOMPILING_EMULATOR
    qemu-s390x -cpu ${TAPER_QEMU_CPU} -L /usr/s390x-linux-gnu)

# pkg-config describes the libraries of the target, not those of this machine.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/s390x-linux-gnu/pkgconfig:/usr/share/pkgconfig)
set(CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu /usr/lib/s390x-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
