/* verify.c - `taper verify`: every input of every cast, with every instruction set. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "output.h"
#include "progress.h"
#include "safetensors.h"
#include "sweep.h"
#include "taper/taper.h"

static const char help[] =
    "usage: taper verify [OPTION]...\n\n"
    "Tries every input of every cast with every instruction set that can be used "
    "here,\n"
    "scalar first, and compares each bit with an oracle that shares no code with the\n"
    "library, so that all that are ok agree with each other. From float that is all "
    "2^32\n"
    "patterns, from smaller types every code, from double a fixed set of numbers near\n"
    "every code and midpoint.\n\n"
    "  --op OP           narrow (float to 16 bits and less), widen (back), cast (all "
    "other\n"
    "                    pairs), or all\n"
    "  --to TYPE         only casts to TYPE, and widening from it: bfloat16 or bf16,\n"
    "                    float8e4m3fn or f8_e4m3, ..., or all\n"
    "  --isa NAME        only with this instruction set, or all\n"
    "  --saturate WHICH  on, off or both: 8-bit targets\n"
    "  --round MODE      up, down, nearest or all: f8_e8m0\n"
    "  --from BITS       the first pattern of float to try, such as 0x3f800000\n"
    "  --count N         how many patterns of float to try\n"
    "  --hostile         call with flush to zero, denormals are zero and rounding up "
    "set\n"
    "                    in the floating-point unit\n"
    "  --hashes FILE     compare what comes out with the hashes in FILE, too\n"
    "  --no-oracle       compare with the hashes only: for slow machines\n"
    "  --write-hashes FILE   write such a file if there is no difference\n"
    "  --force           replace the FILE of --write-hashes\n"
    "  --threads N       use N threads (default: one for each CPU)\n"
    "  -q                print only what fails, and no progress\n"
    "  --help            print this\n\n"
    "What is not given is all or both. A line for each cast and instruction set tells "
    "how\n"
    "many inputs were tried, the hash of the results, which is the same on every "
    "machine,\n"
    "seconds, and ok with the line of FILE if there is one, or FAILED with the bits of "
    "the\n"
    "first input that differs, of what it gave and of what it should. Every call also "
    "has\n"
    "to leave the floating-point unit as it was.\n\n"
    "Exit codes: 0 all ok, 1 something failed, 2 wrong usage, 3 a bad file or an "
    "output\n"
    "error.\n";

enum { OPS = 3, BOTH = -1 };
static const char *const op_names[OPS] = {"narrow", "widen", "cast"};
static const char *const rounding_names[] = {"up", "down", "nearest"};
static const uint64_t patterns = UINT64_C(1) << 32;

/* A cast, what the first instruction set made of it, and its line in the file. */
struct conversion {
    int op;
    taper_dtype to, from;
    taper_cast_options options;
    bool chosen;
    const char *isa; /* NULL before there are these */
    uint64_t inputs, hash;
    unsigned long line; /* 0 if there is none */
    uint64_t line_inputs, line_hash;
};

enum { MAX_CONVERSIONS = 512 };

struct verify {
    int op;         /* BOTH for each of them, */
    taper_dtype to; /* as is 0, */
    int overflow, rounding;
    const char *isa; /* and NULL */
    uint64_t first, count;
    bool ranged, hostile, no_oracle, force, quiet, help;
    int threads;
    const char *hashes, *write_hashes;
    struct conversion conversions[MAX_CONVERSIONS];
    size_t conversion_count, chosen;
    unsigned long sweeps, failures, lines_checked, lines;
    struct progress progress;
};

/* ---- the floating-point unit: control bits, and flags that stay once raised ---- */

#if defined(__x86_64__)
#include <xmmintrin.h>

enum { HAVE_HOSTILE = 1 };
struct float_state {
    unsigned mxcsr;
};

/* FTZ, DAZ and rounding up; otherwise the default; no flags, and no traps. */
static struct float_state wanted_state(bool hostile)
{
    return (struct float_state){hostile ? 0x8000 | 0x0040 | 0x4000 | 0x1f80 : 0x1f80};
}

static struct float_state get_state(void)
{
    return (struct float_state){_mm_getcsr()};
}

