"""What `taper convert` does with files: which tensors, folders, and what it leaves."""

import json
import os
import pty
import resource
import signal
import subprocess
import time

import numpy as np
import pytest
from safetensors.numpy import load_file

import checkpoint
from conftest import PROGRAM

X = np.arange(6, dtype=np.float32)
BF16 = (X.view(np.uint32) >> 16).astype(np.uint16).tobytes()


def f32(n=6):
    return ("F32", [n], X[:n].tobytes())


@pytest.fixture
def model(tmp_path):
    """A file with something of everything."""
    path = tmp_path / "in.safetensors"
    checkpoint.write(
        path,
        {
            "z.weight": f32(),
            "z.bias": f32(3),
            "ids": ("I64", [2], bytes(range(16))),
            "half": ("BF16", [6], BF16),
            "empty": ("F32", [0, 5], b""),
            "scalar": ("F32", [], X[1:2].tobytes()),
            "six": ("F6_E3M2", [4], b"\x01\x02\x03"),
            "pairs": ("F4", [2, 2], b"\x21\x43"),
            "complex": ("C64", [1], bytes(8)),
            "flag": ("BOOL", [1], b"\1"),
        },
        {"format": "pt", "author": "me"},
    )
    return path


def test_kinds_of_tensors(taper, model, tmp_path):
    out = tmp_path / "out.safetensors"
    taper("convert", model, out, "--to", "bf16")
    before, metadata = checkpoint.read(model)
    after, metadata_after = checkpoint.read(out)
    assert list(after) == list(before) and metadata_after == metadata
    assert after["z.weight"] == ("BF16", [6], BF16)
    assert after["empty"] == ("BF16", [0, 5], b"")
    assert after["scalar"] == ("BF16", [], BF16[2:4])
    assert after["pairs"] == ("BF16", [2, 2], bytes.fromhex("003f803fc03f0040"))
    for name in ("half", "ids", "six", "complex", "flag"):
        assert after[name] == before[name]


def test_odd_count_stays_with_f4(taper, model, tmp_path):
    out = tmp_path / "out.safetensors"
    lines = taper("convert", model, out, "--to", "f4").stdout
    before, after = checkpoint.read(model)[0], checkpoint.read(out)[0]
    assert after["z.weight"][0] == "F4" and len(after["z.weight"][2]) == 3
    assert after["empty"] == ("F4", [0, 5], b"")
    for name in ("z.bias", "scalar"):
        assert after[name] == before[name]
        assert f'stays F32: tensor "{name}" of {model} has an odd number' in lines


@pytest.mark.parametrize(
    "options, cast",
    [
        (["--match", "^z"], {"z.weight", "z.bias"}),
        (["--keep", r"\.bias$"], {"z.weight", "empty", "scalar", "pairs"}),
        (["--match", "z|pairs", "--keep", "bias"], {"z.weight", "pairs"}),
        (["--match", "nothing"], set()),
    ],
)
def test_match_and_keep(taper, model, tmp_path, options, cast):
    out = tmp_path / "out.safetensors"
    lines = taper("convert", model, out, "--to", "bf16", *options).stdout
    before, after = checkpoint.read(model)[0], checkpoint.read(out)[0]
    for name in before:
        if name in cast:
            assert after[name][0] == "BF16"
        else:
            assert after[name] == before[name]
    assert ("--match fits the name of no tensor" in lines) == (not cast)


def test_dry_run_and_quiet(taper, model, tmp_path):
    out = tmp_path / "out.safetensors"
    dry = taper("convert", model, out, "--to", "bf16", "--dry-run").stdout.splitlines()
    assert taper("convert", model, out, "--to", "bf16", "--dry-run", "-q").stdout == ""
    assert list(tmp_path.iterdir()) == [model]
    done = taper("convert", model, out, "--to", "bf16", "-q")
    assert done.stdout == done.stderr == ""
    row = next(line.split() for line in dry if line.startswith("F32 to BF16"))
    assert row[3:6] == ["4", "40", "20"] and set(row[6:]) == {"-"}
    total = next(line.split() for line in dry if line.startswith("total"))
    assert total[1:4] == ["10", "82", "68"]


