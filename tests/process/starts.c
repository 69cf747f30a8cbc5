/* starts.c - starts a program many times, each with a time limit.
 *
 *     starts COUNT PROGRAM [ARGUMENT...]
 *
 * Stops at the first start that does not end with 0. */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const long count = argc > 2 ? strtol(argv[1], NULL, 0) : 0;
    if (count < 1)
        give_up("usage: starts COUNT PROGRAM [ARGUMENT...]");
    for (long i = 0; i < count; i++) {
        const pid_t child = fork_child(); /* its alarm outlives exec */
        if (child == 0) {
            execv(argv[2], argv + 2);
            give_up("cannot start %s", argv[2]);
        }
        char when[40];
        snprintf(when, sizeof when, "start %ld", i);
        join_child(child, when);
    }
    printf("%ld starts of %s\n", count, argv[2]);
    return 0;
}
