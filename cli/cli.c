/* cli.c - see cli.h. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *cli_printable(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    return text;
}

__attribute__((format(printf, 1, 0))) static void print_error(const char *format,
                                                              va_list values)
{
    char line[4096];
    vsnprintf(line, sizeof line, format, values);
    fprintf(stderr, "taper: %s\n", cli_printable(line));
}

void cli_error(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_error(format, values);
    va_end(values);
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print_error(format, values);
    va_end(values);
    return cli_see_help(command);
}

int cli_see_help(const char *command)
{
    fprintf(stderr, "'%s --help' tells how it is used.\n", command);
    return CLI_USAGE;
}

bool cli_flush(const char *made)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    if (made == NULL)
        cli_error("the standard output cannot be written");
    else
        cli_error("%s: is complete, but the standard output cannot be written", made);
    return false;
}

void *cli_alloc(size_t count, size_t size)
{
    void *const memory = calloc(count, size);
    if (memory == NULL && count != 0 && size != 0) {
        cli_error("out of memory");
        exit(CLI_FAILED);
    }
    return memory;
}

char *cli_copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(cli_alloc(size, 1), text, size);
}

bool cli_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcmp(text + length - n, end) == 0;
}

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
