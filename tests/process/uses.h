/* uses.h - calls of every family of public functions, at any size, with results that
 * are known by hand: for processes in which something else may go wrong than a value.
 */
#ifndef TAPER_TESTS_PROCESS_USES_H
#define TAPER_TESTS_PROCESS_USES_H

#include <stddef.h>

/* Matrices have `rows` rows and two columns fewer. Seven numbers are repeated, and a
 * matrix that is turned is known, too, if the rows leave a rest of 4. */
enum { SMALL_ROWS = 11, LARGE_ROWS = 1033 };

/* Three arrays of room_bytes(rows) each. Nothing else is written, and nothing
 * allocated: what the library may do in a signal handler, use_taper() may. */
struct room {
    unsigned char *src, *dst, *want;
};

#define ROOM_BYTES(rows) (8 * (size_t)(rows) * ((size_t)(rows)-2) + 64)

/* Calls everything, beginning with the kind of call number `first`. NULL, or the name
 * of what was wrong. Alone in this header it may be looked up in a plugin. */
typedef const char *use_taper_fn(const struct room *room, size_t rows, size_t first);
__attribute__((visibility("default"))) use_taper_fn use_taper;

/* Likewise the functions of taper.h alone. */
use_taper_fn use_arrays;

/* Every call is cut for `threads` threads; 0 puts the settings back. */
typedef void cut_taper_fn(int threads);
__attribute__((visibility("default"))) cut_taper_fn cut_taper;

#endif
