"""How the tests run the program, and the checkpoints they share."""

import importlib.util
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

PROGRAM = os.environ.get("TAPER_PROGRAM") or pytest.exit(
    "TAPER_PROGRAM must name the taper program", returncode=2
)


@pytest.fixture
def taper():
    """Runs the program and demands its exit code."""

    def run(*arguments, code=0, env=None, **options):
        done = subprocess.run(
            [PROGRAM, *map(str, arguments)],
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            timeout=60,
            **options,
        )
        assert done.returncode == code, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def published():
    """A checkpoint that somebody published: the weights of a voice activity detector."""
    package = importlib.util.find_spec("silero_vad")
    assert package is not None, "install tests/requirements.txt"
    (folder,) = package.submodule_search_locations
    return Path(folder) / "data" / "silero_vad_16k.safetensors"


@pytest.fixture(scope="session")
def edges():
    """binary32 numbers where casts change their mind, and many random bit patterns."""
    powers = np.ldexp(np.float32(1), np.arange(-149, 128)).astype(np.float32)
    steps = powers.view(np.uint32)
    halves = [(powers * np.float32(f)).view(np.uint32) for f in (1.0625, 1.25, 1.5, 1.875)]
    near = np.concatenate([steps, *halves])
    special = np.array([0, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF], np.uint32)
    maxima = np.array([448, 464, 240, 248, 57344, 61440, 65504, 65520, 6, 7], np.float32)
    bits = np.concatenate([near, near - 1, near + 1, special])
    for d in (-1, 0, 1):
        bits = np.concatenate([bits, maxima.view(np.uint32) + np.uint32(d & 0xFFFFFFFF)])
    bits = np.concatenate([bits, bits | 0x80000000])
    random = np.random.default_rng(7).integers(0, 1 << 32, 300_000, dtype=np.uint32)
    bits = np.concatenate([bits, random])
    return bits[: len(bits) // 2 * 2].view(np.float32)
