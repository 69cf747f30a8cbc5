"""Writes a checkpoint with the shapes of GPT-2 small, 124 million parameters of float32.

    make_checkpoint.py OUT.safetensors

The values are normally distributed, and the same on every run.
"""

import sys

import numpy
from safetensors.numpy import save_file

WIDTH, LAYERS, WORDS, POSITIONS = 768, 12, 50257, 1024


def shapes():
    yield "wte.weight", (WORDS, WIDTH)
    yield "wpe.weight", (POSITIONS, WIDTH)
    for layer in range(LAYERS):
        for name, rows, columns in (
            ("attn.c_attn", WIDTH, 3 * WIDTH),
            ("attn.c_proj", WIDTH, WIDTH),
            ("mlp.c_fc", WIDTH, 4 * WIDTH),
            ("mlp.c_proj", 4 * WIDTH, WIDTH),
        ):
            yield f"h.{layer}.{name}.weight", (rows, columns)
            yield f"h.{layer}.{name}.bias", (columns,)
        for name in ("ln_1", "ln_2"):
            yield f"h.{layer}.{name}.weight", (WIDTH,)
            yield f"h.{layer}.{name}.bias", (WIDTH,)
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def main(out):
    random = numpy.random.default_rng(seed=1)
    tensors = {}
    for name, shape in shapes():
        values = random.standard_normal(shape, dtype=numpy.float32)
        values *= numpy.float32(0.02)
        tensors[name] = values
    save_file(tensors, out, metadata={"format": "pt"})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
