/* in_c.c - a program in C that uses the installed library. */
#include <stdio.h>
#include <string.h>

#include <taper/taper.h>

int main(void)
{
    const float src[4] = {1.0f, -2.5f, 0.1f, 1e9f};
    const unsigned char right[4] = {0x38, 0xc2, 0x1d, 0x7e};
    const double four = 4;
    unsigned char dst[4];
    unsigned short half;
    if (taper_narrow(TAPER_F8E4M3FN, dst, src, 4, NULL) != TAPER_OK ||
        memcmp(dst, right, sizeof right) != 0) {
        fprintf(stderr, "taper_narrow() is wrong\n");
        return 1;
    }
    /* Compilers disagree on how their helpers for this are called. */
    if (taper_cast(TAPER_F16, &half, TAPER_F64, &four, 1, NULL) != TAPER_OK ||
        half != 0x4400) {
        fprintf(stderr, "taper_cast() is wrong\n");
        return 1;
    }
    if (strcmp(taper_version(), PACKAGE_VERSION) != 0) {
        fprintf(stderr, "library %s in package %s\n", taper_version(), PACKAGE_VERSION);
        return 1;
    }
    printf("C: taper %s, %s, %d threads\n", taper_version(), taper_isa(),
           taper_max_threads());
    return 0;
}