static void set_state(struct float_state state)
{
    _mm_setcsr(state.mxcsr);
}

static bool same_state(struct float_state a, struct float_state b)
{
    return a.mxcsr == b.mxcsr;
}

#elif defined(__aarch64__)

enum { HAVE_HOSTILE = 1 };
struct float_state {
    uint64_t fpcr, fpsr;
};

/* FZ and rounding up, and what x86 does not have: AHP and DN. */
static struct float_state wanted_state(bool hostile)
{
    enum { AHP = 1 << 26, DN = 1 << 25, FZ = 1 << 24, UP = 1 << 22 };
    return (struct float_state){hostile ? AHP | DN | FZ | UP : 0, 0};
}

static struct float_state get_state(void)
{
    struct float_state state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state.fpcr));
    __asm__ volatile("mrs %0, fpsr" : "=r"(state.fpsr));
    return state;
}

static void set_state(struct float_state state)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(state.fpcr));
    __asm__ volatile("msr fpsr, %0" : : "r"(state.fpsr));
}

static bool same_state(struct float_state a, struct float_state b)
{
    return a.fpcr == b.fpcr && a.fpsr == b.fpsr;
}

#else

enum { HAVE_HOSTILE = 0 };
struct float_state {
    int unknown;
};

static struct float_state wanted_state(bool hostile)
{
    return (struct float_state){hostile};
}

static struct float_state get_state(void)
{
    return (struct float_state){0};
}

static void set_state(struct float_state state)
{
    (void)state;
}

static bool same_state(struct float_state a, struct float_state b)
{
    return a.unknown == b.unknown;
}

#endif

/* ---- the casts ---- */

static int op_of(taper_dtype to, taper_dtype from)
{
    return from == TAPER_F32 && oracle_bits(to) <= 16   ? 0
           : to == TAPER_F32 && oracle_bits(from) <= 16 ? 1
                                                        : 2;
}

static bool has_overflow(const struct conversion *c)
{
    return oracle_bits(c->to) == 8;
}

static bool has_rounding(const struct conversion *c)
{
    return c->to == TAPER_F8E8M0;
}

static bool is_chosen(const struct verify *v, const struct conversion *c)
{
    return (v->op == BOTH || v->op == c->op) &&
           (v->to == 0 || v->to == c->to || (c->op == 1 && v->to == c->from)) &&
           (v->overflow == BOTH || !has_overflow(c) ||
            v->overflow == (int)c->options.overflow) &&
           (v->rounding == BOTH || !has_rounding(c) ||
            v->rounding == (int)c->options.rounding);
}

static void add_options(struct verify *v, struct conversion c)
{
    for (int overflow = 0; overflow < (has_overflow(&c) ? 2 : 1); overflow++)
        for (int rounding = 0; rounding < (has_rounding(&c) ? 3 : 1); rounding++) {
            c.options = (taper_cast_options){(taper_overflow)overflow,
                                             (taper_rounding)rounding};
            c.chosen = is_chosen(v, &c);
            v->chosen += c.chosen;
            v->conversions[v->conversion_count++] = c;
        }
}

static void list_conversions(struct verify *v)
{
    for (int op = 0; op < OPS; op++)
        for (size_t to = 0; to < ST_DTYPES; to++)
            for (size_t from = 0; from < ST_DTYPES; from++) {
                const struct conversion c = {
                    .op = op, .to = st_dtypes[to].type, .from = st_dtypes[from].type};
                if (c.to != 0 && c.from != 0 && c.to != c.from &&
                    op_of(c.to, c.from) == op)
                    add_options(v, c);
            }
}

/* Whether --from and --count are about it. */
static bool is_ranged(const struct conversion *c)
{
    return c->from == TAPER_F32;
}

enum { NAME_SIZE = 96, OPTIONS_SIZE = 32 };

static const char *options_text(const struct conversion *c, char text[OPTIONS_SIZE])
{
    const char *const overflow =
        c->options.overflow == TAPER_SATURATE ? "saturate" : "no-saturate";
    if (has_rounding(c))
        snprintf(text, OPTIONS_SIZE, "%s,%s", overflow,
                 rounding_names[c->options.rounding]);
    else
        snprintf(text, OPTIONS_SIZE, "%s", has_overflow(c) ? overflow : "-");
    return text;
}

