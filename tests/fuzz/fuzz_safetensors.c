/* fuzz_safetensors.c - files as `taper convert` gets them: any bytes, any header with
 * the right data behind it, and headers in order but for one fault. One that is taken
 * is converted, and every byte of the result compared. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plan.h"
#include "progress.h"

enum { MOST_DATA = 1 << 16, MOST_HEADER = 1 << 13 };

/* ---- Files in memory ---- */

struct file {
    int fd;
    char path[40];
};

static void make_file(struct file *f, const char *name)
{
    if (f->path[0] != '\0')
        return;
    f->fd = memfd_create(name, 0);
    if (f->fd < 0)
        abort();
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
}

static void write_file(const struct file *f, const void *data, size_t bytes, size_t at)
{
    if (pwrite(f->fd, data, bytes, (off_t)at) != (ssize_t)bytes)
        abort();
}

static void read_file(const struct file *f, void *data, size_t bytes, size_t at)
{
    if (pread(f->fd, data, bytes, (off_t)at) != (ssize_t)bytes)
        finding("%zu bytes at %zu are not in the file", bytes, at);
}

/* ---- Headers ---- */

/* Where the data of all tensors ends, by what the header says. */
static uint64_t data_wanted(const char *text, size_t length)
{
    const char *name;
    json_t *entry;
    json_int_t most = 0;
    json_t *const header = json_loadb(text, length, 0, NULL);
    json_object_foreach(header, name, entry)
    {
        json_t *const offsets = json_object_get(entry, "data_offsets");
        const json_int_t end = json_integer_value(json_array_get(offsets, 1));
        most = end > most ? end : most;
    }
    json_decref(header);
    return (uint64_t)most;
}

/* What is wrong with a header; nothing, for the numbers below. */
enum fault { NO_FAULT = 7, END, HOLE, DTYPE, NEGATIVE, TWICE, FRACTION, METADATA };

/* Writes a header of a few tensors. Returns its length, and whether it is in order. */
static size_t make_header(struct input *in, char *text, bool *good)
{
    static const char *const names[] = {"a", "layer.0.weight", "norm", "\\u00e9\\n",
                                        ""};
    const unsigned tensors = take_below(in, 6);
    const enum fault fault = (enum fault)take_below(in, METADATA + 1);
    const unsigned where = take_below(in, 6);
    size_t used = 1;
    uint64_t end = 0;
    *good = true;
    text[0] = '{';
    if (take_below(in, 4) == 0) {
        used +=
            (size_t)sprintf(text + used, "\"__metadata__\":{\"format\":%s}%s",
                            fault == METADATA ? "1" : "\"pt\"", tensors > 0 ? "," : "");
        *good = fault != METADATA;
    }
    for (unsigned i = 0; i < tensors; i++) {
        const enum fault here = i == where ? fault : NO_FAULT;
        const struct st_dtype *const dtype = &st_dtypes[take_below(in, ST_DTYPES)];
        const unsigned rank = take_below(in, 4);
        uint64_t n = 1, bits;
        if (here == HOLE)
            end++;
        const unsigned name = here == TWICE && i > 0 ? i - 1 : i;
        used += (size_t)sprintf(text + used, "%s\"%s%u\":{\"dtype\":\"%s\",\"shape\":[",
                                i > 0 ? "," : "", names[name % 5], name,
                                here == DTYPE ? "F31" : dtype->name);
        for (unsigned k = 0; k < rank; k++) {
            const uint64_t dim = take(in, 1) % (k == 0 ? 200 : 9);
            n *= dim;
            used += (size_t)sprintf(text + used, "%s%s%u%s", k > 0 ? "," : "",
                                    here == NEGATIVE ? "-1" : "", (unsigned)dim,
                                    here == FRACTION ? ".0" : "");
        }
        bits = n * dtype->bits;
        const uint64_t bytes = bits / 8 + (here == END);
        used += (size_t)sprintf(text + used, "],\"data_offsets\":[%u,%u]}",
                                (unsigned)end, (unsigned)(end + bytes));
        end += bytes;
        const bool has_shape = rank > 0;
        *good &= bits % 8 == 0 && here != END && here != HOLE && here != DTYPE &&
                 !(here == TWICE && i > 0) &&
                 !((here == NEGATIVE || here == FRACTION) && has_shape);
    }
    text[used++] = '}';
    return used;
}

