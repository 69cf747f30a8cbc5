/* progress.c - see progress.h. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

void progress_start(struct progress *p, uint64_t total, bool quiet)
{
    *p = (struct progress){.shown = !quiet && isatty(STDERR_FILENO),
                           .total = total,
                           .start = cli_seconds()};
}

void progress_draw(const struct progress *p, uint64_t done)
{
    const double seconds = cli_seconds() - p->start;
    done += p->before;
    if (!p->shown || p->total == 0 || done == 0 || seconds < 0.2)
        return; /* too early to know a speed, and a short run needs no bar */

    const double part = (double)done / (double)p->total;
    const unsigned long left = (unsigned long)(seconds * (1 / part - 1) + 0.5);
    char amount[80], text[160];
    if (p->counts)
        snprintf(amount, sizeof amount, "%" PRIu64 " of %" PRIu64, done, p->total);
    else
        snprintf(amount, sizeof amount, "%.2f of %.2f GB  %.2f GB/s",
                 (double)done * 1e-9, (double)p->total * 1e-9,
                 (double)done * 1e-9 / seconds);
    const int length = snprintf(text, sizeof text, " %3.0f%%  %s  %lu:%02lu left",
                                100 * part, amount, left / 60, left % 60);

    struct winsize window;
    int room = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col != 0)
        room = window.ws_col;
    room -= length + 3; /* brackets, and the last column, which would wrap */
    room = room > 40 ? 40 : room;

    char bar[40 + 1] = "";
    if (room > 0)
        memset(bar, '#', (size_t)(part * room));
    fprintf(stderr, room > 0 ? "\r[%-*s]%s\033[K" : "\r%.*s%s\033[K",
            room > 0 ? room : 0, bar, text);
    fflush(stderr);
}

void progress_clear(const struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
}
