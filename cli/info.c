/* info.c - `taper info`: what this CPU and this build can do. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "taper/taper.h"

static const char help[] =
    "usage: taper info\n\n"
    "Tells what this CPU and this build of taper can do: features of the CPU that "
    "matter\n"
    "for casts, the instruction sets the library was built for, those that can be "
    "used\n"
    "here, the one in use, and how many threads one call may use.\n\n"
    "The environment variable TAPER_ISA limits the instruction set, OMP_NUM_THREADS "
    "the\n"
    "threads.\n";

/* As Linux spells them, which lists a feature only if the kernel lets it be used. */
static const char *const features[] = {
    "f16c",     "fma",      "avx2",        "avx512f",     "avx512bw",
    "avx512dq", "avx512vl", "avx512_bf16", "avx512_fp16", "asimd",
    "asimdhp",  "bf16",     "sve",         "sve2",
};

char *cli_cpuinfo(const char *field)
{
    FILE *const file = fopen("/proc/cpuinfo", "r");
    char *line = NULL, *value = NULL;
    size_t size = 0;
    while (file != NULL && value == NULL && getline(&line, &size, file) > 0) {
        const char *const colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, field, strlen(field)) == 0)
            value = cli_copy(colon + 1 + strspn(colon + 1, " "));
    }
    if (value != NULL)
        value[strcspn(value, "\n")] = '\0';
    free(line);
    if (file != NULL)
        fclose(file);
    return value;
}

static void print_cpu(void)
{
    char *const model = cli_cpuinfo("model name");
    char *flags = cli_cpuinfo("flags");
    if (flags == NULL)
        flags = cli_cpuinfo("Features");
    if (model != NULL)
        printf("CPU                %s\n", model);
    printf("features          ");
    if (flags == NULL)
        printf(" unknown: /proc/cpuinfo does not tell");
    for (char *word = flags == NULL ? NULL : strtok(flags, " "); word != NULL;
         word = strtok(NULL, " "))
        for (size_t i = 0; i < sizeof features / sizeof *features; i++)
            if (strcmp(word, features[i]) == 0)
                printf(" %s", word);
    printf("\n");
    free(flags);
    free(model);
}

int cli_info(int argc, char **argv)
{
    const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (o != 'h')
            return cli_see_help(argv[0]);
        fputs(help, stdout);
        return CLI_OK;
    }
    if (optind != argc)
        return cli_usage(argv[0], "takes no argument, but got '%s'", argv[optind]);

    printf("taper              %s\n", taper_version());
    print_cpu();
    printf("built for          " TAPER_BUILT "\n");
    printf("can be used here  ");
    for (size_t i = 0; taper_isa_name(i) != NULL; i++)
        printf(" %s", taper_isa_name(i));
    printf("\nin use             %s\n", taper_isa());
    char *const ignored = cli_isa_ignored();
    if (ignored != NULL)
        printf("                   %s\n", ignored);
    free(ignored);
    printf("threads of a call  %d\n", taper_max_threads());
    return CLI_OK;
}
