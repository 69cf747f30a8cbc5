/* isa.c - instruction sets by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli.h"
#include "taper/taper.h"

const char *cli_isa_named(const char *word)
{
    size_t i = 0;
    while (taper_isa_name(i) != NULL && strcasecmp(taper_isa_name(i), word) != 0)
        i++;
    return taper_isa_name(i);
}

char *cli_isa_list(void)
{
    enum { SIZE = 128 };
    char *const list = cli_alloc(SIZE, 1);
    for (size_t i = 0; taper_isa_name(i) != NULL; i++) {
        const size_t length = strlen(list);
        snprintf(list + length, SIZE - length, i == 0 ? "%s" : ", %s",
                 taper_isa_name(i));
    }
    return list;
}

char *cli_isa_ignored(void)
{
    const char *const limit = getenv("TAPER_ISA");
    char built[] = TAPER_BUILT;
    if (limit == NULL || limit[0] == '\0')
        return NULL;
    for (char *name = strtok(built, " "); name != NULL; name = strtok(NULL, " "))
        if (strcmp(name, limit) == 0)
            return NULL;
    const size_t size = strlen(limit) + 64;
    char *const text = cli_alloc(size, 1);
    snprintf(text, size, "TAPER_ISA=%s: not known, ignored", limit);
    return cli_printable(text);
}
