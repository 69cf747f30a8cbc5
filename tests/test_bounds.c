/* test_bounds.c - every size from 0 to 1024 at every byte offset from 0 to 63, counted
 * from an inaccessible page before and from one after, for source and destination: each
 * instruction set gives what scalar gives, and touches no byte outside the arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "taper/taper.h"

enum { MOST = 1024, OFFSETS = 64, CANARY = 0xa5, ROOM = 3 * 4096 };

struct operation {
    enum { NARROW, WIDEN, FILL, COPY } kind;
    taper_dtype type;
};

static unsigned char *guarded(void) /* ROOM bytes between two inaccessible pages */
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = (ROOM + page - 1) / page * page;
    unsigned char *const p =
        mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + page, room, PROT_READ | PROT_WRITE) != 0) {
        perror("mmap");
        exit(1);
    }
    return p + page + room - ROOM; /* pages are 4 KiB, or the start has no guard */
}

static size_t bytes_of(taper_dtype type, size_t n)
{
    return (n * taper_dtype_bits(type) + 7) / 8;
}

static taper_dtype to_of(struct operation op)
{
    return op.kind == WIDEN ? TAPER_F32 : op.type;
}

static taper_dtype from_of(struct operation op)
{
    return op.kind == NARROW ? TAPER_F32 : op.type;
}

static taper_status call(struct operation op, void *dst, const void *src, size_t n)
{
    switch (op.kind) {
    case NARROW:
        return taper_narrow(op.type, dst, src, n, NULL);
    case WIDEN:
        return taper_widen(op.type, dst, src, n);
    case FILL:
        return taper_fill(op.type, dst, n, src);
    default:
        return taper_copy(op.type, dst, src, n);
    }
}

/* Whether dst[0..bytes) is `want` and the canaries around it in `room` are whole. */
static int intact(const unsigned char *room, const unsigned char *dst,
                  const unsigned char *want, size_t bytes)
{
    static unsigned char canaries[ROOM];
    if (canaries[0] != CANARY)
        memset(canaries, CANARY, sizeof canaries);
    const size_t before = (size_t)(dst - room), near = before < 128 ? before : 128;
    const size_t behind = ROOM - before - bytes, far = behind < 128 ? behind : 128;
    return memcmp(dst, want, bytes) == 0 && memcmp(dst - near, canaries, near) == 0 &&
           memcmp(dst + bytes, canaries, far) == 0;
}

static long check(struct operation op, const unsigned char *input, size_t n,
                  unsigned char *src_room, unsigned char *dst_room)
{
    const size_t in = op.kind == FILL ? bytes_of(op.type, 1) : bytes_of(from_of(op), n);
    const size_t out = bytes_of(to_of(op), n);
    static unsigned char want[MOST * 16];
    long calls = 0;

    if (taper_use_isa("scalar") != TAPER_OK || call(op, want, input, n) != TAPER_OK)
        exit(2);
    for (size_t isa = 0; taper_isa_name(isa) != NULL; isa++) {
        if (taper_use_isa(taper_isa_name(isa)) != TAPER_OK)
            exit(2);
        for (size_t offset = 0; offset < 2 * OFFSETS; offset++) {
            /* From one end for the source, from the other for the destination. */
            const size_t o = offset / 2;
            unsigned char *const src =
                offset % 2 ? src_room + o : src_room + ROOM - o - in;
            unsigned char *const dst =
                offset % 2 ? dst_room + ROOM - o - out : dst_room + o;
            memcpy(src, input, in);
            memset(dst_room + (dst - dst_room > 128 ? dst - dst_room - 128 : 0), CANARY,
                   out + (dst - dst_room > 128 ? 128 : (size_t)(dst - dst_room)));
            const size_t behind = ROOM - (size_t)(dst - dst_room) - out;
            memset(dst + out, CANARY, behind < 128 ? behind : 128);
            if (call(op, dst, src, n) != TAPER_OK ||
                !intact(dst_room, dst, want, out)) {
                printf("%s: kind %d of %s, n %zu, offset %zu from %s\n", taper_isa(),
                       (int)op.kind, taper_dtype_name(op.type), n, o,
                       offset % 2 ? "the front (src), the end (dst)"
                                  : "the end (src), the front (dst)");
                exit(1);
            }
            calls++;
        }
    }
    return calls;
}

int main(void)
{
    static const taper_dtype casts[] = {
        TAPER_F16,    TAPER_BF16,       TAPER_F8E4M3FN, TAPER_F8E4M3FNUZ,
        TAPER_F8E5M2, TAPER_F8E5M2FNUZ, TAPER_F4E2M1,   TAPER_F8E8M0,
    };
    static const taper_dtype moved[] = {TAPER_U2, TAPER_U4, TAPER_U8, TAPER_U16,
                                        TAPER_U32};
    enum { CASTS = sizeof casts / sizeof *casts, MOVED = sizeof moved / sizeof *moved };
    struct operation operations[2 * CASTS + 2 * MOVED];
    int count = 0;
    for (int i = 0; i < CASTS; i++) {
        operations[count++] = (struct operation){NARROW, casts[i]};
        operations[count++] = (struct operation){WIDEN, casts[i]};
    }
    for (int i = 0; i < MOVED; i++) {
        operations[count++] = (struct operation){FILL, moved[i]};
        operations[count++] = (struct operation){COPY, moved[i]};
    }

    unsigned char *const src_room = guarded(), *const dst_room = guarded();
    static unsigned char input[MOST * 4];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof input; i++) {
        seed = seed * 1664525 + 1013904223;
        input[i] = (unsigned char)(seed >> 24);
    }
    long calls = 0;
    for (int i = 0; i < count; i++)
        for (size_t n = 0; n <= MOST; n++)
            calls += check(operations[i], input, n, src_room, dst_room);
    printf("%ld calls\n", calls);
    return 0;
}
