/* ls.c - `taper ls`: the tensors of safetensors files. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "safetensors.h"

static const char help[] =
    "usage: taper ls FILE...\n\n"
    "Lists the tensors of safetensors files in the order of their data: name, dtype,\n"
    "shape, bytes. Each file is checked: a fault is one line on the standard error, "
    "and\n"
    "the exit code is then 3.\n";

/* "[2,3]": without spaces, so that the columns can be told apart. */
static void print_shape(const struct st_tensor *t)
{
    char *const shape = json_dumps(json_object_get(t->entry, "shape"), JSON_COMPACT);
    printf("%-18s", shape == NULL ? "?" : shape);
    free(shape);
}

static bool list(const char *path, bool several)
{
    struct st_file file;
    if (!st_open(&file, path))
        return false;
    if (several)
        printf("%s:\n", path);
    int width = 4;
    for (size_t i = 0; i < file.count; i++) {
        const size_t length = strlen(file.tensors[i].name);
        width = (int)length > width && length <= 60 ? (int)length : width;
    }
    uint64_t bytes = 0;
    for (size_t i = 0; i < file.count; i++) {
        const struct st_tensor *const t = file.tensors + i;
        char *const name = cli_printable(cli_copy(t->name));
        printf("%-*s  %-11s  ", width, name, t->dtype->name);
        print_shape(t);
        printf("  %12" PRIu64 "\n", t->end - t->begin);
        free(name);
        bytes += t->end - t->begin;
    }
    printf("%zu tensors, %" PRIu64 " bytes\n", file.count, bytes);
    st_close(&file);
    return true;
}

int cli_ls(int argc, char **argv)
{
    const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o != 'h')
            return cli_see_help(argv[0]);
        fputs(help, stdout);
        return CLI_OK;
    }
    if (optind == argc)
        return cli_usage(argv[0], "which file?");
    int code = CLI_OK;
    for (int i = optind; i < argc; i++)
        if (!list(argv[i], argc - optind > 1))
            code = CLI_FAILED;
    return code;
}
