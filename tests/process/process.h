/* process.h - what the programs here share: failing, memory, and children with a time
 * limit. */
#ifndef TAPER_TESTS_PROCESS_PROCESS_H
#define TAPER_TESTS_PROCESS_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "uses.h"

enum { TIME_LIMIT = 20 }; /* seconds, of a child */

/* Ends the process with a message. */
_Noreturn void give_up(const char *format, ...);

struct room room_new(size_t rows);
void room_free(struct room *room);

/* Gives up if use_taper() says that something is wrong. Inline, for programs that do
 * not link it. */
static inline void check_taper(const struct room *room, size_t rows, size_t first,
                               const char *when)
{
    const char *const wrong = use_taper(room, rows, first);
    if (wrong != NULL)
        give_up("%s: %s is wrong", when, wrong);
}

/* As fork(), but it does not fail and a child is killed by SIGALRM after TIME_LIMIT. */
pid_t fork_child(void);

/* Waits for a child, and gives up if it did not end with 0. */
void join_child(pid_t child, const char *when);

/* Threads of this process. */
size_t thread_count(void);

#endif