def test_names_of_no_file(taper, model, folder, tmp_path):
    """Refused before the work, so that a --dry-run finds them too."""
    none = "taper: the name of the {} is empty: give one\n"
    file = "taper: {}: is the name of a folder, and the output is a file: add its name\n"
    nameless = "taper: {}: ends without a name: add the one that the {} is to have\n"
    for more in ([], ["--dry-run"], ["--force"]):

        def refusal(src, out, code=2):
            return taper("convert", src, out, "--to", "bf16", *more, code=code).stderr

        assert refusal("", tmp_path / "out").startswith(none.format("input"))
        for src in (model, folder):
            assert refusal(src, "") == none.format("output")
            parent = tmp_path / "no"
            assert refusal(src, parent / "out", code=3) == (
                f"taper: {parent}/out: there is no folder {parent}: "
                "make it first, or choose another name\n"
            )
        assert refusal(model, f"{tmp_path}/out/") == file.format(f"{tmp_path}/out/")
        for name in (".", "..", f"{tmp_path}/.", f"{folder}/.."):
            assert refusal(model, name) == nameless.format(name, "file")
        for name in (".", "..", "/", "//", f"{tmp_path}/.", f"{folder}/..//", "./"):
            assert refusal(folder, name) == nameless.format(name, "folder")
    assert sorted(tmp_path.iterdir()) == [model, folder]


@pytest.mark.parametrize("name", ["...", ".a", "..a", "a."])
def test_names_with_points(taper, model, tmp_path, name):
    taper("convert", model, tmp_path / name, "--to", "bf16", "-q")
    assert sorted(tmp_path.iterdir()) == sorted([model, tmp_path / name])


