"""taper - fill, copy, narrow and widen arrays of numbers, with the same bits on every CPU.

The functions take NumPy arrays, those with the types of ml_dtypes too, anything with the
buffer protocol, and DLPack tensors in the CPU's memory; nothing is copied on the way in.
Results are new NumPy arrays.

Arguments that cannot be taken raise an exception that begins with the name of the argument:
TypeError for a type, ValueError for a shape, a layout, read-only memory or an overlap,
OverflowError for a number that does not fit, BufferError for memory that its owner does not
share with a CPU, and ImportError for a result that needs ml_dtypes where that is missing.
Nothing has been written then.

While a call works on more than 64 KiB, other Python threads run. Do not write to its
arguments from them.
"""

from . import _taper
from ._taper import (
    cast,
    constant_of_shape,
    copyto,
    full,
    info,
    pack_fp4,
    set_num_threads,
    unpack_fp4,
)

__all__ = [
    "NEWEST_OPSET",
    "cast",
    "constant_of_shape",
    "copyto",
    "full",
    "identity",
    "info",
    "pack_fp4",
    "set_num_threads",
    "unpack_fp4",
]
__version__ = _taper.info()["version"]

NEWEST_OPSET = _taper.info()["newest_opset"]

# taper_kind: add 2 for an optional
_TENSOR, _SEQUENCE, _OPTIONAL = 0, 1, 2


def identity(x, *, opset=NEWEST_OPSET, optional=False):
    """The ONNX operator Identity, in the version of an operator set: a copy, bit for bit.

    x: a tensor, or a list or tuple of tensors, which is a sequence; None is an optional
        without a value. Arrays of str or bytes are tensors of strings.
    opset: 1 to 26. A type or kind that came later raises TypeError.
    optional: whether x has the type optional(...), which takes fewer element types.

    >>> import numpy as np, taper
    >>> taper.identity(np.array([1, 2], np.int16))
    array([1, 2], dtype=int16)
    >>> taper.identity([np.zeros(1, np.float32), np.zeros((1, 2), np.float32)])
    [array([0.], dtype=float32), array([[0., 0.]], dtype=float32)]
    >>> taper.identity([], opset=13)
    Traceback (most recent call last):
        ...
    TypeError: x: sequences of float came with Identity-14, and operator set 13 has Identity-13
    """
    if x is None:
        _taper.check_identity("float", opset, _OPTIONAL)
        return None
    kind = _OPTIONAL if optional else _TENSOR
    if not isinstance(x, (list, tuple)):
        return _copy(x, opset, kind)
    kind += _SEQUENCE
    _taper.check_identity("float", opset, kind)  # of empty ones no more is known
    copies = [_copy(tensor, opset, kind) for tensor in x]
    if len({_element_type(copy) for copy in copies}) > 1:
        raise TypeError("x: expected tensors of one element type in a sequence")
    return copies


def _is_strings(x):
    dtype = getattr(x, "dtype", None)
    return getattr(dtype, "kind", "") in tuple("OSTU")  # T: numpy.dtypes.StringDType


def _element_type(x):
    return "string" if _is_strings(x) else x.dtype


def _copy(x, opset, kind):
    if not _is_strings(x):
        return _taper.identity_tensor(x, opset, kind)
    if x.dtype.kind == "O" and not all(isinstance(s, (str, bytes)) for s in x.flat):
        raise TypeError("x: expected str or bytes in an array of objects")
    _taper.check_identity("string", opset, kind)
    return x.copy()
