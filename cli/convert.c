/* convert.c - `taper convert`: casts the tensors of a safetensors file or folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "interrupt.h"
#include "output.h"
#include "plan.h"
#include "progress.h"
#include "pump.h"
#include "safetensors.h"
#include "summary.h"
#include "taper/taper.h"

static const char help[] =
    "usage: taper convert IN OUT --to DTYPE [OPTION]...\n\n"
    "Casts the float tensors of IN, a safetensors file or a folder of them, to DTYPE:\n"
    "bf16 f16 f32 f8_e4m3 f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f8_e8m0 f4, or as ONNX "
    "spells\n"
    "them. Tensors of other dtypes are copied byte for byte; metadata and the order "
    "of\n"
    "tensors stay.\n\n"
    "  --no-saturate   what is too large for an 8-bit float becomes infinity or NaN, "
    "not\n"
    "                  the largest value\n"
    "  --match REGEX   cast only tensors whose name has a match (POSIX extended)\n"
    "  --keep REGEX    copy tensors whose name has a match byte for byte\n"
    "  -j N            use N threads (default: one for each CPU)\n"
    "  --dry-run       read the headers, print what would be done, write nothing\n"
    "  --force         replace OUT if it exists; it may be IN\n"
    "  -q              print nothing but errors\n"
    "  --help          print this\n\n"
    "Rounding is to nearest, ties to even, once; f8_e8m0 takes the magnitude and "
    "rounds up\n"
    "to a power of two. A tensor with an odd number of elements cannot be F4 in this\n"
    "format: it stays as it is, and the summary names it.\n\n"
    "A folder: every *.safetensors in it is converted, *.safetensors.index.json keeps "
    "its\n"
    "weight_map and gets the new total_size, other files (config.json, tokenizers) "
    "are\n"
    "copied as they are, folders inside are left out and named.\n\n"
    "OUT appears when it is complete and on disk, until then as .taper-*.tmp beside "
    "it. An\n"
    "error or an interrupt leaves nothing of it, and IN and an older OUT untouched. A\n"
    "folder is replaced only if it holds *.safetensors or nothing, and no folders.\n\n"
    "The table at the end counts, for each dtype cast:\n\n"
    "  saturated   values and infinities beyond the largest finite value of DTYPE "
    "that\n"
    "              became that value\n"
    "  to inf      finite values that became infinity\n"
    "  to NaN      numbers and infinities that became NaN\n"
    "  to zero     values other than zero that became zero\n"
    "  rel error   the largest |result - value| / |value|, both without their sign, "
    "over\n"
    "              finite values that none of the above counts; zeros are left out\n\n"
    "Exit codes: 0 done, 2 wrong usage, 3 a bad file or an input/output error. If OUT "
    "is\n"
    "complete and only the table cannot be printed, OUT stays: the code is 3, and the\n"
    "message says so.\n";

struct options {
    const char *in, *out;
    struct rules rules;
    taper_cast_options cast;
    int threads;
    bool dry_run, force, quiet, help;
};

/* A file of the input: the only one, or one in the folder. */
struct member {
    char *path, *name;
    enum { TENSORS, INDEX, OTHER } kind;
    struct st_file file; /* of the other kinds, only `fd` and `mode` are used */
    json_t *index;
    struct plan plan;
};

struct job {
    struct options options;
    bool is_folder;
    mode_t mode; /* of the folder */
    struct member *members;
    size_t count;
    struct summary summary;
    uint64_t bytes_in, bytes_out;
    double sync_seconds; /* that the disk was waited for */
};

/* ---- command line ---- */

static const struct st_dtype *target_named(const char *word)
{
    const struct st_dtype *const to = st_float_named(word);
    return to == NULL || to->type == TAPER_F64 ? NULL : to;
}

static int compile(const char *command, const char *option, const char *text,
                   regex_t *expression)
{
    const int error = regcomp(expression, text, REG_EXTENDED | REG_NOSUB);
    if (error == 0)
        return CLI_OK;
    char reason[128];
    regerror(error, expression, reason, sizeof reason);
    return cli_usage(command, "%s '%s': %s", option, text, reason);
}

