"""A DLPack producer of any type and layout, honest or not, over the memory of an array."""

import ctypes

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


_new = ctypes.pythonapi.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

# code and bits by the name of the element type
TYPES = {
    "int8": (0, 8),
    "uint8": (1, 8),
    "int4": (0, 4),
    "float16": (2, 16),
    "float32": (2, 32),
    "float64": (2, 64),
    "bfloat16": (4, 16),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
    "float4_e2m1fn": (17, 4),
}


class Producer:
    """Has __dlpack__ for `array`, whose type it may call by another name; `deleted` counts
    how often what it gave away came back."""

    def __init__(self, array, dtype=None, *, versioned=True, **fields):
        self.array = array
        self.versioned = versioned
        self.deleted = 0
        self.given = 0
        code, bits = TYPES.get(dtype or array.dtype.name, (0, 0))
        strides = [s // array.itemsize for s in array.strides]
        self.fields = {
            "shape": array.shape,
            "strides": strides,
            "code": code,
            "bits": bits,
            "lanes": 1,
            "device_type": 1,
            "byte_offset": 0,
            "flags": 0,
            "major": 1,
            **fields,
        }

    def __dlpack_device__(self):
        return self.fields["device_type"], 0

    def __dlpack__(self, **keywords):
        if not self.versioned and keywords:
            raise TypeError("this one is from before versions")
        f = self.fields
        rank = f.get("rank", len(f["shape"]))
        integers = ctypes.c_int64 * max(1, len(f["shape"]))
        self.shape = integers(*f["shape"])
        strides = f["strides"]
        self.strides = None if strides is None else integers(*strides)
        tensor = Tensor(
            f.get("data", self.array.ctypes.data),
            f["device_type"],
            0,
            rank,
            f["code"],
            f["bits"],
            f["lanes"],
            self.shape,
            self.strides,
            f["byte_offset"],
        )
        self.deleter = DELETER(self._delete)
        if self.versioned:
            self.managed = Versioned(f["major"], 1, None, self.deleter, f["flags"], tensor)
            name = b"dltensor_versioned"
        else:
            self.managed = Managed(tensor, None, self.deleter)
            name = b"dltensor"
        self.given += 1
        return _new(ctypes.addressof(self.managed), name, None)

    def _delete(self, managed):
        assert managed == ctypes.addressof(self.managed)
        self.deleted += 1
