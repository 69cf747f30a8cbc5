/* test_dlpack.c - tensors from and to DLPack's, with the dlpack.h of this machine. */
#include "support.h"

#include <dlpack/dlpack.h>

#include "taper/dlpack.h"

/* Codes and bits by number, as DLPack's header has them; 0 bits: none. */
static const struct {
    taper_dtype type;
    uint8_t code, bits;
} types[] = {
    {TAPER_I8, 0, 8},      {TAPER_I16, 0, 16},        {TAPER_I32, 0, 32},
    {TAPER_I64, 0, 64},    {TAPER_I4, 0, 4},          {TAPER_I2, 0, 2},
    {TAPER_U8, 1, 8},      {TAPER_U16, 1, 16},        {TAPER_U32, 1, 32},
    {TAPER_U64, 1, 64},    {TAPER_U4, 1, 4},          {TAPER_U2, 1, 2},
    {TAPER_F16, 2, 16},    {TAPER_F32, 2, 32},        {TAPER_F64, 2, 64},
    {TAPER_BF16, 4, 16},   {TAPER_C64, 5, 64},        {TAPER_C128, 5, 128},
    {TAPER_BOOL, 6, 8},    {TAPER_F8E4M3FN, 10, 8},   {TAPER_F8E4M3FNUZ, 11, 8},
    {TAPER_F8E5M2, 12, 8}, {TAPER_F8E5M2FNUZ, 13, 8}, {TAPER_F8E8M0, 14, 8},
    {TAPER_F4E2M1, 17, 4},
};
enum { TYPES = sizeof types / sizeof *types };

#if defined(DLPACK_MAJOR_VERSION) &&                                                   \
    (DLPACK_MAJOR_VERSION > 1 ||                                                       \
     (DLPACK_MAJOR_VERSION == 1 && DLPACK_MINOR_VERSION >= 1))
_Static_assert(kDLBool == 6 && kDLFloat8_e4m3fn == 10 && kDLFloat8_e4m3fnuz == 11 &&
                   kDLFloat8_e5m2 == 12 && kDLFloat8_e5m2fnuz == 13 &&
                   kDLFloat8_e8m0fnu == 14 && kDLFloat4_e2m1fn == 17,
               "the codes of DLPack 1.1");
#endif

static const struct numbers {
    int64_t shape[3], strides[3];
} numbers = {{2, 3, 4}, {12, 4, 1}};

static taper_dtype want_type(unsigned code, unsigned bits, unsigned lanes)
{
    for (int i = 0; i < TYPES && lanes == 1; i++)
        if (types[i].code == code && types[i].bits == bits)
            return types[i].type;
    return (taper_dtype)0;
}

/* Every code and number of bits, and some lanes. */
static void test_types(void **state)
{
    static const uint16_t lanes[] = {0, 1, 2, 3, 4, 16, 256, 257, UINT16_MAX};
    (void)state;
    for (unsigned code = 0; code < 256; code++)
        for (unsigned bits = 0; bits < 256; bits++)
            for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++) {
                const DLDataType type = {(uint8_t)code, (uint8_t)bits, lanes[i]};
                assert_int_equal(taper_dtype_from_dlpack(type),
                                 want_type(code, bits, lanes[i]));
            }
    int known = 0;
    for (int number = -3; number < 40; number++) {
        const DLDataType type = taper_dtype_to_dlpack((taper_dtype)number);
        int row = 0;
        while (row < TYPES && (int)types[row].type != number)
            row++;
        assert_int_equal(type.code, row < TYPES ? types[row].code : 0);
        assert_int_equal(type.bits, row < TYPES ? types[row].bits : 0);
        assert_int_equal(type.lanes, row < TYPES);
        known += row < TYPES;
        if (row < TYPES)
            assert_int_equal(type.bits, taper_dtype_bits(types[row].type));
    }
    assert_int_equal(known, TYPES);
    assert_int_equal(known, TAPER_I2 - 1); /* all but string */
    assert_int_equal(taper_dtype_to_dlpack((taper_dtype)INT32_MAX).lanes, 0);
    assert_int_equal(taper_dtype_to_dlpack((taper_dtype)INT32_MIN).lanes, 0);
}

static DLTensor sample(void *data, int64_t *shape, int64_t *strides)
{
    DLTensor t;
    memset(&t, 0, sizeof t);
    t.data = data;
    t.device.device_type = kDLCPU;
    t.ndim = 3;
    t.dtype = (DLDataType){kDLFloat, 32, 1};
    t.shape = shape;
    t.strides = strides;
    return t;
}

