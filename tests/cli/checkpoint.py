"""Safetensors files by hand: for what the safetensors package will not write or read."""

import json
import struct
from pathlib import Path

BITS = {
    "F64": 64, "F32": 32, "F16": 16, "BF16": 16, "F8_E4M3": 8, "F8_E5M2": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "F8_E8M0": 8, "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
    "C64": 64, "I64": 64, "I32": 32, "I16": 16, "I8": 8, "U64": 64, "U32": 32, "U16": 16,
    "U8": 8, "BOOL": 8,
}  # fmt: skip


def raw(header, data=b""):
    """A file with this header: a dict, text or bytes, which nothing checks."""
    if isinstance(header, dict):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return struct.pack("<Q", len(header)) + header + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def write(path, tensors, metadata=None):
    """Writes `tensors`, {name: (dtype, shape, bytes)}, in their order."""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = entry(dtype, shape, len(data), len(data) + len(content))
        data += content
    Path(path).write_bytes(raw(header, data))


def read(path):
    """The reverse of write(): tensors in the order of the header, and the metadata."""
    content = Path(path).read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    data = content[8 + length :]
    metadata = header.pop("__metadata__", None)
    tensors, covered = {}, 0
    for name, t in header.items():
        begin, end = t["data_offsets"]
        count = 1
        for dim in t["shape"]:
            count *= dim
        assert (end - begin) * 8 == count * BITS[t["dtype"]], name
        covered += end - begin
        tensors[name] = (t["dtype"], t["shape"], data[begin:end])
    assert covered == len(data)
    return tensors, metadata
