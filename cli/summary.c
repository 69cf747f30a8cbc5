/* summary.c - see summary.h. */
#include "summary.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

void summary_note(struct summary *summary, const char *format, ...)
{
    char line[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    char **const notes = cli_alloc(summary->count + 1, sizeof *notes);
    for (size_t i = 0; i < summary->count; i++)
        notes[i] = summary->notes[i];
    notes[summary->count++] = cli_copy(cli_printable(line));
    free(summary->notes);
    summary->notes = notes;
}

static void add(struct row *total, const struct row *row)
{
    total->tensors += row->tensors;
    total->bytes_in += row->bytes_in;
    total->bytes_out += row->bytes_out;
    stats_merge(&total->stats, &row->stats);
}

/* "F32 to BF16" or "I64 kept" */
static int row_name(char name[40], size_t dtype, const struct st_dtype *to)
{
    return to == NULL ? snprintf(name, 40, "%s kept", st_dtypes[dtype].name)
                      : snprintf(name, 40, "%s to %s", st_dtypes[dtype].name, to->name);
}

static void print_row(int width, const char *name, const struct row *row, bool counted)
{
    const struct stats *const s = &row->stats;
    printf("%-*s %7" PRIu64 " %12" PRIu64 " %12" PRIu64, width, name, row->tensors,
           row->bytes_in, row->bytes_out);
    if (counted)
        printf(" %9" PRIu64 " %6" PRIu64 " %6" PRIu64 " %9" PRIu64 " %9.3g\n",
               s->saturated, s->infinite, s->nan, s->zero, s->worst);
    else
        printf(" %9s %6s %6s %9s %9s\n", "-", "-", "-", "-", "-");
}

void summary_print(const struct summary *summary, bool counted)
{
    struct row total = {0};
    char name[40];
    int width = 5;
    for (size_t i = 0; i < ST_DTYPES; i++) {
        const struct row *const cast = summary->cast + i, *const kept =
                                                              summary->kept + i;
        if (cast->tensors + kept->tensors == 0)
            continue;
        const int length = row_name(name, i, cast->tensors == 0 ? NULL : summary->to);
        width = length > width ? length : width;
        add(&total, cast);
        add(&total, kept);
    }
    printf("%-*s %7s %12s %12s %9s %6s %6s %9s %9s\n", width, "dtype", "tensors",
           "bytes in", "bytes out", "saturated", "to inf", "to NaN", "to zero",
           "rel error");
    for (size_t i = 0; i < ST_DTYPES; i++) {
        const struct row *const cast = summary->cast + i, *const kept =
                                                              summary->kept + i;
        if (cast->tensors != 0) {
            row_name(name, i, summary->to);
            print_row(width, name, cast, counted);
        }
        if (kept->tensors != 0) {
            row_name(name, i, NULL);
            print_row(width, name, kept, false);
        }
    }
    print_row(width, "total", &total, counted);
    if (total.stats.lost_nan != 0)
        printf("NaN that became numbers, as %s has no NaN: %" PRIu64 "\n",
               summary->to->name, total.stats.lost_nan);
    for (size_t i = 0; i < summary->count; i++)
        puts(summary->notes[i]);
}

void summary_free(struct summary *summary)
{
    for (size_t i = 0; i < summary->count; i++)
        free(summary->notes[i]);
    free(summary->notes);
}
