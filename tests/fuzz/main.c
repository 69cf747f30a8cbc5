/* main.c - runs a fuzz target on files, and on all files of folders: where libFuzzer is
 * not, and in the tests. Also for AFL++, with "@@" as the argument.
 *
 *     fuzz_array FILE_OR_FOLDER... */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int files;

/* The bytes are in memory of their own size, so that a sanitizer sees reads past them.
 */
static void run_file(const char *path, size_t size)
{
    FILE *const file = fopen(path, "rb");
    uint8_t *const data = malloc(size == 0 ? 1 : size);
    if (file == NULL || data == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(2);
    }
    fclose(file);
    fprintf(stderr, "%s\n", path); /* the last one is the one that failed */
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    files++;
}

static void run_path(const char *path)
{
    struct stat stat_;
    struct dirent **entries;
    if (stat(path, &stat_) != 0) {
        perror(path);
        exit(2);
    }
    if (!S_ISDIR(stat_.st_mode)) {
        run_file(path, (size_t)stat_.st_size);
        return;
    }
    const int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inside[4096];
        snprintf(inside, sizeof inside, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            run_path(inside);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("%d inputs, no finding\n", files);
    return files > 0 ? 0 : 2;
}