/* The words that stand for it in the file of hashes. */
static const char *name_text(const struct conversion *c, char text[NAME_SIZE])
{
    char options[OPTIONS_SIZE];
    snprintf(text, NAME_SIZE, "%s %s %s %s", op_names[c->op], taper_dtype_name(c->from),
             taper_dtype_name(c->to), options_text(c, options));
    return text;
}

/* ---- the file of hashes ---- */

static struct conversion *conversion_named(struct verify *v, const char *name)
{
    char text[NAME_SIZE];
    for (size_t i = 0; i < v->conversion_count; i++)
        if (strcmp(name_text(v->conversions + i, text), name) == 0)
            return v->conversions + i;
    return NULL;
}

/* NULL if the line is good, else what is wrong. */
static const char *read_line(struct verify *v, const char *line, unsigned long number)
{
    char op[16], from[24], to[24], options[24], name[NAME_SIZE], more;
    uint64_t inputs, hash;
    if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0')
        return NULL;
    if (sscanf(line, "%15s %23s %23s %23s %" SCNu64 " %16" SCNx64 " %c", op, from, to,
               options, &inputs, &hash, &more) != 6)
        return "is not \"OP FROM TO OPTIONS INPUTS HASH\"";
    snprintf(name, sizeof name, "%s %s %s %s", op, from, to, options);
    struct conversion *const c = conversion_named(v, name);
    if (c == NULL)
        return "names no conversion of this version";
    if (c->line != 0)
        return "names a conversion again";
    c->line = number;
    c->line_inputs = inputs;
    c->line_hash = hash;
    v->lines++;
    return NULL;
}

static bool read_hashes(struct verify *v)
{
    FILE *const file = fopen(v->hashes, "r");
    char line[256];
    const char *fault = NULL;
    unsigned long number = 0;
    if (file == NULL) {
        cli_error("%s: cannot be opened: %s", v->hashes, strerror(errno));
        return false;
    }
    while (fault == NULL && fgets(line, sizeof line, file) != NULL) {
        fault = read_line(v, line, ++number);
        if (fault != NULL)
            cli_error("%s: line %lu %s", v->hashes, number, fault);
    }
    if (ferror(file)) {
        cli_error("%s: cannot be read: %s", v->hashes, strerror(errno));
        fault = "";
    }
    fclose(file);
    return fault == NULL;
}

/* Writes what read_line() reads. */
static bool write_hashes(const struct verify *v, struct output *output)
{
    char *text = NULL, name[NAME_SIZE];
    size_t bytes;
    FILE *const file = open_memstream(&text, &bytes);
    bool good = file != NULL;
    if (good) {
        fprintf(file, "# What `taper verify` gets on every machine; written by\n"
                      "# `taper verify --write-hashes`. sweep.h tells what is hashed.\n"
                      "# OP FROM TO OPTIONS INPUTS HASH\n");
        for (size_t i = 0; i < v->conversion_count; i++)
            if (v->conversions[i].chosen)
                fprintf(file, "%s %" PRIu64 " %016" PRIx64 "\n",
                        name_text(v->conversions + i, name), v->conversions[i].inputs,
                        v->conversions[i].hash);
        const bool failed = ferror(file);
        good = fclose(file) == 0 && !failed;
    }
    if (!good)
        cli_error("out of memory");
    good = good && output_text(output, text);
    free(text);
    return good;
}

/* ---- sweeps ---- */

/* What the threads of a sweep call. */
struct call {
    const struct conversion *conversion;
    struct float_state state;
    atomic_bool *disturbed; /* set if a call has changed the state */
};

static void run_call(const void *context, void *dst, const void *src, size_t n)
{
    const struct call *const call = context;
    const struct conversion *const c = call->conversion;
    const struct float_state host = get_state();
    set_state(call->state);
    const taper_status status =
        c->op == 0   ? taper_narrow(c->to, dst, src, n, &c->options)
        : c->op == 1 ? taper_widen(c->from, dst, src, n)
                     : taper_cast(c->to, dst, c->from, src, n, &c->options);
    const struct float_state after = get_state();
    set_state(host);
    if (!same_state(call->state, after))
        atomic_store(call->disturbed, true);
    if (status != TAPER_OK) {
        cli_error("%s", taper_status_text(status));
        exit(CLI_FAILED);
    }
}