static int parse_options(int argc, char **argv, struct options *o, regex_t *match,
                         regex_t *keep)
{
    enum { TO = 256, NO_SATURATE, MATCH, KEEP, DRY_RUN, FORCE };
    const struct option table[] = {
        {"to", required_argument, NULL, TO},
        {"no-saturate", no_argument, NULL, NO_SATURATE},
        {"match", required_argument, NULL, MATCH},
        {"keep", required_argument, NULL, KEEP},
        {"dry-run", no_argument, NULL, DRY_RUN},
        {"force", no_argument, NULL, FORCE},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *match_text = NULL, *keep_text = NULL;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    o->threads = cpus < 1 ? 1 : cpus > 1024 ? 1024 : (int)cpus;

    for (int c; (c = getopt_long(argc, argv, "hj:q", table, NULL)) != -1;)
        switch (c) {
        case TO:
            o->rules.to = target_named(optarg);
            if (o->rules.to == NULL)
                return cli_usage(argv[0],
                                 "--to '%s' is not a dtype to cast to: " ST_NARROW_NAMES
                                 ", f32",
                                 optarg);
            break;
        case NO_SATURATE:
            o->cast.overflow = TAPER_NO_SATURATE;
            break;
        case MATCH:
            match_text = optarg;
            break;
        case KEEP:
            keep_text = optarg;
            break;
        case 'j': {
            char *end;
            errno = 0;
            const long threads = strtol(optarg, &end, 10);
            if (end == optarg || *end != '\0' || errno != 0 || threads < 1 ||
                threads > 1024)
                return cli_usage(argv[0], "-j '%s' is not a number from 1 to 1024",
                                 optarg);
            o->threads = (int)threads;
            break;
        }
        case DRY_RUN:
            o->dry_run = true;
            break;
        case FORCE:
            o->force = true;
            break;
        case 'h':
            o->help = true;
            return CLI_OK;
        case 'q':
            o->quiet = true;
            break;
        default:
            return cli_see_help(argv[0]);
        }
    if (argc - optind != 2)
        return cli_usage(argv[0], "takes two names, IN and OUT, but got %d",
                         argc - optind);
    if (o->rules.to == NULL)
        return cli_usage(argv[0],
                         "--to is missing: which of " ST_NARROW_NAMES ", f32?");
    o->in = argv[optind];
    o->out = argv[optind + 1];
    if (o->in[0] == '\0')
        return cli_usage(argv[0], "the name of the input is empty: give one");

    int code = CLI_OK;
    if (match_text != NULL) {
        code = compile(argv[0], "--match", match_text, match);
        o->rules.match = code == CLI_OK ? match : NULL;
    }
    if (code == CLI_OK && keep_text != NULL) {
        code = compile(argv[0], "--keep", keep_text, keep);
        o->rules.keep = code == CLI_OK ? keep : NULL;
    }
    return code;
}

/* ---- the input ---- */

static struct member *add_member(struct job *job, char *path, const char *name)
{
    struct member *const m = job->members + job->count++;
    m->path = path;
    m->name = cli_copy(name);
    m->file.fd = -1;
    m->kind = !job->is_folder || cli_ends_with(name, ".safetensors") ? TENSORS
              : cli_ends_with(name, ".safetensors.index.json")       ? INDEX
                                                                     : OTHER;
    return m;
}

static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *const path = cli_alloc(size, 1);
    const char *const slash = cli_ends_with(folder, "/") ? "" : "/";
    snprintf(path, size, "%s%s%s", folder, slash, name);
    return path;
}

/* Enters the files of the folder, in the order of their names. */
static bool list_folder(struct job *job)
{
    struct dirent **entries;
    const int found = scandir(job->options.in, &entries, NULL, alphasort);
    if (found < 0) {
        cli_error("%s: cannot be read: %s", job->options.in, strerror(errno));
        return false;
    }
    bool good = true, tensors = false;
    job->members = cli_alloc((size_t)found, sizeof *job->members);
    for (int i = 0; i < found; i++) {
        const char *const name = entries[i]->d_name;
        char *const path = join(job->options.in, name);
        struct stat stat_;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            free(path);
        } else if (stat(path, &stat_) !=
                   0) { /* links are followed, as caches use them */
            st_fault(path, NULL, "cannot be read: %s", strerror(errno));
            free(path);
            good = false;
        } else if (!S_ISREG(stat_.st_mode)) {
            summary_note(&job->summary, "left out: %s is no file", path);
            free(path);
        } else {
            tensors |= add_member(job, path, name)->kind == TENSORS;
        }
        free(entries[i]);
    }
    free(entries);
    if (good && !tensors)
        cli_error("%s: holds no .safetensors file", job->options.in);
    return good && tensors;
}

