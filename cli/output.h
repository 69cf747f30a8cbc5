/* output.h - a file or folder that appears under its name complete, or not at all. */
#ifndef TAPER_OUTPUT_H
#define TAPER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
    const char *path; /* where it is to appear; for messages too */
    char *name;       /* the last part of that */
    int parent;       /* the folder that holds it */
    char temp[48];    /* its name there until it is complete; "" before it exists */
    int folder;       /* what `temp` is, if it is a folder; else -1 */
    bool is_folder;
    bool replace; /* what is there already */
};

/* Sees whether something may appear at `path`. Returns an exit code, and has said why
 * if that is not CLI_OK. Writes nothing. */
int output_check(struct output *o, const char *path, bool is_folder, bool replace);

/* Makes the folder under its temporary name. False after saying what failed. */
bool output_make_folder(struct output *o, mode_t mode);

/* Opens the file, or the file `name` of the folder; -1 after saying what failed.
 * `bytes` are set aside at once, so that a disk too small for them is found before the
 * work. */
int output_open(struct output *o, const char *name, mode_t mode, off_t bytes);

/* Writes to the beginning of `fd`. False after saying what failed. */
bool output_write(const struct output *o, int fd, const char *text, size_t bytes);

/* Has the disk confirm what was written and closes `fd`. */
bool output_close(struct output *o, int fd);

/* Gives the complete output its name. */
bool output_publish(struct output *o);

/* All of these for a file that is `text`: whole or not at all, even if a signal comes
 * meanwhile. */
bool output_text(struct output *o, const char *text);

/* Removes what there is of the output, unless it was published, and forgets it. */
void output_discard(struct output *o);

#endif
