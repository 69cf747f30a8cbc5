/* fuzz.h - what the fuzz targets share. Each is a function that libFuzzer, AFL++ or
 * main.c calls with any bytes; it makes a call of taper from them, works out what that
 * must do, and aborts if it did something else. */
#ifndef TAPER_TESTS_FUZZ_H
#define TAPER_TESTS_FUZZ_H

#include "../naive.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what is wrong, and aborts. */
__attribute__((format(printf, 1, 2), noreturn)) void finding(const char *format, ...);

/* ---- The input, taken from its front. What is past its end reads as 0. ---- */

struct input {
    const uint8_t *data;
    size_t size;
};

/* The next `bytes` bytes, little-endian. */
uint64_t take(struct input *in, size_t bytes);

/* A number below `n`, of one byte: 256 at most. */
unsigned take_below(struct input *in, unsigned n);

/* Mostly small numbers; else famous ones, their neighbours, or any. */
int64_t take_number(struct input *in);

/* Mostly the number of a type; of one that casts take. */
taper_dtype take_dtype(struct input *in);
taper_dtype take_cast_dtype(struct input *in);

/* Mostly options that there are. False: give NULL. */
bool take_options(struct input *in, taper_cast_options *options);

/* Sets the instruction set, the threads and the thresholds. */
void take_settings(struct input *in);

/* Whether it is the number of a type, and the bytes of so many elements. */
bool is_dtype(taper_dtype type);
size_t bytes_of(taper_dtype type, size_t n);

/* Fills `bytes` bytes with what follows from `seed`. */
void fill_random(unsigned char *at, size_t bytes, uint64_t seed);

/* ---- Memory between pages that cannot be touched, and its image ---- */

struct memory {
    struct guarded real;
    unsigned char *image;
    size_t begin, end; /* of what is looked at */
};

enum { MEMORY = 1 << 20, MARGIN = 128 };

/* Makes it, unless it is there already. */
void memory_make(struct memory *m);

/* Looks at nothing of it; then also at `bytes` bytes at `at`, and a margin. */
void memory_forget(struct memory *m);
void memory_watch(struct memory *m, const unsigned char *at, size_t bytes);

/* Fills what is looked at, and takes the image of it. */
void memory_fill(struct memory *m, uint64_t seed);
void memory_take(struct memory *m);

/* Where `at` is in the image. */
unsigned char *memory_image(const struct memory *m, const void *at);

bool memory_holds(const struct memory *m, const void *at, size_t bytes);

/* A place for `bytes` bytes, MEMORY - 64 at most: at one of the ends or near. */
unsigned char *memory_place(const struct memory *m, size_t bytes, struct input *in);

/* Compares; `what` is for the report, and `origin` what positions in it count from. */
void memory_check(const struct memory *m, const char *what, const void *origin);

#endif
