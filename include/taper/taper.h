/* taper.h - fill, copy, narrow and widen arrays of numbers, with the same bits on every
 * CPU.
 *
 * What holds for every function here:
 *
 * Arrays are contiguous and in native byte order. A pointer needs no alignment. `n`
 * counts elements. No byte outside the described elements is read or written, and n ==
 * 0 touches nothing, whatever the pointers are.
 *
 * Elements of 4 and 2 bits are packed, the first one in the low bits of its byte, so
 * `n` of them take ceil(n * bits / 8) bytes; the unused high bits of the last byte are
 * ignored when read and written as 0 (ONNX TensorProto).
 *
 * Arguments are checked before the first write, in the order each function states; a
 * status below zero means that nothing was written.
 *
 * Results do not depend on the instruction set, the number of threads or the
 * floating-point environment (MXCSR, FPCR): no rounding mode, flush-to-zero switch or
 * trap mask changes a bit, no exception flag is raised and nothing traps.
 *
 * Any number of threads may call at once, without any set-up, as long as no array that
 * one of them writes is used by another. The settings at the end are for start-up.
 * Nothing is allocated, locked or printed and errno is left alone; the stack used stays
 * below 4 KiB in an optimised build, without what OpenMP takes (tensors: tensor.h).
 *
 * Large arrays may be cut over OpenMP threads, whose runtime can allocate and lock,
 * ends the process if it cannot start a thread, and must not be unloaded: the shared
 * library stays loaded after dlclose(), and a plugin with the static one should be
 * linked with -z nodelete. LLVM's OpenMP must not be used in destructors of
 * thread-specific data either. A call from inside a parallel region stays on its
 * thread, and so do all in a child of fork(). taper_set_max_threads(1) rules threads
 * out; calls are then async-signal-safe, too, after a first one of taper_isa(), which
 * reads the environment.
 */
#ifndef TAPER_TAPER_H
#define TAPER_TAPER_H

#include <stddef.h>
#include <stdint.h>

#define TAPER_VERSION_MAJOR 0
#define TAPER_VERSION_MINOR 1
#define TAPER_VERSION_PATCH 0

#if defined(__GNUC__)
#define TAPER_API     __attribute__((visibility("default")))
#define TAPER_CHECKED __attribute__((visibility("default"), warn_unused_result))
#else
#define TAPER_API
#define TAPER_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Status ---- */

/** What a call reports. The numbers are ABI: never changed, never reused. */
typedef enum taper_status {
    TAPER_OK = 0,
    TAPER_BAD_DTYPE = -1,   /**< not the number of a taper_dtype */
    TAPER_UNSUPPORTED = -2, /**< a dtype that this operation does not take */
    TAPER_BAD_OPTION = -3, /**< an option outside its enum, or a setting out of range */
    TAPER_TOO_LARGE = -4,  /**< elements or bytes exceed PTRDIFF_MAX, or dimensions the
                                room for them */
    TAPER_NULL = -5,    /**< a null pointer where elements are to be read or written */
    TAPER_OVERLAP = -6, /**< source and destination share bytes in a way not allowed */
    TAPER_BAD_ISA = -7, /**< no such instruction set here, or the CPU lacks it */
    TAPER_BAD_SHAPE = -8,       /**< a negative rank or dimension, or not the rank
                                     that is needed */
    TAPER_BAD_STRIDE = -9,      /**< strides out of range, not contiguous where a packed
                                     type has to be, or two indices of one destination
                                     element */
    TAPER_TYPE_MISMATCH = -10,  /**< two tensors that should have the same type */
    TAPER_SHAPE_MISMATCH = -11, /**< two tensors that should have the same shape */
    TAPER_BAD_OPSET = -12,      /**< an ONNX operator set without this operator */
    TAPER_TYPE_TOO_NEW = -13,   /**< a type that a later ONNX version brought */
    TAPER_NOT_ONE_ELEMENT = -14, /**< no or several elements where one is needed */
    TAPER_BAD_KIND = -15,    /**< the kind of a taper_value, or its count for that */
    TAPER_BAD_OFFSETS = -16, /**< offsets of strings: falling, or out of the bytes */
} taper_status;