static void test_from(void **state)
{
    struct numbers n = numbers;
    char data[64];
    taper_tensor to = {0};
    (void)state;

    DLTensor from = sample(data, n.shape, n.strides);
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_ptr_equal(to.data, data);
    assert_int_equal(to.type, TAPER_F32);
    assert_int_equal(to.rank, 3);
    assert_ptr_equal(to.shape, n.shape);
    assert_ptr_equal(to.strides, n.strides);

    from.byte_offset = 13; /* no alignment is assumed */
    from.strides = NULL;
    from.dtype = (DLDataType){17, 4, 1};
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_ptr_equal(to.data, data + 13);
    assert_int_equal(to.type, TAPER_F4E2M1);
    assert_null(to.strides);

    from.ndim = 0;
    from.shape = NULL;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_int_equal(to.rank, 0);
    assert_null(to.shape);

    /* an empty tensor has no data */
    from.data = NULL;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_null(to.data);

    /* what the functions that use it find out */
    from = sample(data, NULL, NULL);
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_int_equal(taper_tensor_fill(&to, data), TAPER_NULL);
    from.ndim = -1;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_OK);
    assert_int_equal(taper_tensor_fill(&to, data), TAPER_BAD_SHAPE);
}

static void test_from_devices(void **state)
{
    struct numbers n = numbers;
    char data[64];
    (void)state;
    for (int device = 0; device < 32; device++) {
        taper_tensor to = {NULL, TAPER_U8, 77, NULL, NULL};
        DLTensor from = sample(data, n.shape, n.strides);
        const bool host = device == 1 || device == 3 || device == 11;
        from.device.device_type = (DLDeviceType)device;
        from.device.device_id = device;
        assert_int_equal(taper_from_dlpack(&from, &to),
                         host ? TAPER_OK : TAPER_UNSUPPORTED);
        assert_int_equal(to.rank, host ? 3 : 77);
    }
}

static void test_from_refused(void **state)
{
    struct numbers n = numbers;
    char data[64];
    taper_tensor to = {data, TAPER_U8, 77, NULL, NULL};
    const DLTensor good = sample(data, n.shape, n.strides);
    (void)state;
    assert_int_equal(taper_from_dlpack(NULL, &to), TAPER_NULL);
    assert_int_equal(taper_from_dlpack(&good, NULL), TAPER_NULL);

    DLTensor from = good;
    from.byte_offset = UINT64_MAX;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_TOO_LARGE);
    from.byte_offset = (uint64_t)PTRDIFF_MAX + 1;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_TOO_LARGE);
    from.dtype.lanes = 2;
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_UNSUPPORTED);
    from = good;
    from.dtype = (DLDataType){8, 8, 1}; /* kDLFloat8_e4m3 */
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_UNSUPPORTED);
    from.dtype = (DLDataType){kDLOpaqueHandle, 64, 1};
    assert_int_equal(taper_from_dlpack(&from, &to), TAPER_UNSUPPORTED);

    assert_ptr_equal(to.data, data);
    assert_int_equal(to.type, TAPER_U8);
    assert_int_equal(to.rank, 77);
}

static void check_strides(const int64_t *strides, const int64_t *want, size_t rank)
{
    for (size_t k = 0; k < rank; k++)
        assert_int_equal(strides[k], want[k]);
}

static void test_to(void **state)
{
    struct numbers n = numbers;
    char data[64];
    int64_t room[4] = {-7, -7, -7, -7};
    DLTensor to = {0};
    (void)state;

    taper_tensor from = {data, TAPER_BF16, 3, n.shape, n.strides};
    memset(&to, 0xff, sizeof to);
    assert_int_equal(taper_to_dlpack(&from, NULL, &to), TAPER_OK);
    assert_ptr_equal(to.data, data);
    assert_int_equal(to.device.device_type, kDLCPU);
    assert_int_equal(to.device.device_id, 0);
    assert_int_equal(to.ndim, 3);
    assert_int_equal(to.dtype.code, kDLBfloat);
    assert_int_equal(to.dtype.bits, 16);
    assert_int_equal(to.dtype.lanes, 1);
    assert_ptr_equal(to.shape, n.shape);
    assert_ptr_equal(to.strides, n.strides);
    assert_int_equal(to.byte_offset, 0);

    /* its own strides are used, and the room is left alone */
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_OK);
    assert_ptr_equal(to.strides, n.strides);
    assert_int_equal(room[0], -7);

    from.strides = NULL;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_OK);
    assert_ptr_equal(to.strides, room);
    check_strides(room, numbers.strides, 3);
    assert_int_equal(room[3], -7);

    from.rank = 0;
    assert_int_equal(taper_to_dlpack(&from, NULL, &to), TAPER_OK);
    assert_int_equal(to.ndim, 0);
    assert_int_equal(taper_to_dlpack(&from, room + 3, &to), TAPER_OK);
    assert_int_equal(room[3], -7);
    assert_memory_equal(&n, &numbers, sizeof n);

    /* empty tensors: no product of the others can overflow */
    static const int64_t empty[][3] = {
        {0, INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX, 0}, {2, 0, 3}};
    static const int64_t ones[] = {1, 1, 1};
    from.rank = 3;
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        from.shape = empty[i];
        assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_OK);
        check_strides(room, ones, 3);
        assert_null(to.data);
    }

    /* the largest product there can be */
    static const int64_t most[] = {1, INT64_MAX, 1}, most_strides[] = {INT64_MAX, 1, 1};
    from.shape = most;
    from.type = TAPER_U8;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_OK);
    check_strides(room, most_strides, 3);
}