static void draw(void *context, uint64_t inputs)
{
    progress_draw(context, inputs * 4);
}

/* Prints the line of a sweep. */
static void report(struct verify *v, const struct conversion *c, const char *isa,
                   const struct sweep_result *result, bool disturbed, double seconds)
{
    char verdict[256] = "ok", options[OPTIONS_SIZE];
    const size_t size = sizeof verdict;
    const int in = (int)oracle_bits(c->from) / 4, out = (int)oracle_bits(c->to) / 4;
    const bool filed = v->hashes != NULL;

    bool failed = true;
    if (result->differs)
        snprintf(verdict, size,
                 "FAILED input=%0*" PRIx64 " got=%0*" PRIx64 " want=%0*" PRIx64, in,
                 result->input, out, result->got, out, result->want);
    else if (disturbed)
        snprintf(verdict, size, "FAILED a call changed the floating-point unit");
    else if (result->hash != c->hash)
        snprintf(verdict, size, "FAILED the hash of %s is another", c->isa);
    else if (filed && c->line == 0)
        snprintf(verdict, size, "FAILED it has no line in %s", v->hashes);
    else if (filed &&
             (c->line_hash != result->hash || c->line_inputs != result->inputs))
        snprintf(verdict, size, "FAILED %s:%lu has %" PRIu64 " %016" PRIx64, v->hashes,
                 c->line, c->line_inputs, c->line_hash);
    else
        failed = false;
    if (!failed && filed)
        snprintf(verdict, size, "ok line %lu", c->line);

    v->sweeps++;
    v->failures += failed;
    if (v->quiet && !failed)
        return;
    progress_clear(&v->progress);
    printf("%-6s %-14s %-14s %-19s %-6s %10" PRIu64 " %016" PRIx64 " %7.2f  %s\n",
           op_names[c->op], taper_dtype_name(c->from), taper_dtype_name(c->to),
           options_text(c, options), isa, result->inputs, result->hash, seconds,
           cli_printable(verdict));
    fflush(stdout);
}

static void sweep_with(struct verify *v, struct conversion *c, const char *isa,
                       const struct oracle_step *steps, size_t step_count)
{
    atomic_bool disturbed = false;
    const struct call call = {c, wanted_state(v->hostile), &disturbed};
    const struct sweep sweep = {
        .to = c->to,
        .from = c->from,
        .options = c->options,
        .run = run_call,
        .context = &call,
        .steps = steps,
        .step_count = step_count,
        .hash_only = v->no_oracle,
    };
    struct sweep_result result;
    const double start = cli_seconds();
    if (is_ranged(c)) {
        sweep_f32(&sweep, v->first, v->count, v->threads, draw, &v->progress, &result);
        v->progress.before += v->count * 4;
    } else if (c->from == TAPER_F64) {
        sweep_f64(&sweep, &result);
    } else {
        sweep_codes(&sweep, &result);
    }
    if (c->isa == NULL && !result.differs) {
        c->isa = isa;
        c->inputs = result.inputs;
        c->hash = result.hash;
    }
    report(v, c, isa, &result, atomic_load(&disturbed), cli_seconds() - start);
}

static void verify_conversion(struct verify *v, struct conversion *c)
{
    static struct oracle_step steps[ORACLE_MAX_STEPS];
    const size_t step_count =
        c->op == 0 && !v->no_oracle ? oracle_steps(c->to, c->options, steps) : 0;
    size_t i = 0;
    while (taper_isa_name(i) != NULL)
        i++;
    while (i > 0) { /* scalar is the last one, and the first one here */
        const char *const isa = taper_isa_name(--i);
        if ((v->isa == NULL || strcmp(v->isa, isa) == 0) &&
            taper_use_isa(isa) == TAPER_OK)
            sweep_with(v, c, isa, steps, step_count);
    }
    v->lines_checked += c->line != 0;
}

