// in_cxx.cc - a program in C++ that uses the installed library.
#include <taper/taper.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

int main()
{
    // Large enough for threads: a static library must bring its OpenMP runtime along.
    const std::size_t n = std::size_t{1} << 22;
    std::vector<float> src(n);
    std::vector<std::uint16_t> dst(n);
    const float value = -1.5f;
    if (taper_fill(TAPER_F32, src.data(), n, &value) != TAPER_OK ||
        taper_narrow(TAPER_BF16, dst.data(), src.data(), n, nullptr) != TAPER_OK ||
        dst != std::vector<std::uint16_t>(n, 0xbfc0)) {
        std::cerr << "taper_fill() or taper_narrow() is wrong\n";
        return 1;
    }
    if (taper_version() != std::string(PACKAGE_VERSION)) {
        std::cerr << taper_version() << " in package " << PACKAGE_VERSION << "\n";
        return 1;
    }
    std::cout << "C++: taper " << taper_version() << ", " << taper_isa() << ", "
              << taper_max_threads() << " threads\n";
}
