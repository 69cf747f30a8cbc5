#include <stdio.h>
#include <taper/taper.h>

int main(void)
{
    const float src[4] = {1.0f, 0.1f, -300.0f, 1e6f};
    unsigned char dst[4];
    const taper_status status = taper_narrow(TAPER_F8E4M3FN, dst, src, 4, NULL);
    if (status != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_status_text(status));
        return 1;
    }
    printf("%02x %02x %02x %02x by %s\n", dst[0], dst[1], dst[2], dst[3], taper_isa());
    return 0;
}