static bool open_member(struct member *m)
{
    if (m->kind == TENSORS)
        return st_open(&m->file, m->path);

    struct stat stat;
    m->file.fd = open(m->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (m->file.fd < 0 || fstat(m->file.fd, &stat) != 0) {
        st_fault(m->path, NULL, "cannot be opened: %s", strerror(errno));
        return false;
    }
    m->file.mode = stat.st_mode & 0777;
    plan_copy(&m->plan, (uint64_t)stat.st_size);
    if (m->kind == OTHER)
        return true;

    json_error_t error;
    m->index = json_load_file(m->path, JSON_REJECT_DUPLICATES, &error);
    if (m->index == NULL) {
        st_fault(m->path, NULL, "is not JSON: %s, line %d", error.text, error.line);
        return false;
    }
    if (!json_is_object(json_object_get(m->index, "weight_map"))) {
        st_fault(m->path, NULL, "has no object called \"weight_map\"");
        return false;
    }
    return true;
}

static const struct member *member_named(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->count; i++)
        if (job->members[i].kind == TENSORS && strcmp(job->members[i].name, name) == 0)
            return job->members + i;
    return NULL;
}

/* Checks that each tensor is where the index says and writes the index anew, with the
 * bytes that the tensors will have. */
static bool plan_index(const struct job *job, struct member *m)
{
    const char *tensor;
    json_t *value;
    json_int_t total = 0;
    json_object_foreach(json_object_get(m->index, "weight_map"), tensor, value)
    {
        const char *const name = json_string_value(value);
        const struct member *const in = name == NULL ? NULL : member_named(job, name);
        if (in == NULL) {
            st_fault(m->path, tensor, "is said to be in \"%s\", which is not there",
                     name == NULL ? "?" : name);
            return false;
        }
        const json_t *const entry = json_object_get(in->file.header, tensor);
        if (entry == NULL) {
            st_fault(m->path, tensor,
                     "is said to be in \"%s\", which has no such tensor", name);
            return false;
        }
        const json_t *const offsets = json_object_get(entry, "data_offsets");
        total += json_integer_value(json_array_get(offsets, 1)) -
                 json_integer_value(json_array_get(offsets, 0));
    }
    json_t *const metadata = json_object_get(m->index, "metadata");
    if (json_object_get(metadata, "total_size") != NULL)
        json_object_set_new(metadata, "total_size", json_integer(total));

    char *const text = json_dumps(m->index, JSON_INDENT(2));
    if (text == NULL) {
        cli_error("out of memory");
        return false;
    }
    plan_free(&m->plan);
    m->plan = (struct plan){.header = text, .header_bytes = strlen(text)};
    m->plan.bytes = m->plan.header_bytes;
    return true;
}

/* Opens and checks all files and plans each, before anything is written. */
static bool plan_job(struct job *job)
{
    for (size_t i = 0; i < job->count; i++)
        if (!open_member(job->members + i))
            return false;
    for (size_t i = 0; i < job->count; i++) {
        struct member *const m = job->members + i;
        if (m->kind == TENSORS)
            plan_make(&m->plan, &m->file, &job->options.rules, &job->summary);
    }
    for (size_t i = 0; i < job->count; i++) {
        struct member *const m = job->members + i;
        if (m->kind == INDEX && !plan_index(job, m))
            return false;
        for (size_t r = 0; r < m->plan.count; r++)
            job->bytes_in +=
                pump_bytes(m->plan.ranges[r].from, m->plan.ranges[r].count);
        job->bytes_out += m->plan.bytes;
    }
    const struct rules *const rules = &job->options.rules;
    if (rules->match != NULL && rules->matched == 0)
        summary_note(&job->summary, "--match fits the name of no tensor");
    if (rules->keep != NULL && rules->kept == 0)
        summary_note(&job->summary, "--keep fits the name of no tensor");
    return true;
}

/* ---- the output ---- */

