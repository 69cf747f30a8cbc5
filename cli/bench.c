/* bench.c - `taper bench`: how fast this machine is, beside memcpy() and memset(). */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "cli.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "safetensors.h"
#include "taper/taper.h"

static const char help[] =
    "usage: taper bench [OPTION]...\n\n"
    "Measures how fast arrays are filled, copied, narrowed from float and widened to "
    "it,\n"
    "beside memcpy of the same traffic (bytes read and written) in the same rounds; "
    "fills\n"
    "beside memset. It takes less than a minute, on one thread and 1 GB of memory, "
    "unless\n"
    "it is asked for more.\n\n"
    "  --op OP,...      fill, copy, narrow, widen, or all\n"
    "  --to TYPE,...    what to narrow to: bfloat16 or bf16, float8e4m3fn or f8_e4m3, "
    "...,\n"
    "                   or all\n"
    "  --from TYPE,...  what to widen from, likewise\n"
    "  --size SIZE,...  traffic of a call: 256K, 4M, ...; 4K:1G is 4K, 16K, ... 1G\n"
    "                   (default: 16K,256K,4M,512M)\n"
    "  --isa NAME,...   instruction sets, or all (default: the one in use)\n"
    "  --threads N,...  the most threads a call may use (default: 1); "
    "OMP_PROC_BIND=true in\n"
    "                   the environment keeps each on a core of its own\n"
    "  --json FILE      also write the figures to FILE, in the form of Google "
    "Benchmark\n"
    "  --force          replace FILE\n"
    "  --help           print this\n\n"
    "With --to or --from and no --op, that is all that is measured. The columns:\n\n"
    "  size         traffic of a call, rounded up to 64 elements; a small one finds "
    "its\n"
    "               data in a cache\n"
    "  GB/s         10^9 bytes read and written a second: the median of the rounds\n"
    "  spread       how far apart the quartiles of the rounds are, by their median\n"
    "  el/cycle     elements in a cycle of the core's clock (x86-64 only)\n"
    "  2.0 x memcpy takes half the time of memcpy: the median of the rounds\n\n"
    "With more than one thread in --threads, all rows are of their fastest rounds "
    "instead,\n"
    "since a busy machine has several idle cores at once in few of them.\n\n"
    "Exit codes: 0 done, 2 wrong usage, 3 no memory or an output error.\n";

enum op { FILL, COPY, NARROW, WIDEN, OPS };
static const char *const op_names[OPS] = {"fill", "copy", "narrow", "widen"};

enum { GRAIN = 64 }; /* elements of an array are a multiple of this */
enum { MAX_VALUES = 64, MAX_ROUNDS = 101 };

/* What an option gave, each value once. */
struct list {
    size_t values[MAX_VALUES], count;
};

struct bench {
    bool ops[OPS];
    bool to[ST_DTYPES], from[ST_DTYPES]; /* by their place in st_dtypes */
    struct list sizes, isas, threads;    /* isas: for taper_isa_name() */
    bool fastest; /* what counts is the fastest round, not the median */
    const char *json;
    bool force, help;

    unsigned char *src, *dst;
    size_t src_bytes, dst_bytes;
    taper_dtype held; /* what `src` is full of; 0 for nothing */
    json_t *rows;
    size_t apart; /* rows with more than most_spread */
    struct progress progress;
};

/* A line of the table. */
struct row {
    enum op op;
    taper_dtype type;
    const char *isa;
    int threads;
    size_t n, read, written; /* elements; bytes */
};

struct result {
    double seconds, spread, per_cycle, ratio; /* per_cycle is 0 if it is not known */
    size_t rounds;
};

/* ---- memory, and what is in it ---- */

static size_t bytes_of(taper_dtype type, size_t n)
{
    return (n * taper_dtype_bits(type) + 7) / 8;
}

/* The row with `traffic` bytes read and written, or a few more: a threshold of the
 * library that `traffic` is, it reaches. */
