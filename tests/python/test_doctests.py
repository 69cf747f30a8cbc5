"""The examples in the docstrings."""

import doctest

import pytest

import taper
import taper.onnx_backend

DOCUMENTED = [getattr(taper, name) for name in taper.__all__ if name != "NEWEST_OPSET"]


@pytest.mark.parametrize("thing", [*DOCUMENTED, taper.onnx_backend], ids=lambda t: t.__name__)
def test_examples(thing):
    test = doctest.DocTestParser().get_doctest(thing.__doc__, {}, thing.__name__, None, 0)
    assert test.examples
    runner = doctest.DocTestRunner()
    failures = []
    runner.run(test, out=failures.append)
    assert runner.failures == 0, "".join(failures)