/** One line of English, static; for an unknown number, a line that says so. */
TAPER_API const char *taper_status_text(taper_status status);

/* ---- Element types ---- */

/** Element types, numbered as ONNX TensorProto.DataType. */
typedef enum taper_dtype {
    TAPER_F32 = 1,
    TAPER_U8 = 2,
    TAPER_I8 = 3,
    TAPER_U16 = 4,
    TAPER_I16 = 5,
    TAPER_I32 = 6,
    TAPER_I64 = 7,
    TAPER_STRING = 8, /**< known by name, but no array function takes it */
    TAPER_BOOL = 9,   /**< one byte, 0 or 1; moved as it is */
    TAPER_F16 = 10,   /**< IEEE 754 binary16 */
    TAPER_F64 = 11,
    TAPER_U32 = 12,
    TAPER_U64 = 13,
    TAPER_C64 = 14,        /**< two binary32: real, imaginary */
    TAPER_C128 = 15,       /**< two binary64: real, imaginary */
    TAPER_BF16 = 16,       /**< the high half of a binary32 */
    TAPER_F8E4M3FN = 17,   /**< OCP OFP8 E4M3: no infinity, NaN 7f and ff, max 448 */
    TAPER_F8E4M3FNUZ = 18, /**< no infinity, no -0, NaN 80, max 240 */
    TAPER_F8E5M2 = 19,     /**< OCP OFP8 E5M2: infinity 7c, max 57344 */
    TAPER_F8E5M2FNUZ = 20, /**< no infinity, no -0, NaN 80, max 57344 */
    TAPER_U4 = 21,         /**< packed, two a byte */
    TAPER_I4 = 22,         /**< packed, two a byte, two's complement */
    TAPER_F4E2M1 = 23, /**< OCP MX FP4: packed, two a byte, no infinity or NaN, max 6 */
    TAPER_F8E8M0 = 24, /**< OCP MX scale: code c is 2^(c-127), ff is NaN, no sign */
    TAPER_U2 = 25,     /**< packed, four a byte */
    TAPER_I2 = 26,     /**< packed, four a byte, two's complement */
} taper_dtype;

/** Bits per element; 0 for TAPER_STRING and for an unknown number. */
TAPER_API size_t taper_dtype_bits(taper_dtype type);

/** The spelling of the ONNX operator pages, such as "float", "bfloat16" or
 * "float8e4m3fn"; NULL for an unknown number. */
TAPER_API const char *taper_dtype_name(taper_dtype type);

/** The inverse of taper_dtype_name(); 0, which is no dtype, for NULL or other words. */
TAPER_API taper_dtype taper_dtype_from_name(const char *name);

/* ---- Fill and copy ---- */

/**
 * Sets `n` elements of `dst` to the element at `value`, bit for bit: the payload of a
 * NaN, the sign of a zero and the value of a bool are kept (ONNX ConstantOfShape). The
 * value of a packed type is in the low bits of one byte, whose other bits are ignored.
 *
 * `value` may lie inside `dst`: it is read before the first write.
 *
 * Checks: TAPER_BAD_DTYPE, TAPER_UNSUPPORTED (string), TAPER_TOO_LARGE; then n == 0 is
 * TAPER_OK; TAPER_NULL.
 */
TAPER_CHECKED taper_status taper_fill(taper_dtype type, void *dst, size_t n,
                                      const void *value);

/**
 * Copies `n` elements bit for bit: nothing is converted, normalised or made quiet (ONNX
 * Identity). `dst == src` is allowed, and then only the tail bits of a packed type can
 * change. Any other overlap is an error; adjacent arrays do not overlap.
 *
 * Checks: TAPER_BAD_DTYPE, TAPER_UNSUPPORTED (string), TAPER_TOO_LARGE; then n == 0 is
 * TAPER_OK; TAPER_NULL, TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_copy(taper_dtype type, void *dst, const void *src,
                                      size_t n);

/* ---- Casts ---- */

