/* summary.h - the table at the end of `taper convert`. */
#ifndef TAPER_SUMMARY_H
#define TAPER_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "safetensors.h"
#include "stats.h"

struct row {
    uint64_t tensors, bytes_in, bytes_out;
    struct stats stats;
};

struct summary {
    const struct st_dtype *to;
    struct row cast[ST_DTYPES], kept[ST_DTYPES]; /* by dtype of the input */
    char **notes;                                /* lines below the table */
    size_t count;
};

__attribute__((format(printf, 2, 3))) void summary_note(struct summary *summary,
                                                        const char *format, ...);

/* Prints it; `counted` is false if nothing was cast, so that no losses are known. */
void summary_print(const struct summary *summary, bool counted);

void summary_free(struct summary *summary);

#endif