static struct row make_row(enum op op, taper_dtype type, size_t traffic)
{
    const taper_dtype to = op == WIDEN ? TAPER_F32 : type;
    const taper_dtype from = op == NARROW ? TAPER_F32 : type;
    const size_t bits =
        taper_dtype_bits(to) + (op == FILL ? 0 : taper_dtype_bits(from));
    const size_t n = (traffic * 8 + bits - 1) / bits;
    struct row row = {.op = op, .type = type, .n = (n + GRAIN - 1) / GRAIN * GRAIN};
    row.read = op == FILL ? 0 : bytes_of(from, row.n);
    row.written = bytes_of(to, row.n);
    return row;
}

/* "MemAvailable" of the system, in bytes; SIZE_MAX if it does not tell. */
static size_t available_memory(void)
{
    FILE *const file = fopen("/proc/meminfo", "r");
    char line[128];
    size_t kib, bytes = SIZE_MAX;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1)
            bytes = kib * 1024;
    if (file != NULL)
        fclose(file);
    return bytes;
}

enum { HUGE_PAGE = 2 << 20 };

/* On huge pages, if the system has them to give; NULL if there is no such memory. */
static unsigned char *map_bytes(size_t bytes)
{
    void *const start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    unsigned char *const aligned =
        (unsigned char *)(((uintptr_t)start + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    madvise(aligned, bytes, MADV_HUGEPAGE); /* only advice */
    return aligned;
}

static bool get_memory(struct bench *b)
{
    const double needed = (double)(b->src_bytes + b->dst_bytes);
    const double available = (double)available_memory();
    if (needed > available) {
        cli_error("these sizes need %.2f GB of memory, and %.2f GB are available: "
                  "choose a smaller --size",
                  needed * 1e-9, available * 1e-9);
        return false;
    }
    b->src = map_bytes(b->src_bytes);
    b->dst = map_bytes(b->dst_bytes);
    if (b->src == NULL || b->dst == NULL) {
        cli_error("these sizes need %.2f GB of memory: %s: choose a smaller --size",
                  needed * 1e-9, strerror(errno));
        return false;
    }
    memset(b->dst, 1, b->dst_bytes); /* touched, so that pages are there */
    return true;
}

static void must(taper_status status)
{
    if (status != TAPER_OK) {
        cli_error("%s", taper_status_text(status));
        exit(CLI_FAILED);
    }
}

/* About N(0, 1), by a sum of four uniform numbers. */
static float next_normal(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    const uint64_t sum =
        (x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48);
    return ((float)sum / 65536.0f - 2.0f) * 1.732f;
}

/* Fills `src` with such numbers, as elements of `type`. They repeat. */
static void make_source(struct bench *b, taper_dtype type)
{
    enum { PERIOD = 1 << 16 };
    static float numbers[PERIOD];
    static unsigned char made[PERIOD * sizeof(float)];
    if (b->held == type)
        return;
    uint64_t state = 88172645463325252;
    for (size_t i = 0; i < PERIOD; i++)
        numbers[i] = next_normal(&state);
    must(taper_cast(type, made, TAPER_F32, numbers, PERIOD, NULL));
    const size_t period = bytes_of(type, PERIOD);
    for (size_t done = 0; done < b->src_bytes; done += period) {
        const size_t left = b->src_bytes - done;
        memcpy(b->src + done, made, left < period ? left : period);
    }
    b->held = type;
}

/* ---- measuring: rounds that alternate between taper and what it is compared with ----
 */

/* Long beside a look at the clock, short beside a time slice. */
static const double batch_seconds = 150e-6;
static const double row_seconds = 0.2;
static const double fastest_seconds = 0.5; /* until some rounds are undisturbed */
static const double most_spread = 0.2;     /* of a machine that is not busy */
static const size_t least_rounds = 3;
static const size_t cached_bytes = (size_t)128 << 20; /* more is in no cache */

typedef void run_side(const struct bench *b, const struct row *row);

static void run_taper(const struct bench *b, const struct row *row)
{
    static const float one = 1;
    must(row->op == FILL     ? taper_fill(row->type, b->dst, row->n, &one)
         : row->op == COPY   ? taper_copy(row->type, b->dst, b->src, row->n)
         : row->op == NARROW ? taper_narrow(row->type, b->dst, b->src, row->n, NULL)
                             : taper_widen(row->type, b->dst, b->src, row->n));
}

static void run_rival(const struct bench *b, const struct row *row)
{
    if (row->op == FILL)
        memset(b->dst, 1, row->written);
    else
        memcpy(b->dst, b->src, (row->read + row->written) / 2);
}

static const char *rival_name(enum op op)
{
    return op == FILL ? "memset" : "memcpy";
}

/* Seconds of one of `calls` calls. */
static double time_calls(run_side *run, const struct bench *b, const struct row *row,
                         size_t calls)
{
    const double start = cli_seconds();
    for (size_t i = 0; i < calls; i++) {
        run(b, row);
        __asm__ volatile("" ::: "memory"); /* each writes for a reader */
    }
    return (cli_seconds() - start) / (double)calls;
}

/* How many calls make a batch. */
static size_t batch_calls(run_side *run, const struct bench *b, const struct row *row)
{
    size_t calls = 1;
    run(b, row); /* code may be cold, and threads asleep */
    while (time_calls(run, b, row, calls) * (double)calls < batch_seconds / 4)
        calls *= 4;
    /* Again, for that may have been disturbed. */
    const double batch = batch_seconds / time_calls(run, b, row, calls);
    return batch < 1 ? 1 : (size_t)batch;
}

/* Cycles a second of this core now, by multiplications that wait for each other, 3
 * cycles each on all x86-64 of this century; 0 elsewhere. */
static double core_clock(void)
{
#if defined(__x86_64__)
    enum { LINKS = 30000 };
    uint64_t x = 3;
    const double start = cli_seconds();
    for (int i = 0; i < LINKS; i += 4)
        __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0"
                         : "+r"(x));
    return 3.0 * LINKS / (cli_seconds() - start);
#else
    return 0;
#endif
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that `part` of all are below; sorts them. */
static double quantile(double *values, size_t count, double part)
{
    qsort(values, count, sizeof *values, by_size);
    const double place = part * (double)(count - 1);
    const size_t below = (size_t)place;
    const size_t above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - (double)below) * (values[above] - values[below]);
}

static struct result measure(const struct bench *b, const struct row *row)
{
    static run_side *const sides[2] = {run_taper, run_rival};
    double times[2][MAX_ROUNDS], ratios[MAX_ROUNDS], clocks[MAX_ROUNDS];
    size_t calls[2], rounds = 0;
    for (int side = 0; side < 2; side++)
        calls[side] = batch_calls(sides[side], b, row);

    const double end = cli_seconds() + (b->fastest ? fastest_seconds : row_seconds);
    while (rounds < least_rounds || (rounds < MAX_ROUNDS && cli_seconds() < end)) {
        for (int side = 0; side < 2; side++) {
            /* Each finds caches and threads as it leaves them. */
            if (row->read + row->written < cached_bytes || row->threads > 1)
                sides[side](b, row);
            times[side][rounds] = time_calls(sides[side], b, row, calls[side]);
        }
        ratios[rounds] = times[1][rounds] / times[0][rounds];
        clocks[rounds] = core_clock();
        rounds++;
    }
    const double median = quantile(times[0], rounds, 0.5);
    const double apart =
        quantile(times[0], rounds, 0.75) - quantile(times[0], rounds, 0.25);
    const double least = quantile(times[0], rounds, 0);
    const double seconds = b->fastest ? least : median;
    const double clock = quantile(clocks, rounds, 0.5);
    return (struct result){
        .seconds = seconds,
        .spread = apart / median,
        .per_cycle = clock == 0 ? 0 : (double)row->n / seconds / clock,
        .ratio = b->fastest ? quantile(times[1], rounds, 0) / least
                            : quantile(ratios, rounds, 0.5),
        .rounds = rounds,
    };
}

/* ---- what comes out ---- */

enum { SIZE_TEXT = 24 };

/* "256K". */
static const char *size_text(size_t bytes, char text[SIZE_TEXT])
{
    static const char units[] = "KMGT";
    size_t unit = 0;
    while (unit < 3 && bytes >> 10 * (unit + 2) != 0 &&
           bytes % ((size_t)1 << 10 * (unit + 2)) == 0)
        unit++;
    if (bytes % 1024 == 0)
        snprintf(text, SIZE_TEXT, "%zu%c", bytes >> 10 * (unit + 1), units[unit]);
    else
        snprintf(text, SIZE_TEXT, "%zu", bytes);
    return text;
}

/* "1.07 GB". */
static const char *memory_text(size_t bytes, char text[SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB"};
    size_t unit = 0;
    double value = (double)bytes / 1000;
    for (; unit < 2 && value >= 999.995; unit++)
        value /= 1000;
    snprintf(text, SIZE_TEXT, "%.2f %s", value, units[unit]);
    return text;
}

/* Reads the first word of a file of /sys; "" if there is none. */
static const char *read_word(const char *folder, const char *name, char word[32])
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%31s", word) != 1)
        word[0] = '\0';
    if (file != NULL)
        fclose(file);
    return word;
}

/* The caches of the first CPU that hold data: [{"type", "level", "size"}]. */
static json_t *list_caches(void)
{
    json_t *const caches = json_array();
    for (int i = 0; i < 8; i++) {
        char folder[64], type[32], level[32], size[32];
        snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu0/cache/index%d",
                 i);
        read_word(folder, "type", type);
        if (type[0] == '\0' || strcmp(type, "Instruction") == 0)
            continue;
        json_array_append_new(
            caches,
            json_pack("{s:s, s:i, s:I}", "type", type, "level",
                      atoi(read_word(folder, "level", level)), "size",
                      (json_int_t)atol(read_word(folder, "size", size)) * 1024));
    }
    return caches;
}