/** What becomes of a value that rounds past the largest finite one, and of an infinity,
 * in an 8-bit float type: ONNX Cast attribute `saturate`. */
typedef enum taper_overflow {
    TAPER_SATURATE = 0,    /**< the largest finite value of the same sign */
    TAPER_NO_SATURATE = 1, /**< infinity where the type has one, else NaN */
} taper_overflow;

/** How a magnitude becomes a power of two: ONNX Cast attribute `round_mode`. It is for
 * TAPER_F8E8M0 only; all else rounds to nearest, ties to even. */
typedef enum taper_rounding {
    TAPER_ROUND_UP = 0,      /**< the smallest power of two not below */
    TAPER_ROUND_DOWN = 1,    /**< the largest power of two not above */
    TAPER_ROUND_NEAREST = 2, /**< the nearest in value, halfway cases up */
} taper_rounding;

/** All zero is ONNX's default; a null pointer to it means the same. */
typedef struct taper_cast_options {
    taper_overflow overflow;
    taper_rounding rounding;
} taper_cast_options;

/**
 * Rounds `n` binary32 values at `src` to type `to`: bf16, f16, one of the five 8-bit
 * floats, or f4e2m1. One rounding, to nearest with ties to the even code, subnormals
 * kept; whether a value overflows is judged after rounding (ONNX Cast-25).
 *
 * With S for the sign of the input in the sign bit of the code:
 *
 *     to          zero,     overflow and infinity      NaN
 *                 underflow saturate   no saturate
 *     f16         S|0000    S|7c00     S|7c00          S|7e00|(fraction >> 13)
 *     bf16        S|0000    S|7f80     S|7f80          S|7fc0|(fraction >> 16)
 *     f8e4m3fn    S|00      S|7e       S|7f            S|7f
 *     f8e4m3fnuz  00        S|7f       80              80
 *     f8e5m2      S|00      S|7b       S|7c            S|7e
 *     f8e5m2fnuz  00        S|7f       80              80
 *     f4e2m1      S|0       S|7        S|7             7
 *
 * f8e8m0 takes the magnitude, rounds it as `rounding` says with no limit on the
 * exponent and then looks at the range: NaN is ff; 0 and results below 2^-127 are 00,
 * or ff without saturation; infinity and results above 2^127 are fe, or ff without
 * saturation.
 *
 * `dst == src` is allowed: the results are packed into the front of the array, on one
 * thread. Any other overlap is an error.
 *
 * Checks: TAPER_BAD_DTYPE, TAPER_UNSUPPORTED, TAPER_BAD_OPTION, TAPER_TOO_LARGE; then
 * n == 0 is TAPER_OK; TAPER_NULL, TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_narrow(taper_dtype to, void *dst, const void *src,
                                        size_t n, const taper_cast_options *options);

/**
 * Widens `n` elements of type `from`, one of those that taper_narrow() makes, to
 * binary32 at `dst`. Exact for every number, so that narrowing gives the code back. An
 * infinity stays one. NaNs:
 *
 *     bf16          bits << 16: payload and a signalling bit are kept
 *     f16           made quiet, payload kept
 *     f8e4m3fn      S|7fc00000
 *     f8e5m2        S|7fc00000
 *     f8e?m?fnuz    ffc00000
 *     f8e8m0        7fc00000
 *
 * No overlap is allowed. Checks: as taper_narrow(), which see; there are no options.
 */
TAPER_CHECKED taper_status taper_widen(taper_dtype from, void *dst, const void *src,
                                       size_t n);

