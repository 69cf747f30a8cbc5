"""Files that are wrong: one line that names file, tensor and fault, and exit code 3."""

import os
import struct

import pytest

from checkpoint import entry, raw

F32 = entry("F32", [2], 0, 8)
DATA = bytes(8)

# name: (content of the file, tensor or None, words of the message)
FAULTS = {
    "empty": (b"", None, "has 0 bytes"),
    "short": (b"1234567", None, "has 7 bytes"),
    "length beyond the file": (raw({"a": F32}, DATA)[:20], None, "only 12 follow"),
    "length huge": (struct.pack("<Q", 2**64 - 1) + b"{}", None, "18446744073709551615"),
    "header empty": (raw(""), None, "not JSON"),
    "header no object": (raw("[1]"), None, "does not begin with '{'"),
    "not JSON": (raw('{"a": {"dtype"'), None, "is not JSON"),
    "text after JSON": (raw("{} x"), None, "is not JSON"),
    "not UTF-8": (raw(b'{"\xff": 1}'), None, "is not JSON"),
    "number too large": (raw('{"a": 99999999999999999999}'), None, "is not JSON"),
    "duplicate name": (
        raw('{"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "a": 1}', DATA),
        None,
        "has a name twice: duplicate object key near '\"a\"'",
    ),
    "metadata no object": (raw({"__metadata__": []}), None, "__metadata__"),
    "metadata not text": (raw({"__metadata__": {"k": 1}}), None, 'value of "k"'),
    "entry no object": (raw({"a": 1}), "a", "is not an object"),
    "no dtype": (raw({"a": {"shape": [], "data_offsets": [0, 0]}}), "a", '"dtype"'),
    "unknown dtype": (raw({"a": entry("F7", [2], 0, 8)}, DATA), "a", 'dtype "F7"'),
    "dtype in lower case": (raw({"a": entry("f32", [2], 0, 8)}, DATA), "a", '"f32"'),
    "no shape": (raw({"a": {"dtype": "F32", "data_offsets": [0, 4]}}), "a", '"shape"'),
    "negative dimension": (raw({"a": entry("U8", [2, -1], 0, 8)}), "a", "dimension 1"),
    "fractional dimension": (raw({"a": entry("U8", [2.0], 0, 2)}), "a", "dimension 0"),
    "elements overflow": (raw({"a": entry("U8", [2**32] * 2, 0, 8)}), "a", "overflows"),
    "bytes overflow": (raw({"a": entry("F64", [2**62], 0, 8)}), "a", "overflows"),
    "half a byte": (raw({"a": entry("F4", [3], 0, 2)}), "a", "whole number of bytes"),
    "F6 of 5": (raw({"a": entry("F6_E2M3", [5], 0, 4)}), "a", "whole number of bytes"),
    "no offsets": (raw({"a": {"dtype": "U8", "shape": [1]}}), "a", "data_offsets"),
    "one offset": (
        raw({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0]}}),
        "a",
        "data_offsets",
    ),
    "negative offset": (raw({"a": entry("U8", [1], -1, 0)}), "a", "data_offsets"),
    "offsets swapped": (raw({"a": entry("U8", [8], 8, 0)}, DATA), "a", "before they begin"),
    "too few bytes": (raw({"a": entry("F32", [3], 0, 8)}, DATA), "a", "is 12"),
    "too many bytes": (raw({"a": entry("F32", [1], 0, 8)}, DATA), "a", "is 4"),
    "hole in front": (raw({"a": entry("U8", [4], 4, 8)}, DATA), "a", "hole: begins at"),
    "hole between": (
        raw({"a": entry("U8", [2], 0, 2), "b": entry("U8", [5], 3, 8)}, DATA),
        "b",
        'hole: begins at byte 3 of the data, but tensor "a" ends at 2',
    ),
    "hole at the end": (raw({"a": F32}, DATA + b"1"), None, "hole: the tensors end"),
    "overlap": (
        raw({"a": entry("U8", [8], 0, 8), "b": entry("U8", [4], 4, 8)}, DATA),
        "b",
        'overlap: begins at byte 4 of the data, but tensor "a" ends at 8',
    ),
    "empty tensor inside another": (
        raw({"a": entry("U8", [8], 0, 8), "b": entry("U8", [0], 4, 4)}, DATA),
        "b",
        "overlap",
    ),
    "truncated": (raw({"a": F32}, DATA[:7]), "a", "truncated: ends at byte 8"),
    "name with a line break": (raw({"a\nb": entry("F7", [], 0, 0)}), "a?b", "F7"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(taper, tmp_path, fault):
    content, tensor, words = FAULTS[fault]
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(content)
    for command in (["ls", bad], ["convert", bad, tmp_path / "out", "--to", "bf16"]):
        done = taper(*command, code=3)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        where = f"taper: {bad}: " + (f'tensor "{tensor}": ' if tensor else "")
        assert done.stderr.startswith(where) and words in done.stderr
    assert list(tmp_path.iterdir()) == [bad] and bad.read_bytes() == content


def test_what_is_unusual_but_right(taper, tmp_path):
    """Spaces after the JSON, entries out of order, keys unknown, empty tensors anywhere."""
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    header = (
        '{"b":{"shape":[1],"data_offsets":[4,8],"dtype":"F32","note":"mine"},'
        '"none":{"dtype":"F32","shape":[0,9],"data_offsets":[4,4]},'
        '"__metadata__":{"format":"pt","\u00fc":"\u4f60"},'
        '"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}   '
    )
    src.write_bytes(raw(header, struct.pack("<2f", 1, 2)))
    taper("convert", src, out, "--to", "bf16")
    want = (
        '{"b":{"shape":[1],"data_offsets":[2,4],"dtype":"BF16","note":"mine"},'
        '"none":{"dtype":"BF16","shape":[0,9],"data_offsets":[2,2]},'
        '"__metadata__":{"format":"pt","\u00fc":"\u4f60"},'
        '"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}'
    ).encode()
    want += b" " * (-len(want) % 8)
    assert out.read_bytes() == raw(want, bytes.fromhex("803f0040"))


def test_no_tensors_at_all(taper, tmp_path):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    src.write_bytes(raw("{}"))
    assert taper("ls", src).stdout == "0 tensors, 0 bytes\n"
    taper("convert", src, out, "--to", "bf16")
    assert out.read_bytes() == raw("{}      ")


@pytest.mark.parametrize("command", [["ls"], ["convert", "--to", "bf16", "out"]])
def test_fifo(taper, tmp_path, command):
    """What would be waited for forever is refused at once."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    arguments = [fifo] + [tmp_path / "out"] * ("out" in command)
    options = [word for word in command if word != "out"]
    message = taper(*options, *arguments, code=3).stderr
    assert "is not a regular file" in message