/* What the figures are of: prints it and returns it for the file. */
static json_t *describe(const struct bench *b)
{
    char *const cpu = cli_cpuinfo("model name");
    const char *const name = cpu == NULL ? "unknown CPU" : cli_printable(cpu);
    json_t *const caches = list_caches();
    printf("taper %s, %s", taper_version(), name);
    size_t i;
    json_t *cache;
    json_array_foreach(caches, i, cache)
    {
        char text[SIZE_TEXT];
        printf(", L%d %s", (int)json_integer_value(json_object_get(cache, "level")),
               size_text((size_t)json_integer_value(json_object_get(cache, "size")),
                         text));
    }
    printf(", ");
    for (i = 0; i < b->isas.count; i++)
        printf(i == 0 ? "%s" : "+%s", taper_isa_name(b->isas.values[i]));
    printf(", threads ");
    for (i = 0; i < b->threads.count; i++)
        printf(i == 0 ? "%zu" : "+%zu", b->threads.values[i]);
    char memory[SIZE_TEXT];
    printf(", %s of memory\n", memory_text(b->src_bytes + b->dst_bytes, memory));

    char date[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_t *const context =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "date", date, "executable",
                  "taper bench", "taper", taper_version(), "cpu", name, "num_cpus",
                  (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "caches", caches);
    free(cpu);
    return context;
}

static void print_row(const struct row *row, size_t size, const struct result *r)
{
    char text[SIZE_TEXT], per_cycle[16] = "-";
    if (r->per_cycle != 0)
        snprintf(per_cycle, sizeof per_cycle, "%.2f", r->per_cycle);
    printf("%-6s %-14s %-6s %7d %6s %8.2f %6.1f%% %8s %6.2f x %s\n", op_names[row->op],
           taper_dtype_name(row->type), row->isa, row->threads, size_text(size, text),
           (double)(row->read + row->written) / r->seconds * 1e-9, 100 * r->spread,
           per_cycle, r->ratio, rival_name(row->op));
    fflush(stdout);
}

/* As taper_bench of bench/ names rows and counters. */
static void add_json(struct bench *b, const struct row *row, size_t size,
                     const struct result *r)
{
    char name[128];
    const int length = snprintf(name, sizeof name, "%s/%s/%s/%zu", op_names[row->op],
                                taper_dtype_name(row->type), row->isa, row->n);
    if (row->threads > 1)
        snprintf(name + length, sizeof name - (size_t)length, "/threads:%d",
                 row->threads);
    json_t *const entry = json_pack(
        "{s:s, s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:s, s:f, s:f, s:f, s:f}", "name",
        name, "run_name", name, "run_type", "iteration", "threads", row->threads,
        "size", (json_int_t)size, "iterations", (json_int_t)r->rounds, "real_time",
        r->seconds * 1e9, "cpu_time", r->seconds * 1e9, "time_unit", "ns",
        "bytes_per_second", (double)(row->read + row->written) / r->seconds,
        "items_per_second", (double)row->n / r->seconds, "spread", r->spread,
        row->op == FILL ? "memset" : "M", r->ratio);
    if (r->per_cycle != 0)
        json_object_set_new(entry, "el/cycle", json_real(r->per_cycle));
    json_array_append_new(b->rows, entry);
}

static bool write_json(struct output *output, json_t *context, json_t *rows)
{
    json_t *const root =
        json_pack("{s:O, s:O}", "context", context, "benchmarks", rows);
    char *const text = json_dumps(root, JSON_INDENT(1));
    if (text == NULL)
        cli_error("out of memory");
    const bool good = text != NULL && output_text(output, text);
    free(text);
    json_decref(root);
    return good;
}

/* ---- the rows ---- */

/* Calls visit() for every op, type and size; returns how many there are. */
typedef void visit_row(struct bench *b, enum op op, taper_dtype type, size_t size);

static size_t for_each(struct bench *b, visit_row *visit)
{
    size_t count = 0;
    for (enum op op = 0; op < OPS; op++)
        for (size_t t = 0; t < ST_DTYPES; t++) {
            const bool moved = op == FILL || op == COPY;
            if (!b->ops[op] || !(moved          ? st_dtypes[t].type == TAPER_F32
                                 : op == NARROW ? b->to[t]
                                                : b->from[t]))
                continue;
            for (size_t s = 0; s < b->sizes.count; s++, count++)
                visit(b, op, st_dtypes[t].type, b->sizes.values[s]);
        }
    return count * b->isas.count * b->threads.count;
}

static void add_memory(struct bench *b, enum op op, taper_dtype type, size_t size)
{
    const struct row row = make_row(op, type, size);
    const size_t half = (row.read + row.written) / 2; /* of memcpy() */
    const size_t read = op == FILL ? 1 : row.read > half ? row.read : half;
    const size_t written = row.written > half ? row.written : half;
    b->src_bytes = read > b->src_bytes ? read : b->src_bytes;
    b->dst_bytes = written > b->dst_bytes ? written : b->dst_bytes;
}

static void measure_rows(struct bench *b, enum op op, taper_dtype type, size_t size)
{
    struct row row = make_row(op, type, size);
    make_source(b, op == WIDEN ? type : TAPER_F32);
    for (size_t i = 0; i < b->isas.count; i++)
        for (size_t t = 0; t < b->threads.count; t++) {
            row.isa = taper_isa_name(b->isas.values[i]);
            row.threads = (int)b->threads.values[t];
            must(taper_use_isa(row.isa));
            must(taper_set_max_threads(row.threads));
            const struct result result = measure(b, &row);
            progress_clear(&b->progress);
            print_row(&row, size, &result);
            add_json(b, &row, size, &result);
            b->apart += result.spread > most_spread;
            progress_draw(&b->progress, json_array_size(b->rows));
        }
}

static int bench(struct bench *b, struct output *output)
{
    const double start = cli_seconds();
    const size_t count = for_each(b, add_memory);
    if (b->json != NULL) {
        const int code = output_check(output, b->json, false, b->force);
        if (code != CLI_OK)
            return code;
    }
    if (!get_memory(b))
        return CLI_FAILED;
    json_t *const context = describe(b);
    b->rows = json_array();
    printf("%-6s %-14s %-6s %7s %6s %8s %7s %8s\n", "op", "type", "isa", "threads",
           "size", "GB/s", "spread", "el/cycle");
    progress_start(&b->progress, count, false);
    b->progress.counts = true;
    for_each(b, measure_rows);
    progress_clear(&b->progress);

    printf("%zu rows, %.1f s\n", count, cli_seconds() - start);
    if (b->apart > 0)
        cli_error("%zu of %zu rows have a spread above %.0f %%: this machine is busy "
                  "with other things, and may be faster than these figures",
                  b->apart, count, 100 * most_spread);
    const bool good =
        (b->json == NULL || write_json(output, context, b->rows)) && cli_flush(b->json);
    json_decref(b->rows);
    json_decref(context);
    return good ? CLI_OK : CLI_FAILED;
}

/* ---- command line ---- */

/* False if there is no room for it. */
static bool add_value(struct list *list, size_t value)
{
    size_t i = 0;
    while (i < list->count && list->values[i] != value)
        i++;
    if (i == MAX_VALUES)
        return false;
    list->values[i] = value;
    list->count += i == list->count;
    return true;
}

static bool parse_op(struct bench *b, const char *word)
{
    bool known = false;
    for (int op = 0; op < OPS; op++)
        if (strcmp(word, "all") == 0 || strcmp(word, op_names[op]) == 0)
            b->ops[op] = known = true;
    return known;
}

/* Marks a type that taper_narrow() makes, or all of them. */
static bool parse_type(bool chosen[ST_DTYPES], const char *word)
{
    const struct st_dtype *const named = st_float_named(word);
    bool known = false;
    for (size_t t = 0; t < ST_DTYPES; t++) {
        const struct st_dtype *const type = st_dtypes + t;
        const bool narrow = type->type != 0 && type->bits < 32;
        if (narrow && (type == named || strcmp(word, "all") == 0))
            chosen[t] = known = true;
    }
    return known;
}

static bool parse_to(struct bench *b, const char *word)
{
    return parse_type(b->to, word);
}

static bool parse_from(struct bench *b, const char *word)
{
    return parse_type(b->from, word);
}

/* "4K", up to `end`: bytes, from 1K on; 0 if it is no such size. */
static size_t parse_bytes(const char *word, const char *end)
{
    static const char units[] = "KMG";
    char *after;
    errno = 0;
    const unsigned long long value = strtoull(word, &after, 10);
    int shift = 0;
    if (after < end && *after != '\0' && strchr(units, *after) != NULL)
        shift = 10 * (int)(strchr(units, *after++) - units + 1);
    const bool good = *word >= '0' && *word <= '9' && after == end && errno == 0 &&
                      value <= (1ULL << 42) >> shift && value << shift >= 1024;
    return good ? (size_t)(value << shift) : 0;
}

static bool parse_size(struct bench *b, const char *word)
{
    const char *const colon = strchr(word, ':'), *const end = word + strlen(word);
    const size_t first = parse_bytes(word, colon == NULL ? end : colon);
    const size_t last = colon == NULL ? first : parse_bytes(colon + 1, end);
    if (first == 0 || last < first)
        return false;
    bool room = true;
    for (size_t size = first; size <= last; size *= 4)
        room = room && add_value(&b->sizes, size);
    return room;
}

static bool parse_isa(struct bench *b, const char *word)
{
    const char *const named = cli_isa_named(word), *isa;
    bool known = false;
    for (size_t i = 0; (isa = taper_isa_name(i)) != NULL; i++)
        if (strcmp(word, "all") == 0 || isa == named)
            known = add_value(&b->isas, i);
    return known;
}

/* That this machine and this build of the library have. */
static long most_threads(void)
{
#ifdef TAPER_OPENMP
    return sysconf(_SC_NPROCESSORS_ONLN);
#else
    return 1;
#endif
}

static bool parse_threads(struct bench *b, const char *word)
{
    char *end;
    errno = 0;
    const long threads = strtol(word, &end, 10);
    if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || threads < 1 ||
        threads > most_threads())
        return false;
    return add_value(&b->threads, (size_t)threads);
}