static uint64_t total_bytes(const struct verify *v)
{
    uint64_t sweeps = 0, isas = 0;
    for (size_t i = 0; i < v->conversion_count; i++)
        sweeps += v->conversions[i].chosen && is_ranged(v->conversions + i);
    for (size_t i = 0; taper_isa_name(i) != NULL; i++)
        isas += v->isa == NULL || strcmp(v->isa, taper_isa_name(i)) == 0;
    return sweeps * isas * v->count * 4;
}

static int verify(struct verify *v, struct output *output)
{
    if (v->write_hashes != NULL) {
        const int code = output_check(output, v->write_hashes, false, v->force);
        if (code != CLI_OK)
            return code;
    }
    if (v->hashes != NULL && !read_hashes(v))
        return CLI_FAILED;
    if (taper_set_max_threads(1) != TAPER_OK) { /* the sweeps have threads */
        cli_error("taper_set_max_threads() failed");
        return CLI_FAILED;
    }
    const double start = cli_seconds();
    if (!v->quiet)
        printf("%-6s %-14s %-14s %-19s %-6s %10s %-16s %7s  %s\n", "op", "from", "to",
               "options", "isa", "inputs", "hash", "seconds", "result");
    progress_start(&v->progress, total_bytes(v), v->quiet);
    for (size_t i = 0; i < v->conversion_count; i++)
        if (v->conversions[i].chosen)
            verify_conversion(v, v->conversions + i);
    progress_clear(&v->progress);

    if (!v->quiet)
        printf("%zu casts, %lu sweeps, %s state: %lu failed, %.1f s\n", v->chosen,
               v->sweeps, v->hostile ? "hostile" : "default", v->failures,
               cli_seconds() - start);
    if (!v->quiet && v->hashes != NULL)
        printf("%s: %lu of %lu lines checked\n", v->hashes, v->lines_checked, v->lines);
    if (v->failures != 0)
        return CLI_DIFFERS;
    if (v->write_hashes != NULL && !write_hashes(v, output))
        return CLI_FAILED;
    return cli_flush(v->write_hashes) ? CLI_OK : CLI_FAILED;
}

/* ---- command line ---- */

static bool parse_number(const char *text, uint64_t least, uint64_t most,
                         uint64_t *number)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 0);
    *number = value;
    return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
           value >= least && value <= most;
}

