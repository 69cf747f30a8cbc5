/* cli.h - what the sub-commands of the program share. */
#ifndef TAPER_CLI_H
#define TAPER_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes. CLI_DIFFERS is for commands that compare. */
enum { CLI_OK = 0, CLI_DIFFERS = 1, CLI_USAGE = 2, CLI_FAILED = 3 };

/* A sub-command: argv[0] is "taper NAME", what follows is the user's. Returns the exit
 * code. */
typedef int cli_run(int argc, char **argv);

cli_run cli_bench;
cli_run cli_convert;
cli_run cli_info;
cli_run cli_ls;
cli_run cli_verify;

/* One line on the standard error, "taper: " and the text. Control characters, which
 * names in a file can hold, become '?': one line it stays. */
__attribute__((format(printf, 1, 2))) void cli_error(const char *format, ...);

/* As cli_error(), and says where help is. Returns CLI_USAGE. */
__attribute__((format(printf, 2, 3))) int cli_usage(const char *command,
                                                    const char *format, ...);

/* Says where help is, and no more: getopt_long() has said what is wrong. Returns
 * CLI_USAGE. */
int cli_see_help(const char *command);

/* Sends what was printed on its way. False after saying that the standard output cannot
 * be written, and that the file `made`, unless it is NULL, is complete all the same. */
bool cli_flush(const char *made);

/* `text` with control characters made '?', in place. Returns it. */
char *cli_printable(char *text);

/* Memory set to 0 for `count` things of `size` bytes, and a copy of a string; without
 * memory these end the program, so they are for the time before there is any output. */
void *cli_alloc(size_t count, size_t size);
char *cli_copy(const char *text);

/* The value of the first line of /proc/cpuinfo that begins with `field`, for free();
 * NULL if there is none. */
char *cli_cpuinfo(const char *field);

/* The instruction set that can be used here with this name, in any case; NULL if there
 * is none. */
const char *cli_isa_named(const char *word);

/* All of them, for a message and free(): "avx2, scalar". */
char *cli_isa_list(void);

/* What the library ignores in TAPER_ISA, as a sentence for free(); NULL if there is
 * nothing. */
char *cli_isa_ignored(void);

bool cli_ends_with(const char *text, const char *end);

/* Seconds since some moment, for differences. */
double cli_seconds(void);

#endif
