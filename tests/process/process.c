/* process.c - see process.h. */
#include "process.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout); /* _exit() would not */
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    _exit(1);
}

struct room room_new(size_t rows)
{
    struct room room = {malloc(ROOM_BYTES(rows)), malloc(ROOM_BYTES(rows)),
                        malloc(ROOM_BYTES(rows))};
    if (room.src == NULL || room.dst == NULL || room.want == NULL)
        give_up("no memory");
    return room;
}

void room_free(struct room *room)
{
    free(room->src);
    free(room->dst);
    free(room->want);
}

pid_t fork_child(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0)
        give_up("fork() failed");
    if (child == 0)
        alarm(TIME_LIMIT);
    return child;
}

void join_child(pid_t child, const char *when)
{
    int status;
    if (waitpid(child, &status, 0) != child)
        give_up("waitpid() failed");
    if (WIFSIGNALED(status))
        give_up("%s: a child was ended by signal %d%s", when, WTERMSIG(status),
                WTERMSIG(status) == SIGALRM ? ", for it hung" : "");
    if (WEXITSTATUS(status) != 0)
        give_up("%s: a child ended with %d", when, WEXITSTATUS(status));
}

size_t thread_count(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    size_t count = 0;
    if (tasks == NULL)
        give_up("no /proc/self/task");
    while ((entry = readdir(tasks)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}