/* Puts what the input says into the file. Returns 0 if it must be refused, 1 if it must
 * be taken, else -1. */
static int make_input(struct input *in, const struct file *f)
{
    static char text[MOST_HEADER];
    static unsigned char data[MOST_DATA + 8];
    const unsigned way = take_below(in, 8);
    const uint64_t seed = take(in, 2);
    int must = -1;
    if (ftruncate(f->fd, 0) != 0)
        abort();
    if (way == 0) {
        write_file(f, in->data, in->size, 0);
        return must;
    }
    size_t length;
    if (way < 4) {
        length = in->size < MOST_HEADER ? in->size : MOST_HEADER;
        memcpy(text, in->data, length);
    } else {
        bool good;
        length = make_header(in, text, &good);
        must = good;
    }
    size_t bytes = data_wanted(text, length);
    if (bytes > MOST_DATA) {
        bytes = 0;
        must = 0;
    } else if (way == 3 || way == 4) { /* a byte too many */
        bytes++;
        must = 0;
    } else if (way == 5 && bytes > 0) {
        bytes--;
        must = 0;
    }
    unsigned char first[8];
    for (size_t i = 0; i < sizeof first; i++)
        first[i] = (unsigned char)((uint64_t)length >> 8 * i);
    fill_random(data, bytes, seed);
    write_file(f, first, sizeof first, 0);
    write_file(f, text, length, sizeof first);
    write_file(f, data, bytes, sizeof first + length);
    return must;
}

/* ---- What must be true ---- */

static void check_file(const struct st_file *file, uint64_t size)
{
    uint64_t end = 0;
    if (file->data > size)
        finding("the data begins past the end");
    for (size_t i = 0; i < file->count; i++) {
        const struct st_tensor *const t = &file->tensors[i];
        const json_t *const shape = json_object_get(t->entry, "shape");
        uint64_t n = 1;
        for (size_t k = 0; k < json_array_size(shape); k++)
            n *= (uint64_t)json_integer_value(json_array_get(shape, k));
        if (t->begin != end || t->count != n || t->end < t->begin ||
            (t->end - t->begin) * 8 != n * t->dtype->bits)
            finding("tensor %zu is taken: from %zu to %zu, %zu elements", i,
                    (size_t)t->begin, (size_t)t->end, (size_t)t->count);
        end = t->end;
    }
    if (end != size - file->data)
        finding("the tensors end at %zu of %zu", (size_t)end,
                (size_t)(size - file->data));
}

/* One tensor of both files. */
static void check_tensor(const struct file *from, const struct range *r,
                         const struct file *to, taper_cast_options options)
{
    static unsigned char src[MOST_DATA], dst[MOST_DATA];
    const size_t src_bytes = bytes_of(r->from, r->count);
    const size_t dst_bytes = bytes_of(r->to, r->count);
    if (src_bytes > MOST_DATA || dst_bytes > MOST_DATA)
        return;
    read_file(from, src, src_bytes, r->src);
    read_file(to, dst, dst_bytes, r->dst);
    if (r->from == r->to) {
        if (memcmp(src, dst, src_bytes) != 0)
            finding("a tensor that is not cast has changed");
        return;
    }
    const unsigned src_bits = oracle_bits(r->from), dst_bits = oracle_bits(r->to);
    for (size_t i = 0; i < r->count; i++) {
        const uint64_t x = get_element(src, src_bits, i);
        if (get_element(dst, dst_bits, i) != oracle_cast(r->to, r->from, x, options))
            finding("a wrong element %zu, %d from %d", i, (int)r->to, (int)r->from);
    }
}

