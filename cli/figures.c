/* figures.c - what `taper bench` prints and writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "cli.h"

const char *const bench_op_names[OPS] = {"fill", "copy", "narrow", "widen"};

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

json_t *bench_describe(const struct bench *b)
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

static const char *rival_name(enum op op)
{
    return op == FILL ? "memset" : "memcpy";
}

void bench_print_row(const struct row *row, size_t size, const struct result *r)
{
    char text[SIZE_TEXT], per_cycle[16] = "-";
    if (r->per_cycle != 0)
        snprintf(per_cycle, sizeof per_cycle, "%.2f", r->per_cycle);
    printf("%-6s %-14s %-6s %7d %6s %8.2f %6.1f%% %8s %6.2f x %s\n",
           bench_op_names[row->op], taper_dtype_name(row->type), row->isa, row->threads,
           size_text(size, text),
           (double)(row->read + row->written) / r->seconds * 1e-9, 100 * r->spread,
           per_cycle, r->ratio, rival_name(row->op));
    fflush(stdout);
}

/* As taper_bench of bench/ names rows and counters. */
static json_t *make_entry(const struct row *row, const char *name, size_t size,
                          const struct result *r)
{
    json_t *const entry =
        json_pack("{s:s, s:s, s:i, s:I, s:I, s:f, s:f, s:s, s:f, s:f, s:f, s:f}",
                  "name", name, "run_name", name, "threads", row->threads, "size",
                  (json_int_t)size, "iterations", (json_int_t)r->rounds, "real_time",
                  r->seconds * 1e9, "cpu_time", r->seconds * 1e9, "time_unit", "ns",
                  "bytes_per_second", (double)(row->read + row->written) / r->seconds,
                  "items_per_second", (double)row->n / r->seconds, "spread", r->spread,
                  row->op == FILL ? "memset" : "M", r->ratio);
    if (r->per_cycle != 0)
        json_object_set_new(entry, "el/cycle", json_real(r->per_cycle));
    return entry;
}

void bench_add_json(struct bench *b, const struct row *row, size_t size,
                    const struct figures *figures)
{
    char name[128];
    const int length =
        snprintf(name, sizeof name, "%s/%s/%s/%zu", bench_op_names[row->op],
                 taper_dtype_name(row->type), row->isa, row->n);
    if (row->threads > 1)
        snprintf(name + length, sizeof name - (size_t)length, "/threads:%d",
                 row->threads);
    for (size_t i = 0; i < figures->count; i++) {
        json_t *const entry = make_entry(row, name, size, figures->parts + i);
        json_object_set_new(entry, "run_type", json_string("iteration"));
        json_object_set_new(entry, "repetitions",
                            json_integer((json_int_t)figures->count));
        json_object_set_new(entry, "repetition_index", json_integer((json_int_t)i));
        json_array_append_new(b->rows, entry);
    }
    char all[160];
    const char *const kind = b->fastest ? "fastest" : "median";
    snprintf(all, sizeof all, "%s_%s", name, kind);
    json_t *const entry = make_entry(row, name, size, &figures->all);
    json_object_set_new(entry, "name", json_string(all));
    json_object_set_new(entry, "run_type", json_string("aggregate"));
    json_object_set_new(entry, "repetitions", json_integer((json_int_t)figures->count));
    json_object_set_new(entry, "aggregate_name", json_string(kind));
    json_object_set_new(entry, "aggregate_unit", json_string("time"));
    json_array_append_new(b->rows, entry);
}

bool bench_write_json(struct output *output, json_t *context, json_t *rows)
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
