"""The wheel: it can be built from the sources, and says rightly which interpreters it is for."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import abi3info
import pytest
from abi3info.models import PyVersion, Symbol

ROOT = Path(__file__).parent.parent.parent


def run(*command, **options):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=600, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel():
    """Built from the checkout with the interpreter's packages, so that none is fetched."""
    folder = Path(os.environ["TAPER_WHEEL_DIR"])
    for old in folder.glob("taper-*.whl"):
        old.unlink()
    # fmt: off
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps",
        "--no-build-isolation", "--no-cache-dir", "-w", folder, ROOT)
    # fmt: on
    (path,) = folder.glob("taper-*.whl")
    return path


def test_tag(wheel):
    name, version, python, abi, platform = wheel.stem.split("-")
    assert (name, python, abi) == ("taper", "cp311", "abi3")
    header = (ROOT / "include/taper/taper.h").read_text()
    numbers = [
        header.split(f"TAPER_VERSION_{part} ")[1].split()[0]
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    assert version == ".".join(numbers)


def test_contents(wheel):
    names = {n for n in zipfile.ZipFile(wheel).namelist() if n.startswith("taper/")}
    assert names == {
        f"taper/{n}"
        for n in ("__init__.py", "__init__.pyi", "_taper.abi3.so", "onnx_backend.py", "py.typed")
    }


@pytest.fixture(scope="module")
def extension(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return Path(zipfile.ZipFile(wheel).extract("taper/_taper.abi3.so", folder))


def test_only_the_stable_abi_is_used(extension):
    symbols = run("nm", "-D", "--undefined-only", "--format=just-symbols", extension)
    used = [s for s in symbols.split() if s.startswith(("Py", "_Py"))]
    assert len(used) > 30
    known = {**abi3info.FUNCTIONS, **abi3info.DATAS}
    for name in used:
        assert Symbol(name) in known, name
        assert known[Symbol(name)].added <= PyVersion(3, 11), name


def test_nothing_else_is_exported(extension):
    symbols = run("nm", "-D", "--defined-only", "--format=just-symbols", extension)
    assert symbols.split() == ["PyInit__taper"]


def test_installed(wheel, tmp_path):
    """In an environment of its own, whose NumPy and ml_dtypes are those of this one."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    # fmt: off
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python,
        "install", "--no-deps", "--no-index", "--no-compile", wheel)
    # fmt: on
    packages = next((tmp_path / "venv/lib").glob("python3*/site-packages"))
    (packages / "others.pth").write_text("\n".join(p for p in sys.path if "site-pack" in p))
    program = (
        "import taper, numpy as np;"
        "print(taper.__file__, taper.cast(np.ones(3, np.float32), 'float8_e4m3fn').tolist())"
    )
    path, result = run(python, "-c", program, cwd=tmp_path).split(" ", 1)
    assert Path(path).parent.parent == packages
    assert result.strip() == "[1.0, 1.0, 1.0]"