def test_folder_that_is_not_for_writing(taper, model, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(0o500)
    if os.access(closed, os.W_OK):
        pytest.skip("the superuser may write there")
    out = closed / "out"
    done = taper("convert", model, out, "--to", "bf16", "--dry-run", code=3)
    assert done.stderr == (
        f"taper: {out}: the folder {closed} cannot be written to: Permission denied\n"
    )


def test_force_and_mode(taper, model, tmp_path):
    out = tmp_path / "out.safetensors"
    model.chmod(0o640)
    out.write_text("old")
    done = taper("convert", model, out, "--to", "bf16", code=2)
    assert done.stderr == f"taper: {out}: exists; --force replaces it\n"
    assert out.read_text() == "old"
    done = taper("convert", model, out, "--to", "bf16", "--force")
    assert done.stderr == ""  # not a terminal, so no progress
    assert checkpoint.read(out)[0]["z.weight"][0] == "BF16"
    assert out.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [model, out]


def test_output_may_be_the_input(taper, model, tmp_path):
    other = tmp_path / "out.safetensors"
    taper("convert", model, other, "--to", "bf16")
    taper("convert", model, model, "--to", "bf16", code=2)
    taper("convert", model, model, "--to", "bf16", "--force")
    assert model.read_bytes() == other.read_bytes()


def test_output_that_cannot_be(taper, model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    faults = {
        tmp_path: "is a folder, and the output is a file: add its name",
        pipe: "exists and is no file, as the output is: choose another name",
    }
    for out, fault in faults.items():
        for force in ([], ["--force"]):
            done = taper("convert", model, out, "--to", "bf16", *force, code=2)
            assert done.stderr == f"taper: {out}: {fault}\n"
    assert pipe.is_fifo()
    pipe.unlink()
    done = taper("convert", tmp_path / "no", tmp_path / "out", "--to", "bf16", code=3)
    assert "No such file or directory" in done.stderr
    assert list(tmp_path.iterdir()) == [model]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_output_that_is_a_link(taper, model, folder, tmp_path, force):
    """Replacing it would leave what it points to as it was; so would --force."""
    target = tmp_path / "target"
    target.write_text("mine")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    link = tmp_path / "link"
    before = sorted([*tmp_path.iterdir(), link])
    for to in (model, target, pipe, folder, tmp_path / "none"):
        link.symlink_to(to)
        done = taper("convert", model, link, "--to", "bf16", *force, code=2)
        assert done.stderr == f"taper: {link}: is a symbolic link: name the file itself\n"
        for out in (link, f"{link}/"):
            done = taper("convert", folder, out, "--to", "bf16", *force, code=2)
            assert done.stderr == f"taper: {out}: is a symbolic link: name the folder itself\n"
        assert link.readlink() == to and sorted(tmp_path.iterdir()) == before
        link.unlink()
    assert target.read_text() == "mine" and pipe.is_fifo()


# ---- folders


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    names = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    checkpoint.write(path / names[0], {"b": f32(), "ids": ("I32", [1], b"1234")})
    checkpoint.write(path / names[1], {"a": f32(4)}, {"format": "pt"})
    index = {
        "metadata": {"total_size": 44, "other": "kept"},
        "weight_map": {"b": names[0], "a": names[1], "ids": names[0]},
    }
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    (path / "config.json").write_text('{"torch_dtype":  "float32"}')
    (path / "onnx").mkdir()
    return path


def index_of(folder):
    return json.loads((folder / "model.safetensors.index.json").read_text())


def test_folder(taper, folder, tmp_path):
    out = tmp_path / "out"
    folder.chmod(0o750)
    lines = taper("convert", folder, f"{out}/", "--to", "bf16", "-j", 2).stdout
    assert f"left out: {folder}/onnx is no file" in lines
    assert sorted(tmp_path.iterdir()) == [folder, out]
    assert {p.name for p in out.iterdir()} == {p.name for p in folder.iterdir()} - {"onnx"}
    assert (out / "config.json").read_bytes() == (folder / "config.json").read_bytes()
    index, before = index_of(out), index_of(folder)
    assert index["metadata"] == {"total_size": 24, "other": "kept"}
    assert list(index["weight_map"].items()) == list(before["weight_map"].items())
    sizes = {}
    for shard in out.glob("*.safetensors"):
        tensors, metadata = checkpoint.read(shard)
        sizes |= {name: len(t[2]) for name, t in tensors.items()}
        assert metadata == checkpoint.read(folder / shard.name)[1]
    assert sizes == {"b": 12, "ids": 4, "a": 8}
    assert out.stat().st_mode & 0o777 == 0o750


def test_folder_that_exists(taper, folder, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    assert "exists" in taper("convert", folder, out, "--to", "f16", code=2).stderr
    done = taper("convert", folder, out, "--to", "f16", "--force", code=2)
    assert "holds no .safetensors file" in done.stderr
    assert (out / "mine.txt").read_text() == "mine"
    (out / "old.safetensors").write_text("old")
    taper("convert", folder, out, "--to", "f16", "--force")
    assert not (out / "mine.txt").exists() and (out / "config.json").exists()
    assert sorted(tmp_path.iterdir()) == [folder, out]

    done = taper("convert", folder, folder, "--to", "f16", "--force", code=2)
    assert "has folders inside" in done.stderr
    (folder / "onnx").rmdir()
    taper("convert", folder, folder, "--to", "f16", "--force")
    for path in out.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_folder_of_links(taper, folder, tmp_path):
    """Caches of hubs keep the files elsewhere and link to them."""
    cache, out = tmp_path / "cache", tmp_path / "out"
    cache.mkdir()
    for path in folder.glob("*.*"):
        (cache / path.name).symlink_to(path)
    taper("convert", cache, out, "--to", "f8_e4m3")
    assert not any(p.is_symlink() for p in out.iterdir())
    assert index_of(out)["metadata"]["total_size"] == 14


@pytest.mark.parametrize(
    "index, fault",
    [
        ("{", "is not JSON"),
        ("{}", 'has no object called "weight_map"'),
        ('{"weight_map": {"a": "b", "a": "c"}}', "duplicate object key"),
        ({"a": "c.safetensors"}, 'tensor "a": is said to be in "c.safetensors", which is'),
        ({"x": "model-00001-of-00002.safetensors"}, 'tensor "x": is said to be in "model'),
        ({"a": 1}, 'tensor "a": is said to be in "?"'),
    ],
)
def test_index_faults(taper, folder, tmp_path, index, fault):
    path = folder / "model.safetensors.index.json"
    path.write_text(index if type(index) is str else json.dumps({"weight_map": index}))
    done = taper("convert", folder, tmp_path / "out", "--to", "bf16", code=3)
    assert done.stderr.startswith(f"taper: {path}: ") and fault in done.stderr
    assert done.stderr.count("\n") == 1 and list(tmp_path.iterdir()) == [folder]


def test_bad_shard_leaves_nothing(taper, folder, tmp_path):
    bad = folder / "model-00002-of-00002.safetensors"
    bad.write_bytes(bad.read_bytes()[:-1])
    done = taper("convert", folder, tmp_path / "out", "--to", "bf16", code=3)
    assert done.stderr.startswith(f'taper: {bad}: tensor "a": truncated')
    assert list(tmp_path.iterdir()) == [folder]


def test_folder_without_checkpoint(taper, tmp_path):
    (tmp_path / "in").mkdir()
    done = taper("convert", tmp_path / "in", tmp_path / "out", "--to", "bf16", code=3)
    assert "holds no .safetensors file" in done.stderr


# ---- when it does not go well


def limit(kind, bytes_):
    return lambda: resource.setrlimit(kind, (bytes_, bytes_))


def test_disk_full(taper, tmp_path):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    x = np.zeros(100_000, np.float32)
    checkpoint.write(src, {"x": ("F32", [len(x)], x.tobytes())})
    out.write_text("old")
    done = taper(
        *("convert", src, out, "--to", "bf16", "--force"),
        code=3,
        preexec_fn=limit(resource.RLIMIT_FSIZE, 50_000),
    )
    assert done.stderr.startswith(f"taper: {out}: ") and "File too large" in done.stderr
    assert sorted(tmp_path.iterdir()) == [src, out] and out.read_text() == "old"


def test_disk_full_in_a_folder(taper, folder, tmp_path):
    done = taper(
        *("convert", folder, tmp_path / "out", "--to", "bf16"),
        code=3,
        preexec_fn=limit(resource.RLIMIT_FSIZE, 170),  # the config fits, no shard does
    )
    assert "File too large" in done.stderr
    assert list(tmp_path.iterdir()) == [folder]


@pytest.fixture
def large(tmp_path):
    """Two gigabytes of zeros that take no room on the disk."""
    src = tmp_path / "in.safetensors"
    count = 1 << 29
    src.write_bytes(
        checkpoint.raw({"x": checkpoint.entry("F32", [count], 0, 4 * count)})
    )
    os.truncate(src, src.stat().st_size + 4 * count)
    return src


def start_and_wait(command, folder, **options):
    """Starts the program and waits until its unfinished output has been there a while."""
    slow = {**os.environ, "TAPER_ISA": "scalar"}
    run = subprocess.Popen([PROGRAM, *map(str, command)], env=slow, **options)
    for _ in range(500):
        if any(p.name.startswith(".taper-") for p in folder.iterdir()):
            break
        time.sleep(0.01)
    time.sleep(0.4)
    assert run.poll() is None, "finished before it could be interrupted"
    return run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(large, tmp_path, number):
    out = tmp_path / "out.safetensors"
    out.write_text("old")
    before = large.stat()
    command = ["convert", large, out, "--to", "f4", "-j", 1, "--force"]
    screen, terminal = pty.openpty()
    run = start_and_wait(command, tmp_path, stderr=terminal)
    status = open(f"/proc/{run.pid}/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0])  # KiB
    run.send_signal(number)
    assert run.wait(20) == -number
    assert sorted(tmp_path.iterdir()) == [large, out] and out.read_text() == "old"
    after = large.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert peak < 100 << 10
    shown = os.read(screen, 10_000).decode()
    assert "of 2.15 GB" in shown and "GB/s" in shown and "left" in shown


def test_interrupt_in_a_folder(large, tmp_path):
    folder, out = tmp_path / "model", tmp_path / "out"
    folder.mkdir()
    large.rename(folder / "b.safetensors")
    checkpoint.write(folder / "a.safetensors", {"a": f32()})
    run = start_and_wait(["convert", folder, out, "--to", "f4", "-j", 1], tmp_path)
    run.send_signal(signal.SIGINT)
    assert run.wait(20) == -signal.SIGINT
    assert list(tmp_path.iterdir()) == [folder]


def test_input_that_shrinks(large, tmp_path):
    out = tmp_path / "out.safetensors"
    command = ["convert", large, out, "--to", "f4", "-j", 1]
    run = start_and_wait(command, tmp_path, stderr=subprocess.PIPE, text=True)
    os.truncate(large, 1 << 20)
    assert f"{large}: cannot be read at byte" in run.communicate(timeout=20)[1]
    assert run.returncode == 3
    assert list(tmp_path.iterdir()) == [large]


def test_result_is_what_the_package_reads(taper, tmp_path):
    src, out = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    checkpoint.write(src, {"w": f32(), "n": ("I32", [], b"\1\0\0\0")})
    taper("convert", src, out, "--to", "f16")
    got = load_file(out)
    assert got["w"].dtype == np.float16 and (got["w"] == X).all() and got["n"] == 1