/**
 * Casts `n` elements from any of the float types to any other: f64, f32 and all that
 * taper_narrow() makes. Exactly one rounding, from the value of the source, as
 * taper_narrow() has it. f64 to f32 rounds to nearest even and keeps the sign and the
 * top payload bits of a NaN; f32 to f64 is exact; both make NaNs quiet. Between equal
 * types it is taper_copy(). Otherwise the NaN rules are those of taper_widen() followed
 * by those of taper_narrow().
 *
 * `dst == src` is allowed when `to` has no more bits than `from`, as in taper_narrow().
 *
 * Checks: TAPER_BAD_DTYPE (`to`, then `from`), TAPER_UNSUPPORTED, TAPER_BAD_OPTION,
 * TAPER_TOO_LARGE; then n == 0 is TAPER_OK; TAPER_NULL, TAPER_OVERLAP.
 */
TAPER_CHECKED taper_status taper_cast(taper_dtype to, void *dst, taper_dtype from,
                                      const void *src, size_t n,
                                      const taper_cast_options *options);

/* ---- Instruction sets ---- */

/** Name of the instruction set in use: "avx512", "avx2", "neon" or "scalar". The first
 * call of anything chooses the best that CPU and operating system support; the
 * environment variable TAPER_ISA, if it names one, is an upper limit to that choice. */
TAPER_API const char *taper_isa(void);

/** The i-th instruction set that can be used here, best first; NULL past the last. */
TAPER_API const char *taper_isa_name(size_t i);

/** Uses the instruction set `name` from now on; NULL for the best that can run here,
 * whatever TAPER_ISA says. TAPER_BAD_ISA if there is no such one here. For tests and
 * benchmarks: results are the same with each. */
TAPER_CHECKED taper_status taper_use_isa(const char *name);

/* ---- Large arrays ---- */

/** The most threads one call may use: what taper_set_max_threads() said, else what
 * OpenMP says (OMP_NUM_THREADS), else 1. */
TAPER_API int taper_max_threads(void);

/** Sets the most threads one call may use; 0 leaves it to OpenMP again.
 * TAPER_BAD_OPTION if negative. */
TAPER_CHECKED taper_status taper_set_max_threads(int threads);

/** Part `index` of a call; see taper_parallel_for. */
typedef void taper_task(void *data, size_t index);

/** Calls task(data, i) once for every i below `count`, on any threads in any order, and
 * returns when all have returned. */
typedef void taper_parallel_for(void *context, size_t count, taper_task *task,
                                void *data);

/** Lends taper the caller's threads in place of OpenMP's; NULL gives them back. At most
 * taper_max_threads() tasks are asked for at a time, so set that too: a build without
 * OpenMP has 1 otherwise. `run` must bear to be called by several threads at once, and
 * from inside its own tasks if they call taper. Set it at start-up: the two arguments
 * are not changed as one under a call that is running in another thread. */
TAPER_API void taper_set_parallel_for(taper_parallel_for *run, void *context);

/** Sizes, in bytes, from which large arrays and tensors are treated differently. */
typedef enum taper_threshold {
    TAPER_PARALLEL_BYTES = 0,    /**< read and written: worth more than one thread, and
                                      one for each half of it; 1 MiB by default */
    TAPER_STREAM_BYTES = 1,      /**< read by a copy or cast: its results are better
                                      stored past the caches (non-temporal stores);
                                      12 MiB */
    TAPER_STREAM_FILL_BYTES = 2, /**< written by a fill: likewise; 32 MiB */
} taper_threshold;

/** The threshold `which`; 0 for another number. */
TAPER_API size_t taper_threshold_bytes(taper_threshold which);

/** Sets a threshold, at start-up. SIZE_MAX turns the treatment off; 0 asks for the
 * default. TAPER_BAD_OPTION if there is no threshold `which`. */
TAPER_CHECKED taper_status taper_set_threshold_bytes(taper_threshold which,
                                                     size_t bytes);

/* ---- Version ---- */

/** The version of the library in use, such as "0.1.0". */
TAPER_API const char *taper_version(void);

#ifdef __cplusplus
}
#endif

#endif
