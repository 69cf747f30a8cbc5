/* main.c - the `taper` program: finds the sub-command and runs it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "taper/taper.h"

static const struct {
    const char *name;
    const char *summary;
    cli_run *run;
} commands[] = {
    {"bench", "measure how fast this machine is, beside memcpy", cli_bench},
    {"convert", "cast the tensors of a safetensors file or folder", cli_convert},
    {"info", "what this CPU and this build of taper can do", cli_info},
    {"ls", "list the tensors of safetensors files", cli_ls},
    {"verify", "try every input of every cast with every instruction set", cli_verify},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

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
    fprintf(stderr, "'%s --help' tells how it is used.\n", command);
    return CLI_USAGE;
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

static void print_help(FILE *to)
{
    fprintf(to, "usage: taper COMMAND ...\n\n"
                "Narrows and widens the tensors of checkpoints, with the same bits on "
                "every CPU.\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\n"
                "  taper COMMAND --help   how a command is used\n"
                "  taper --version        the version of the library\n\n"
                "Exit codes: 0 done, 1 a difference, 2 wrong usage, 3 a bad file or an "
                "input/output\nerror.\n");
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("taper %s\n", taper_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            char title[32]; /* what getopt_long() begins its messages with */
            snprintf(title, sizeof title, "taper %s", commands[i].name);
            argv[1] = title;
            return commands[i].run(argc - 1, argv + 1);
        }
    return cli_usage("taper", "there is no command '%s'", argv[1]);
}

int main(int argc, char **argv)
{
    const int code = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_error("cannot write the standard output");
        return CLI_FAILED;
    }
    return code;
}
