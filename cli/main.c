/* main.c - the `taper` program: finds the sub-command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

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

/* So that no file that is opened takes the place of a standard stream that is closed.
 * Reading the first and writing the others fails, as it does if they are closed. */
static bool hold_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!hold_streams()) {
        cli_error("/dev/null: %s, and a standard stream is closed", strerror(errno));
        return CLI_FAILED;
    }
    const int code = run(argc, argv);
    return code == CLI_FAILED || cli_flush(NULL) ? code : CLI_FAILED;
}