enum { OP = 256, TO, FROM, SIZE, ISA, THREADS, JSON, FORCE };

static const struct option option_table[] = {
    {"op", required_argument, NULL, OP},
    {"to", required_argument, NULL, TO},
    {"from", required_argument, NULL, FROM},
    {"size", required_argument, NULL, SIZE},
    {"isa", required_argument, NULL, ISA},
    {"threads", required_argument, NULL, THREADS},
    {"json", required_argument, NULL, JSON},
    {"force", no_argument, NULL, FORCE},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* An option that is a list: what reads each word, and what one may be; NULL: see
 * refuse(). */
static const struct {
    bool (*parse)(struct bench *b, const char *word);
    const char *expected;
} lists[] = {
    {parse_op, "an operation: fill, copy, narrow, widen or all"},
    {parse_to, "a type to narrow to: " ST_NARROW_NAMES " or all"},
    {parse_from, "a type to widen from: " ST_NARROW_NAMES " or all"},
    {parse_size, "a size from 1K to 4096G, such as 256K, or two such as 4K:1G"},
    {parse_isa, NULL},
    {parse_threads, NULL},
};

/* Says what a word of the option may be. */
static int refuse(const char *command, int place, const char *word)
{
    char choices[256];
    char *const isas = cli_isa_list();
    if (place == ISA - OP)
        snprintf(choices, sizeof choices,
                 "an instruction set that can be used here: %s or all", isas);
    else if (place == THREADS - OP)
        snprintf(choices, sizeof choices, "a number of threads from 1 to %ld",
                 most_threads());
    free(isas);
    return cli_usage(command, "--%s '%s' is not %s", option_table[place].name, word,
                     lists[place].expected == NULL ? choices : lists[place].expected);
}

static int parse_list(const char *command, struct bench *b, int place, const char *list)
{
    char *const words = cli_copy(list), *rest = words;
    int code = CLI_OK;
    for (char *word; code == CLI_OK && (word = strsep(&rest, ",")) != NULL;)
        if (!lists[place].parse(b, word))
            code = refuse(command, place, word);
    free(words);
    return code;
}

/* Fills in what was not asked for. */
static void set_defaults(struct bench *b, const char *isa, bool ops, bool to, bool from)
{
    static const size_t sizes[] = {(size_t)16 << 10, (size_t)256 << 10, (size_t)4 << 20,
                                   (size_t)512 << 20};
    if (!ops) {
        b->ops[FILL] = b->ops[COPY] = !to && !from;
        b->ops[NARROW] = to || !from;
        b->ops[WIDEN] = from || !to;
    }
    if (!to)
        parse_type(b->to, "all");
    if (!from)
        parse_type(b->from, "all");
    if (b->sizes.count == 0)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            add_value(&b->sizes, sizes[i]);
    if (b->isas.count == 0)
        parse_isa(b, isa);
    if (b->threads.count == 0)
        add_value(&b->threads, 1);
    for (size_t i = 0; i < b->threads.count; i++)
        b->fastest |= b->threads.values[i] > 1;
}

static int parse_options(int argc, char **argv, struct bench *b)
{
    const char *const isa = taper_isa(); /* heeds TAPER_ISA */
    bool given[sizeof lists / sizeof *lists] = {false};
    int place = 0;
    for (int c; (c = getopt_long(argc, argv, "h", option_table, &place)) != -1;)
        switch (c) {
        case 'h':
            b->help = true;
            return CLI_OK;
        case JSON:
            b->json = optarg;
            break;
        case FORCE:
            b->force = true;
            break;
        case '?': /* getopt_long() has said what is wrong */
            return cli_usage(argv[0], "wrong option");
        default: {
            given[c - OP] = true;
            const int code = parse_list(argv[0], b, c - OP, optarg);
            if (code != CLI_OK)
                return code;
        }
        }
    if (optind != argc)
        return cli_usage(argv[0], "takes no argument, but got '%s'", argv[optind]);
    if (b->force && b->json == NULL)
        return cli_usage(argv[0], "--force is for --json");
    const bool ops = given[0], to = given[1], from = given[2];
    if (ops && ((to && !b->ops[NARROW]) || (from && !b->ops[WIDEN])))
        return cli_usage(argv[0], "--%s is for --op %s",
                         to && !b->ops[NARROW] ? "to" : "from",
                         to && !b->ops[NARROW] ? "narrow" : "widen");
    set_defaults(b, isa, ops, to, from);
    char *const ignored = cli_isa_ignored();
    if (ignored != NULL)
        cli_error("%s", ignored);
    free(ignored);
    return CLI_OK;
}

int cli_bench(int argc, char **argv)
{
    struct bench *const b = cli_alloc(1, sizeof *b);
    struct output output = {.parent = -1, .folder = -1};
    int code = parse_options(argc, argv, b);
    if (b->help) {
        fputs(help, stdout);
    } else if (code == CLI_OK) {
        code = bench(b, &output);
        output_discard(&output);
    }
    free(b);
    if (interrupt_came())
        interrupt_die();
    return code;
}
