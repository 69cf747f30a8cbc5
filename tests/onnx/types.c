/* types.c - the tables of README.md: which version of an operator takes which types. A
 * cell is what a call with one element reports.
 *
 *     onnx_types           prints them
 *     onnx_types README    compares them with what is between the two marks there
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taper/onnx.h"

enum { TYPES = TAPER_I2 + 1, COLUMNS = 32, ROOM = 1 << 16 };

static const char begin_mark[] = "<!-- by tests/onnx/types.c -->\n",
                  end_mark[] = "<!-- end -->\n";

/* ---- the text ---- */

static char text[ROOM];
static size_t length;

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(text + length, ROOM - length, format, arguments);
    va_end(arguments);
    if (length >= ROOM)
        exit(1);
}

/* ---- calls with one element: what they report ---- */

static taper_status constant_of_shape(int opset, taper_kind kind, taper_dtype type)
{
    unsigned char element[16] = {0}, made[16];
    const int64_t no_dimensions = 0;
    const taper_tensor shape = {NULL, TAPER_I64, 1, &no_dimensions, NULL};
    const taper_tensor value = {element, type, 0, NULL, NULL};
    const taper_tensor output = {made, type, 0, NULL, NULL};
    (void)kind;
    return taper_onnx_constant_of_shape(opset, &output, &shape, &value);
}

static taper_status identity(int opset, taper_kind kind, taper_dtype type)
{
    unsigned char from[16] = {0}, to[16];
    int64_t from_offsets[2] = {0, 16}, to_offsets[2];
    taper_strings from_strings = {from_offsets, from, sizeof from};
    taper_strings to_strings = {to_offsets, to, sizeof to};
    taper_tensor src = {from, type, 0, NULL, NULL};
    taper_tensor dst = {to, type, 0, NULL, NULL};
    if (type == TAPER_STRING) {
        src.data = &from_strings;
        dst.data = &to_strings;
    }
    const taper_value input = {kind, type, 0, 1, &src},
                      output = {kind, type, 0, 1, &dst};
    return taper_onnx_identity(opset, &output, &input);
}

/* To float and from float. */
static taper_status cast(int opset, taper_kind kind, taper_dtype type)
{
    unsigned char element[16] = {0};
    float number = 0;
    const taper_tensor one = {element, type, 0, NULL, NULL};
    const taper_tensor other = {&number, TAPER_F32, 0, NULL, NULL};
    (void)kind;
    const taper_status to = taper_onnx_cast(opset, &other, &one, NULL);
    const taper_status from = taper_onnx_cast(opset, &one, &other, NULL);
    if (to != from)
        exit(1);
    return to;
}

/* ---- the tables ---- */

static const struct table {
    taper_onnx_op op;
    taper_status (*call)(int opset, taper_kind kind, taper_dtype type);
    int kinds;
} tables[] = {
    {TAPER_ONNX_CONSTANT_OF_SHAPE, constant_of_shape, 1},
    {TAPER_ONNX_IDENTITY, identity, 4},
    {TAPER_ONNX_CAST, cast, 1},
};

static const char *const kinds[] = {"tensor", "sequence", "optional tensor",
                                    "optional sequence"};

/* The cells of one type, by version. */
struct row {
    bool takes[COLUMNS];
};

static struct row make_row(const struct table *table, taper_kind kind, taper_dtype type)
{
    struct row row = {0};
    for (int version = 1; version <= TAPER_ONNX_NEWEST_OPSET; version++) {
        if (taper_onnx_version(table->op, version) != version)
            continue;
        const taper_status status = table->call(version, kind, type);
        if (status != TAPER_OK && status != TAPER_UNSUPPORTED &&
            status != TAPER_TYPE_TOO_NEW)
            exit(1);
        row.takes[version] = status == TAPER_OK;
    }
    return row;
}

static void print_row(const struct table *table, taper_kind kind,
                      const struct row *rows, int first)
{
    const char *comma = "";
    print("| ");
    if (table->kinds > 1)
        print("%s of ", kinds[kind]);
    for (int type = first; type < TYPES; type++)
        if (memcmp(&rows[type], &rows[first], sizeof *rows) == 0) {
            print("%s%s", comma, taper_dtype_name((taper_dtype)type));
            comma = ", ";
        }
    for (int version = 1; version <= TAPER_ONNX_NEWEST_OPSET; version++)
        if (taper_onnx_version(table->op, version) == version)
            print(" | %s", rows[first].takes[version] ? "yes" : "-");
    print(" |\n");
}

/* Types with the same cells share a row; those that no version takes come last. */
static void print_kind(const struct table *table, taper_kind kind)
{
    const struct row none = {{false}};
    struct row rows[TYPES];
    for (int type = 1; type < TYPES; type++)
        rows[type] = make_row(table, kind, (taper_dtype)type);
    for (int last = 0; last < 2; last++) {
        for (int first = 1; first < TYPES; first++) {
            int same = 1;
            while (memcmp(&rows[same], &rows[first], sizeof *rows) != 0)
                same++;
            const bool never = memcmp(&rows[first], &none, sizeof none) == 0;
            if (same == first && never == (last == 1))
                print_row(table, kind, rows, first);
        }
    }
}

static void print_table(const struct table *table)
{
    print("\n| %s", taper_onnx_name(table->op));
    for (int version = 1; version <= TAPER_ONNX_NEWEST_OPSET; version++)
        if (taper_onnx_version(table->op, version) == version)
            print(" | %d", version);
    print(" |\n|---");
    for (int version = 1; version <= TAPER_ONNX_NEWEST_OPSET; version++)
        if (taper_onnx_version(table->op, version) == version)
            print("|---");
    print("|\n");
    for (int kind = 0; kind < table->kinds; kind++)
        print_kind(table, (taper_kind)kind);
}

/* ---- README.md ---- */

static int compare(const char *path)
{
    static char readme[1 << 20];
    FILE *const from = fopen(path, "rb");
    if (from == NULL) {
        perror(path);
        return 1;
    }
    readme[fread(readme, 1, sizeof readme - 1, from)] = 0;
    fclose(from);
    const char *const mark = strstr(readme, begin_mark);
    const char *const begin = mark == NULL ? NULL : mark + strlen(begin_mark);
    const char *const end = begin == NULL ? NULL : strstr(begin, end_mark);
    if (end != NULL && (size_t)(end - begin) == length &&
        memcmp(begin, text, length) == 0)
        return 0;
    fprintf(stderr, "%s is out of date. It should have:\n%s%s%s", path, begin_mark,
            text, end_mark);
    return 1;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        print_table(&tables[i]);
    print("\n");
    if (argc > 1)
        return compare(argv[1]);
    fputs(text, stdout);
    return 0;
}