static bool write_member(struct job *job, const struct member *m, struct output *output,
                         struct progress *progress)
{
    const int fd = output_open(output, m->name, m->file.mode, (off_t)m->plan.bytes);
    if (fd < 0)
        return false;
    const struct pump pump = {
        .in = m->file.fd,
        .out = fd,
        .in_path = m->path,
        .out_path = output->path,
        .ranges = m->plan.ranges,
        .count = m->plan.count,
        .options = job->options.cast,
        .threads = job->options.threads,
        .progress = progress,
    };
    if (!output_write(output, fd, m->plan.header, m->plan.header_bytes) ||
        !pump_run(&pump)) {
        close(fd);
        return false;
    }
    const double start = cli_seconds();
    const bool synced = output_close(output, fd);
    job->sync_seconds += cli_seconds() - start;
    return synced;
}

static bool write_job(struct job *job, struct output *output)
{
    struct progress progress;
    progress_start(&progress, job->bytes_in, job->options.quiet);
    bool good = !job->is_folder || output_make_folder(output, job->mode);
    for (size_t i = 0; good && i < job->count; i++)
        good = write_member(job, job->members + i, output, &progress);
    progress_clear(&progress);
    if (!good || interrupt_came())
        return false;

    const double start = cli_seconds();
    good = output_publish(output);
    job->sync_seconds += cli_seconds() - start;
    return good;
}

/* Writes what was planned and prints the summary. */
static int carry_out(struct job *job, struct output *output)
{
    /* The pieces are what runs in parallel here. */
    if (taper_set_max_threads(1) != TAPER_OK) {
        cli_error("taper_set_max_threads() failed");
        return CLI_FAILED;
    }
    interrupt_catch();
    const double start = cli_seconds();
    if (!write_job(job, output))
        return CLI_FAILED;
    const double seconds = cli_seconds() - start - job->sync_seconds;
    if (!job->options.quiet) {
        summary_print(&job->summary, true);
        printf(
            "%s: %.3f GB became %.3f GB in %.2f s (%.2f GB/s), and the disk took %.2f "
            "s more\n",
            output->path, (double)job->bytes_in * 1e-9, (double)job->bytes_out * 1e-9,
            seconds, (double)job->bytes_in * 1e-9 / seconds, job->sync_seconds);
    }
    return cli_flush(output->path) ? CLI_OK : CLI_FAILED;
}

static int run(struct job *job, struct output *output)
{
    struct stat stat_;
    if (stat(job->options.in, &stat_) != 0) {
        cli_error("%s: cannot be opened: %s", job->options.in, strerror(errno));
        return CLI_FAILED;
    }
    job->is_folder = S_ISDIR(stat_.st_mode);
    job->mode = stat_.st_mode & 0777;
    const int code =
        output_check(output, job->options.out, job->is_folder, job->options.force);
    if (code != CLI_OK)
        return code;

    if (job->is_folder) {
        if (!list_folder(job))
            return CLI_FAILED;
    } else {
        job->members = cli_alloc(1, sizeof *job->members);
        add_member(job, cli_copy(job->options.in), job->options.in);
    }
    if (!plan_job(job))
        return CLI_FAILED;
    if (job->options.dry_run) {
        if (!job->options.quiet)
            summary_print(&job->summary, false);
        return CLI_OK;
    }
    return carry_out(job, output);
}

static void free_job(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        struct member *const m = job->members + i;
        st_close(&m->file);
        json_decref(m->index);
        plan_free(&m->plan);
        free(m->path);
        free(m->name);
    }
    free(job->members);
    summary_free(&job->summary);
}

int cli_convert(int argc, char **argv)
{
    struct job job = {0};
    struct output output = {.parent = -1, .folder = -1};
    regex_t match, keep;
    int code = parse_options(argc, argv, &job.options, &match, &keep);
    job.summary.to = job.options.rules.to;
    if (job.options.help) {
        fputs(help, stdout);
    } else if (code == CLI_OK && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        cli_error(
            "safetensors files are little-endian and this machine is not: convert "
            "%s on one that is",
            job.options.in);
        code = CLI_FAILED;
    } else if (code == CLI_OK) {
        code = run(&job, &output);
        output_discard(&output);
    }
    if (job.options.rules.match != NULL)
        regfree(&match);
    if (job.options.rules.keep != NULL)
        regfree(&keep);
    free_job(&job);
    if (interrupt_came())
        interrupt_die();
    return code;
}