/* Sets `choice` to the place of `word` in `words`, or to BOTH if it is `all`. */
static bool parse_choice(const char *word, const char *const *words, int count,
                         const char *all, int *choice)
{
    *choice = BOTH;
    for (int i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            *choice = i;
    return *choice != BOTH || strcmp(word, all) == 0;
}

static bool parse_type(const char *word, taper_dtype *to)
{
    const struct st_dtype *const type = st_float_named(word);
    *to = type == NULL ? 0 : type->type;
    return type != NULL || strcmp(word, "all") == 0;
}

static bool parse_isa(const char *word, const char **isa)
{
    *isa = cli_isa_named(word);
    return *isa != NULL || strcmp(word, "all") == 0;
}

enum {
    OP = 256,
    TO,
    ISA,
    SATURATE,
    ROUND,
    FROM,
    COUNT,
    HOSTILE,
    HASHES,
    NO_ORACLE,
    WRITE_HASHES,
    FORCE,
    THREADS
};

static const struct option option_table[] = {
    {"op", required_argument, NULL, OP},
    {"to", required_argument, NULL, TO},
    {"isa", required_argument, NULL, ISA},
    {"saturate", required_argument, NULL, SATURATE},
    {"round", required_argument, NULL, ROUND},
    {"from", required_argument, NULL, FROM},
    {"count", required_argument, NULL, COUNT},
    {"hostile", no_argument, NULL, HOSTILE},
    {"hashes", required_argument, NULL, HASHES},
    {"no-oracle", no_argument, NULL, NO_ORACLE},
    {"write-hashes", required_argument, NULL, WRITE_HASHES},
    {"force", no_argument, NULL, FORCE},
    {"threads", required_argument, NULL, THREADS},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Takes an option that has a value. False if the value is wrong. */
static bool parse_value(struct verify *v, int option, const char *value)
{
    static const char *const switches[] = {"on", "off"}; /* as taper_overflow */
    uint64_t threads;
    switch (option) {
    case OP:
        return parse_choice(value, op_names, OPS, "all", &v->op);
    case TO:
        return parse_type(value, &v->to);
    case ISA:
        return parse_isa(value, &v->isa);
    case SATURATE:
        return parse_choice(value, switches, 2, "both", &v->overflow);
    case ROUND:
        return parse_choice(value, rounding_names, 3, "all", &v->rounding);
    case FROM:
        v->ranged = true;
        return parse_number(value, 0, patterns - 1, &v->first);
    case COUNT:
        v->ranged = true;
        return parse_number(value, 1, patterns, &v->count);
    case HASHES:
        v->hashes = value;
        return true;
    case WRITE_HASHES:
        v->write_hashes = value;
        return true;
    default: /* THREADS */
        if (!parse_number(value, 1, 256, &threads))
            return false;
        v->threads = (int)threads;
        return true;
    }
}

/* Says what the value of the option may be. */
static int refuse(const char *command, const char *name, int option, const char *value)
{
    char *const isas = cli_isa_list();
    char isa[256];
    snprintf(isa, sizeof isa, "an instruction set that can be used here: %s or all",
             isas);
    free(isas);
    return cli_usage(command, "--%s '%s' is not %s", name, value,
                     option == OP    ? "an operation: narrow, widen, cast or all"
                     : option == TO  ? "a type: f64, f32, " ST_NARROW_NAMES " or all"
                     : option == ISA ? isa
                     : option == SATURATE ? "on, off or both"
                     : option == ROUND    ? "up, down, nearest or all"
                     : option == FROM     ? "a pattern from 0 to 0xffffffff"
                     : option == COUNT    ? "a number from 1 to 4294967296"
                                          : "a number of threads from 1 to 256");
}

static int parse_options(int argc, char **argv, struct verify *v)
{
    int place = 0;
    for (int c; (c = getopt_long(argc, argv, "hq", option_table, &place)) != -1;)
        switch (c) {
        case 'h':
            v->help = true;
            return CLI_OK;
        case 'q':
            v->quiet = true;
            break;
        case HOSTILE:
            v->hostile = true;
            break;
        case NO_ORACLE:
            v->no_oracle = true;
            break;
        case FORCE:
            v->force = true;
            break;
        case '?':
            return cli_see_help(argv[0]);
        default:
            if (!parse_value(v, c, optarg))
                return refuse(argv[0], option_table[place].name, c, optarg);
        }
    if (optind != argc)
        return cli_usage(argv[0], "takes no argument, but got '%s'", argv[optind]);
    if (v->hostile && !HAVE_HOSTILE)
        return cli_usage(argv[0], "--hostile is not known for this CPU");
    if (v->ranged && (v->hashes != NULL || v->write_hashes != NULL))
        return cli_usage(argv[0],
                         "hashes are of all patterns: leave out --from and --count");
    if (v->no_oracle && v->hashes == NULL)
        return cli_usage(argv[0], "--no-oracle needs --hashes");
    if (v->force && v->write_hashes == NULL)
        return cli_usage(argv[0], "--force is for --write-hashes");
    if (v->count == 0)
        v->count = patterns - v->first;
    if (v->count > patterns - v->first)
        return cli_usage(argv[0], "--from and --count reach past the last pattern");
    list_conversions(v);
    if (v->chosen == 0)
        return cli_usage(argv[0], "these options leave no cast");
    return CLI_OK;
}

int cli_verify(int argc, char **argv)
{
    struct verify *const v = cli_alloc(1, sizeof *v);
    struct output output = {.parent = -1, .folder = -1};
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    v->op = v->overflow = v->rounding = BOTH;
    v->threads = cpus < 1 ? 1 : cpus > 256 ? 256 : (int)cpus;
    int code = parse_options(argc, argv, v);
    if (v->help) {
        fputs(help, stdout);
    } else if (code == CLI_OK) {
        code = verify(v, &output);
        output_discard(&output);
    }
    free(v);
    if (interrupt_came())
        interrupt_die();
    return code;
}