static void check_plan(const struct plan *plan, const struct st_file *file,
                       uint64_t size)
{
    uint64_t dst = plan->header_bytes;
    if (plan->count != file->count || plan->header_bytes % 8 != 0)
        finding("%zu ranges of %zu tensors, header %zu", plan->count, file->count,
                plan->header_bytes);
    for (size_t i = 0; i < plan->count; i++) {
        const struct range *const r = &plan->ranges[i];
        const uint64_t src_bytes = bytes_of(r->from, r->count);
        if (r->src < file->data || src_bytes > size || r->src > size - src_bytes)
            finding("range %zu reads past the end", i);
        if (r->dst != dst)
            finding("range %zu begins at %zu, not %zu", i, (size_t)r->dst, (size_t)dst);
        dst += bytes_of(r->to, r->count);
    }
    if (dst != plan->bytes)
        finding("the plan has %zu bytes, not %zu", (size_t)plan->bytes, (size_t)dst);
}

static void check_output(const struct st_file *before, const struct file *to,
                         uint64_t bytes, const struct plan *plan)
{
    struct st_file after;
    if (!st_open(&after, to->path))
        finding("what was written is no safetensors file");
    check_file(&after, bytes);
    if (after.count != before->count)
        finding("%zu tensors became %zu", before->count, after.count);
    for (size_t i = 0; i < after.count; i++) {
        const struct st_tensor *const a = &after.tensors[i], *const b =
                                                                 &before->tensors[i];
        if (strcmp(a->name, b->name) != 0 || a->count != b->count ||
            a->place != b->place || after.data + a->begin != plan->ranges[i].dst)
            finding("tensor %zu is another one", i);
    }
    st_close(&after);
}

/* ---- The conversion ---- */

struct choice {
    unsigned to, match, keep, threads;
    taper_cast_options options;
};

static void convert(const struct file *from, struct st_file *file, uint64_t size,
                    const struct file *to, const struct choice *choice)
{
    static const char *const texts[] = {"a", "norm|layer", "[0-9]$", "^$"};
    regex_t match, keep;
    struct summary summary = {0};
    struct rules rules = {.to = &st_dtypes[choice->to]};
    struct plan plan;
    struct progress progress;
    if (choice->match < 4 && regcomp(&match, texts[choice->match], REG_EXTENDED) == 0)
        rules.match = &match;
    if (choice->keep < 4 && regcomp(&keep, texts[choice->keep], REG_EXTENDED) == 0)
        rules.keep = &keep;
    summary.to = rules.to;
    plan_make(&plan, file, &rules, &summary);
    check_plan(&plan, file, size);

    if (plan.bytes <= MOST_DATA + MOST_HEADER) {
        if (ftruncate(to->fd, 0) != 0)
            abort();
        write_file(to, plan.header, plan.header_bytes, 0);
        progress_start(&progress, size, true);
        const struct pump pump = {
            .in = file->fd,
            .out = to->fd,
            .in_path = from->path,
            .out_path = to->path,
            .ranges = plan.ranges,
            .count = plan.count,
            .options = choice->options,
            .threads = (int)choice->threads,
            .progress = &progress,
        };
        if (!pump_run(&pump))
            finding("the conversion failed");
        check_output(file, to, plan.bytes, &plan);
        for (size_t i = 0; i < plan.count; i++)
            check_tensor(from, &plan.ranges[i], to, choice->options);
    }
    plan_free(&plan);
    summary_free(&summary);
    if (rules.match != NULL)
        regfree(&match);
    if (rules.keep != NULL)
        regfree(&keep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file from, to;
    struct input in = {data, size};
    struct st_file file;
    const struct choice choice = {
        .to = take_below(&in, ST_DTYPES),
        .match = take_below(&in, 16),
        .keep = take_below(&in, 16),
        .threads = 1 + take_below(&in, 3),
        .options = {(taper_overflow)take_below(&in, 2), TAPER_ROUND_UP},
    };
    make_file(&from, "in");
    make_file(&to, "out");
    const int must = make_input(&in, &from);
    const uint64_t bytes = (uint64_t)lseek(from.fd, 0, SEEK_END);
    const bool taken = st_open(&file, from.path);
    if (must >= 0 && taken != must)
        finding(taken ? "a faulty file is taken" : "a good file is refused");
    if (!taken)
        return 0;
    check_file(&file, bytes);
    if (st_dtypes[choice.to].type != 0 && st_dtypes[choice.to].type != TAPER_F64)
        convert(&from, &file, bytes, &to, &choice);
    st_close(&file);
    return 0;
}
