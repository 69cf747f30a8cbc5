/* test_bounds.c - every size from 0 to 1024 at every byte offset from 0 to 63, counted
 * from an inaccessible page before and from one after, for source and destination: each
 * instruction set gives what the oracle says, and touches no byte outside the arrays.
 *
 *     test_bounds        all of it for what there is a kernel for; of casts through
 *                        binary32, casts in place and streaming stores a part: the
 *                        offset that is n modulo 64
 *     test_bounds all    all of everything
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elements.h"

enum { MOST = 1024, OFFSETS = 64, CANARY = 0xa5, ROOM = 3 * 4096 };

struct operation {
    enum { NARROW, WIDEN, FILL, COPY, CAST } kind;
    taper_dtype to, from;
    bool in_place, stream;
    size_t step; /* between offsets */
};

static const char *const kinds[] = {"narrow", "widen", "fill", "copy", "cast"};

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
    return array_bytes((unsigned)taper_dtype_bits(type), n);
}

static taper_status call(struct operation op, void *dst, const void *src, size_t n)
{
    switch (op.kind) {
    case NARROW:
        return taper_narrow(op.to, dst, src, n, NULL);
    case WIDEN:
        return taper_widen(op.from, dst, src, n);
    case FILL:
        return taper_fill(op.to, dst, n, src);
    case COPY:
        return taper_copy(op.to, dst, src, n);
    default:
        return taper_cast(op.to, dst, op.from, src, n, NULL);
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

/* Sets the canaries around `bytes` bytes at `at`. */
static void surround(unsigned char *room, unsigned char *at, size_t bytes)
{
    const size_t before = (size_t)(at - room), behind = ROOM - before - bytes;
    memset(at - (before < 128 ? before : 128), CANARY, before < 128 ? before : 128);
    memset(at + bytes, CANARY, behind < 128 ? behind : 128);
}

/* Elements that are moved are their bytes, or fields of a byte. */
static uint64_t element(taper_dtype type, const unsigned char *array, size_t i)
{
    return get_element(array, (unsigned)taper_dtype_bits(type), i);
}

/* Writes to `want` what MOST elements must become. */
static void expect(struct operation op, const unsigned char *input, unsigned char *want)
{
    const unsigned bits = (unsigned)taper_dtype_bits(op.to);
    for (size_t i = 0; i < MOST; i++)
        set_element(want, bits, i,
                    op.kind == FILL ? element(op.from, input, 0)
                    : op.kind == COPY
                        ? element(op.from, input, i)
                        : oracle_cast(op.to, op.from, element(op.from, input, i),
                                      (taper_cast_options){0}));
}

static long check(struct operation op, const unsigned char *input,
                  const unsigned char *all, size_t n, unsigned char *src_room,
                  unsigned char *dst_room)
{
    const unsigned bits = (unsigned)taper_dtype_bits(op.to);
    const size_t in = bytes_of(op.from, op.kind == FILL ? 1 : n);
    const size_t out = bytes_of(op.to, n);
    static unsigned char want[MOST * 8];
    long calls = 0;

    memcpy(want, all, out);
    for (size_t i = n; bits < 8 && i * bits % 8 != 0; i++) /* the rest of a byte is 0 */
        set_element(want, bits, i, 0);
    for (int i = TAPER_STREAM_BYTES; i <= TAPER_STREAM_FILL_BYTES && op.stream; i++)
        if (taper_set_threshold_bytes((taper_threshold)i, 1) != TAPER_OK)
            exit(2);
    for (size_t isa = 0; taper_isa_name(isa) != NULL; isa++) {
        if (taper_use_isa(taper_isa_name(isa)) != TAPER_OK)
            exit(2);
        for (size_t o = n % op.step; o < OFFSETS; o += op.step)
            for (int end = 0; end < 2; end++) {
                /* From one end for the source, from the other for the destination. */
                unsigned char *const src =
                    end ? src_room + o : src_room + ROOM - o - in;
                unsigned char *const dst = op.in_place ? src
                                           : end       ? dst_room + ROOM - o - out
                                                       : dst_room + o;
                memcpy(src, input, in);
                if (op.in_place)
                    surround(src_room, src, in);
                else
                    surround(dst_room, dst, out);
                const taper_status status = call(op, dst, src, n);
                if (op.in_place) /* the rest of the source is what may be left there */
                    memset(dst + out, CANARY, in - out);
                if (status != TAPER_OK ||
                    !intact(op.in_place ? src_room : dst_room, dst, want, out)) {
                    printf("%s: %s of %s to %s%s%s, n %zu, offset %zu from %s\n",
                           taper_isa(), kinds[op.kind], taper_dtype_name(op.from),
                           taper_dtype_name(op.to), op.in_place ? ", in place" : "",
                           op.stream ? ", streamed" : "", n, o,
                           end ? "the front (src), the end (dst)"
                               : "the end (src), the front (dst)");
                    exit(1);
                }
                calls++;
            }
    }
    for (int i = TAPER_STREAM_BYTES; i <= TAPER_STREAM_FILL_BYTES && op.stream; i++)
        if (taper_set_threshold_bytes((taper_threshold)i, 0) != TAPER_OK)
            exit(2);
    return calls;
}

enum { MOVED = 6, MOST_OPERATIONS = 400 };
static struct operation operations[MOST_OPERATIONS];
static int count;

/* `step` is for what is not a kernel as it stands. */
static void list_operations(size_t step)
{
    static const taper_dtype moved[MOVED] = {TAPER_U2,  TAPER_U4,  TAPER_U8,
                                             TAPER_U16, TAPER_U32, TAPER_C64};
    for (int to = 0; to < CAST_TYPES; to++)
        for (int from = 0; from < CAST_TYPES; from++) {
            const taper_dtype t = cast_types[to], f = cast_types[from];
            const bool narrow = f == TAPER_F32 && t != TAPER_F64;
            const bool widen = t == TAPER_F32 && f != TAPER_F64;
            const size_t own = narrow || widen ? 1 : step;
            struct operation op = {
                narrow ? NARROW : widen ? WIDEN : CAST, t, f, false, false, own};
            if (to == from)
                continue;
            operations[count++] = op;
            op.step = step;
            op.stream = true;
            operations[count++] = op;
            op.stream = false;
            op.in_place = true;
            if (taper_dtype_bits(t) <= taper_dtype_bits(f))
                operations[count++] = op;
        }
    for (int i = 0; i < MOVED; i++)
        for (int stream = 0; stream < 2; stream++) {
            const size_t own = stream ? step : 1;
            operations[count++] =
                (struct operation){FILL, moved[i], moved[i], false, stream, own};
            operations[count++] =
                (struct operation){COPY, moved[i], moved[i], false, stream, own};
        }
    for (int i = 0; i < MOVED; i++)
        operations[count++] =
            (struct operation){COPY, moved[i], moved[i], true, false, step};
}

int main(int argc, char **argv)
{
    unsigned char *const src_room = guarded(), *const dst_room = guarded();
    static unsigned char input[MOST * 8];
    uint32_t seed = 1;
    for (size_t i = 0; i < sizeof input; i++) {
        seed = seed * 1664525 + 1013904223;
        input[i] = (unsigned char)(seed >> 24);
    }
    list_operations(argc > 1 && strcmp(argv[1], "all") == 0 ? 1 : OFFSETS);
    long calls = 0;
    for (int i = 0; i < count; i++) {
        static unsigned char all[MOST * 8];
        expect(operations[i], input, all);
        for (size_t n = 0; n <= MOST; n++)
            calls += check(operations[i], input, all, n, src_room, dst_room);
    }
    printf("%d operations, %ld calls\n", count, calls);
    return 0;
}
