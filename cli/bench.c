/* bench.c - `taper bench`: how fast this machine is, beside memcpy() and memset(). */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
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
    "Benchmark:\n"
    "                   those of each tenth of the rounds of a row, as its "
    "repetitions,\n"
    "                   and those of all, which the table has\n"
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

/* ---- the rows ---- */

static const double most_spread = 0.2; /* of a machine that is not busy */

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
    const struct row row = bench_make_row(op, type, size);
    const size_t half = (row.read + row.written) / 2; /* of memcpy() */
    const size_t read = op == FILL ? 1 : row.read > half ? row.read : half;
    const size_t written = row.written > half ? row.written : half;
    b->src_bytes = read > b->src_bytes ? read : b->src_bytes;
    b->dst_bytes = written > b->dst_bytes ? written : b->dst_bytes;
}

static void measure_rows(struct bench *b, enum op op, taper_dtype type, size_t size)
{
    struct row row = bench_make_row(op, type, size);
    bench_make_source(b, op == WIDEN ? type : TAPER_F32);
    for (size_t i = 0; i < b->isas.count; i++)
        for (size_t t = 0; t < b->threads.count; t++) {
            row.isa = taper_isa_name(b->isas.values[i]);
            row.threads = (int)b->threads.values[t];
            bench_must(taper_use_isa(row.isa));
            bench_must(taper_set_max_threads(row.threads));
            const struct figures figures = bench_measure(b, &row);
            progress_clear(&b->progress);
            bench_print_row(&row, size, &figures.all);
            bench_add_json(b, &row, size, &figures);
            b->apart += figures.all.spread > most_spread;
            progress_draw(&b->progress, ++b->done);
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
    if (!bench_get_memory(b))
        return CLI_FAILED;
    json_t *const context = bench_describe(b);
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
    const bool good = (b->json == NULL || bench_write_json(output, context, b->rows)) &&
                      cli_flush(b->json);
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
        if (strcmp(word, "all") == 0 || strcmp(word, bench_op_names[op]) == 0)
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
        case '?':
            return cli_see_help(argv[0]);
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
