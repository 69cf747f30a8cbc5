/* plan.h - what becomes of the tensors of one safetensors file. */
#ifndef TAPER_PLAN_H
#define TAPER_PLAN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pump.h"
#include "safetensors.h"
#include "summary.h"

/* Which tensors are cast, and to what. A NULL expression is one that was not given. */
struct rules {
    const struct st_dtype *to;
    const regex_t *match, *keep;
    uint64_t matched, kept; /* tensors that each expression named */
};

struct plan {
    void *header; /* of the new file: its first bytes */
    size_t header_bytes;
    struct range *ranges; /* all that follows */
    size_t count;
    uint64_t bytes; /* of the new file */
};

/* Makes the plan and enters it in the summary. The header in `file` becomes the new
 * one. */
void plan_make(struct plan *plan, struct st_file *file, struct rules *rules,
               struct summary *summary);

/* The plan to copy `bytes` bytes. */
void plan_copy(struct plan *plan, uint64_t bytes);

void plan_free(struct plan *plan);

#endif
