/* status.c - texts of statuses, and the version. */
#include "taper/taper.h"

const char *taper_status_text(taper_status status)
{
    switch (status) {
    case TAPER_OK:
        return "success";
    case TAPER_BAD_DTYPE:
        return "unknown element type";
    case TAPER_UNSUPPORTED:
        return "the operation does not take this element type";
    case TAPER_BAD_OPTION:
        return "option or setting out of range";
    case TAPER_TOO_LARGE:
        return "too many elements, bytes or dimensions";
    case TAPER_NULL:
        return "null pointer";
    case TAPER_OVERLAP:
        return "source and destination overlap";
    case TAPER_BAD_ISA:
        return "instruction set not available here";
    case TAPER_BAD_SHAPE:
        return "negative rank or dimension, or not the rank that is needed";
    case TAPER_BAD_STRIDE:
        return "strides out of range, not contiguous, or of a shared destination "
               "element";
    case TAPER_TYPE_MISMATCH:
        return "element types differ";
    case TAPER_SHAPE_MISMATCH:
        return "shapes differ";
    case TAPER_BAD_OPSET:
        return "operator set without this operator";
    case TAPER_TYPE_TOO_NEW:
        return "element type that a later version of the operator brought";
    case TAPER_NOT_ONE_ELEMENT:
        return "no or several elements where one is needed";
    case TAPER_BAD_KIND:
        return "unknown kind of value, or a wrong number of tensors for it";
    case TAPER_BAD_OFFSETS:
        return "offsets of strings fall, or lead out of the bytes";
    }
    return "unknown status";
}

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)

const char *taper_version(void)
{
    return TEXT(TAPER_VERSION_MAJOR) "." TEXT(TAPER_VERSION_MINOR) "." TEXT(
        TAPER_VERSION_PATCH);
}
