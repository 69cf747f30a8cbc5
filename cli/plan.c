/* plan.c - see plan.h. */
#include "plan.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

static bool named(const regex_t *expression, const char *name, uint64_t *count)
{
    if (expression == NULL || regexec(expression, name, 0, NULL, 0) != 0)
        return false;
    ++*count;
    return true;
}

static bool is_cast(const struct st_tensor *t, const char *path, struct rules *rules,
                    struct summary *summary)
{
    const bool matched = named(rules->match, t->name, &rules->matched);
    const bool kept = named(rules->keep, t->name, &rules->kept);
    if (t->dtype->type == 0 || t->dtype == rules->to || kept ||
        (rules->match != NULL && !matched))
        return false;
    if (t->count * rules->to->bits % 8 != 0) {
        summary_note(
            summary,
            "stays %s: tensor \"%s\" of %s has an odd number of elements (%" PRIu64
            "), which %s cannot hold",
            t->dtype->name, t->name, path, t->count, rules->to->name);
        return false;
    }
    return true;
}

void plan_make(struct plan *plan, struct st_file *file, struct rules *rules,
               struct summary *summary)
{
    *plan = (struct plan){.ranges = cli_alloc(file->count, sizeof *plan->ranges)};
    uint64_t end = 0;
    for (size_t i = 0; i < file->count; i++) {
        struct st_tensor *const t = file->tensors + i;
        const bool cast = is_cast(t, file->path, rules, summary);
        const uint64_t bytes_in = t->end - t->begin;
        const uint64_t bytes = cast ? st_bytes(rules->to, t->count) : bytes_in;
        struct row *const row =
            (cast ? summary->cast : summary->kept) + (t->dtype - st_dtypes);
        row->tensors++;
        row->bytes_in += bytes_in;
        row->bytes_out += bytes;

        plan->ranges[plan->count++] = (struct range){
            .from = cast ? t->dtype->type : TAPER_U8,
            .to = cast ? rules->to->type : TAPER_U8,
            .src = file->data + t->begin,
            .dst = end, /* from the data on, until the header's length is known */
            .count = cast ? t->count : bytes,
            .stats = &row->stats,
        };
        st_retype(t, cast ? rules->to : t->dtype, end, end + bytes);
        end += bytes;
    }
    plan->header = st_header(file, &plan->header_bytes);
    for (size_t i = 0; i < plan->count; i++)
        plan->ranges[i].dst += plan->header_bytes;
    plan->bytes = plan->header_bytes + end;
}

void plan_copy(struct plan *plan, uint64_t bytes)
{
    *plan = (struct plan){.ranges = cli_alloc(1, sizeof *plan->ranges), .bytes = bytes};
    plan->ranges[plan->count++] = (struct range){TAPER_U8, TAPER_U8, .count = bytes};
}

void plan_free(struct plan *plan)
{
    free(plan->header);
    free(plan->ranges);
}