static void test_to_refused(void **state)
{
    static const int64_t negative[] = {2, -1, 0}, large[] = {INT64_MAX, 3, 1};
    char data[64];
    int64_t room[3] = {-7, -7, -7};
    DLTensor to, before;
    const taper_tensor good = {data, TAPER_F32, 3, numbers.shape, NULL};
    taper_tensor from;
    (void)state;
    memset(&to, 0x55, sizeof to);
    before = to;
    assert_int_equal(taper_to_dlpack(NULL, room, &to), TAPER_NULL);
    assert_int_equal(taper_to_dlpack(&good, room, NULL), TAPER_NULL);
    assert_int_equal(taper_to_dlpack(&good, NULL, &to), TAPER_NULL);
    from = good;
    from.shape = NULL;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_NULL);
    from = good;
    from.type = (taper_dtype)27;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_BAD_DTYPE);
    assert_int_equal(taper_to_dlpack(&from, NULL, NULL), TAPER_BAD_DTYPE);
    from.type = TAPER_STRING;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_UNSUPPORTED);
    from = good;
    from.shape = negative;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_BAD_SHAPE);
    from.rank = -1;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_BAD_SHAPE);
    from = good;
    from.shape = large;
    assert_int_equal(taper_to_dlpack(&from, room, &to), TAPER_TOO_LARGE);
    assert_memory_equal(&to, &before, sizeof to);
    assert_int_equal(room[0], -7);
}

/* Structures and strides that end at a page without access; data, and of a source of
 * taper_from_dlpack() shape and strides, are not looked at. */
static void test_bounds(void **state)
{
    int64_t *const wild = wild_pointer();
    DLTensor *const dl = (DLTensor *)guarded_new(sizeof *dl).end - 1;
    taper_tensor *const t = (taper_tensor *)guarded_new(sizeof *t).end - 1;
    int64_t *const room = (int64_t *)guarded_new(3 * sizeof *room).end - 3;
    int64_t *const shape = (int64_t *)guarded_new(3 * sizeof *shape).end - 3;
    (void)state;
    *dl = sample(wild, wild, wild);
    assert_int_equal(taper_from_dlpack(dl, t), TAPER_OK);
    assert_ptr_equal(t->data, wild);
    assert_ptr_equal(t->strides, wild);

    memcpy(shape, numbers.shape, sizeof numbers.shape);
    t->shape = shape;
    assert_int_equal(taper_to_dlpack(t, wild, dl), TAPER_OK); /* has strides */
    t->strides = NULL;
    assert_int_equal(taper_to_dlpack(t, room, dl), TAPER_OK);
    check_strides(room, numbers.strides, 3);
    assert_ptr_equal(dl->data, wild);
}

/* There and back, every type; and the work that it is for. */
static void test_round_trip(void **state)
{
    struct numbers n = numbers;
    int64_t room[3];
    char data[64];
    (void)state;
    for (int i = 0; i < TYPES; i++)
        for (int how = 0; how < 2; how++) {
            const taper_tensor from = {data, types[i].type, 3, n.shape,
                                       how == 0 ? NULL : n.strides};
            taper_tensor back = {0};
            DLTensor middle = {0};
            assert_int_equal(taper_to_dlpack(&from, room, &middle), TAPER_OK);
            assert_int_equal(taper_from_dlpack(&middle, &back), TAPER_OK);
            assert_ptr_equal(back.data, data);
            assert_int_equal(back.type, types[i].type);
            assert_int_equal(back.rank, 3);
            assert_ptr_equal(back.shape, n.shape);
            check_strides(back.strides, n.strides, 3);
        }

    /* the second column of a matrix, 4 bytes into its memory */
    float matrix[1 + 6] = {9, 1, 2, 3, 4, 5, 6};
    uint16_t halves[3] = {0};
    int64_t shape[] = {3}, strides[] = {2};
    DLTensor column = sample(matrix, shape, strides), dense = column;
    taper_tensor src = {0}, dst = {0};
    column.ndim = dense.ndim = 1;
    column.byte_offset = 2 * sizeof *matrix;
    dense.data = halves;
    dense.dtype.bits = 16;
    dense.strides = NULL;
    assert_int_equal(taper_from_dlpack(&column, &src), TAPER_OK);
    assert_int_equal(taper_from_dlpack(&dense, &dst), TAPER_OK);
    assert_int_equal(taper_tensor_cast(&dst, &src, NULL), TAPER_OK);
    static const uint16_t want[3] = {0x4000, 0x4400, 0x4600}; /* 2, 4, 6 */
    assert_memory_equal(halves, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),        cmocka_unit_test(test_from),
        cmocka_unit_test(test_from_devices), cmocka_unit_test(test_from_refused),
        cmocka_unit_test(test_to),           cmocka_unit_test(test_to_refused),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
