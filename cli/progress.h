/* progress.h - the bar that shows how far a long run is. */
#ifndef TAPER_PROGRESS_H
#define TAPER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool shown; /* the standard error is a terminal, and nobody asked for quiet */
    uint64_t total, before; /* bytes in all, and of the files already done */
    double start;
    bool counts; /* things, not bytes */
};

void progress_start(struct progress *p, uint64_t total, bool quiet);

/* Draws the bar for `done` bytes of the present file. */
void progress_draw(const struct progress *p, uint64_t done);

/* Takes the bar off the screen. */
void progress_clear(const struct progress *p);

#endif
