/* throughput.c - what this machine moves per second, taper beside memcpy and memset.
 *
 *     throughput [MIB]      size of the source, 256 if not given
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <taper/taper.h>

enum { ROUNDS = 9 };

struct buffers {
    void *dst;
    const void *src;
    size_t bytes; /* of each */
};

static taper_status run_memcpy(const struct buffers *b)
{
    memcpy(b->dst, b->src, b->bytes);
    return TAPER_OK;
}

static taper_status run_copy(const struct buffers *b)
{
    return taper_copy(TAPER_F32, b->dst, b->src, b->bytes / 4);
}

static taper_status run_memset(const struct buffers *b)
{
    memset(b->dst, 0x3f, b->bytes);
    return TAPER_OK;
}

static taper_status run_fill(const struct buffers *b)
{
    const float value = 1.0f;
    return taper_fill(TAPER_F32, b->dst, b->bytes / 4, &value);
}

static taper_status run_bf16(const struct buffers *b)
{
    return taper_narrow(TAPER_BF16, b->dst, b->src, b->bytes / 4, NULL);
}

static taper_status run_f8e4m3fn(const struct buffers *b)
{
    return taper_narrow(TAPER_F8E4M3FN, b->dst, b->src, b->bytes / 4, NULL);
}

static const struct {
    const char *name;
    taper_status (*run)(const struct buffers *b);
    double traffic; /* bytes read and written for each byte of a buffer */
} operations[] = {
    {"memcpy", run_memcpy, 2},
    {"taper_copy, float", run_copy, 2},
    {"memset", run_memset, 1},
    {"taper_fill, float", run_fill, 1},
    {"taper_narrow to bfloat16", run_bf16, 1.5},
    {"taper_narrow to float8e4m3fn", run_f8e4m3fn, 1.25},
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Normally distributed to the eye: a sum of four uniform numbers. */
static void make_source(float *src, size_t n)
{
    unsigned long long state = 1;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        const unsigned long long bits = state >> 32;
        const int sum = (int)(bits & 255) + (int)(bits >> 8 & 255) +
                        (int)(bits >> 16 & 255) + (int)(bits >> 24);
        src[i] = 0.0001f * (float)(sum - 510);
    }
}

/* Takes the operations in turn, round after round, so that whatever else goes on in the
 * machine meets them all alike. */
static int measure(const struct buffers *b)
{
    static double seconds[OPERATIONS][ROUNDS];
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t op = 0; op < OPERATIONS; op++) {
            const double start = now();
            const taper_status status = operations[op].run(b);
            seconds[op][round] = now() - start;
            if (status != TAPER_OK) {
                fprintf(stderr, "%s: %s\n", operations[op].name,
                        taper_status_text(status));
                return 1;
            }
        }
    printf("%-30s %10s %12s %10s\n", "", "ms", "GB/s moved", "of memcpy");
    double memcpy_rate = 0;
    for (size_t op = 0; op < OPERATIONS; op++) {
        qsort(seconds[op], ROUNDS, sizeof(double), compare);
        const double median = seconds[op][ROUNDS / 2];
        const double rate = operations[op].traffic * (double)b->bytes / median * 1e-9;
        if (op == 0)
            memcpy_rate = rate;
        printf("%-30s %10.1f %12.1f %9.2fx\n", operations[op].name, 1e3 * median, rate,
               rate / memcpy_rate);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const long mib = argc > 1 ? strtol(argv[1], NULL, 10) : 256;
    if (argc > 2 || mib < 1 || mib > 1 << 16) {
        fprintf(stderr, "usage: throughput [MIB]\n");
        return 2;
    }
    const size_t bytes = (size_t)mib << 20;
    float *const src = malloc(bytes);
    void *const dst = malloc(bytes);
    int failed = 1;
    if (src == NULL || dst == NULL) {
        fprintf(stderr, "throughput: no memory for twice %ld MiB\n", mib);
    } else {
        make_source(src, bytes / sizeof *src);
        memset(dst, 0, bytes); /* pages are there before the first round */
        printf("taper %s, %s, at most %d threads; %ld MiB of float, median of %d; "
               "bytes moved are read and written\n\n",
               taper_version(), taper_isa(), taper_max_threads(), mib, ROUNDS);
        failed = measure(&(struct buffers){dst, src, bytes});
    }
    free(dst);
    free(src);
    return failed;
}
