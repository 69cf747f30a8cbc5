"""ONNX models of Cast, CastLike, ConstantOfShape and Identity, run by taper.

>>> import numpy as np, onnx, taper.onnx_backend
>>> model = onnx.parser.parse_model('''
...     <ir_version: 10, opset_import: ["" : 21]>
...     narrow (float[n] x) => (float8e4m3fn[n] y) { y = Cast <to = 17> (x) }
... ''')
>>> (y,) = taper.onnx_backend.run_model(model, [np.array([1, 1e6], np.float32)])
>>> print(y)
[1 448]

This is the interface onnx.backend.base; onnx.backend.test.BackendTest tests it. Casts are
those between float types. An operator set that this package does not know yet is fine as
long as the operators in it are those of an earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep
from onnx.backend.test.runner import BackendIsNotSupposedToImplementIt

import taper

_FLOATS = {
    getattr(onnx.TensorProto, name)
    for name in (
        "FLOAT DOUBLE FLOAT16 BFLOAT16 FLOAT8E4M3FN FLOAT8E4M3FNUZ FLOAT8E5M2 "
        "FLOAT8E5M2FNUZ FLOAT8E8M0 FLOAT4E2M1"
    ).split()
}

_Inputs = Sequence[Any]
_Attributes = Mapping[str, Any]


def _constant_of_shape(
    inputs: _Inputs, attributes: _Attributes, version: int, optional: bool
) -> Any:
    value = attributes.get("value")
    value = None if value is None else numpy_helper.to_array(value)
    return taper.constant_of_shape(inputs[0], value, opset=version)


def _identity(
    inputs: _Inputs, attributes: _Attributes, version: int, optional: bool
) -> Any:
    return taper.identity(inputs[0], opset=version, optional=optional)


def _cast(
    inputs: _Inputs, attributes: _Attributes, version: int, optional: bool
) -> Any:
    return taper.cast(
        inputs[0],
        helper.tensor_dtype_to_np_dtype(attributes["to"]),
        saturate=bool(attributes.get("saturate", 1)),
        round_mode=attributes.get("round_mode", b"up").decode(),
        opset=version,
    )


def _cast_like(
    inputs: _Inputs, attributes: _Attributes, version: int, optional: bool
) -> Any:
    """Cast to the type of the second input, without the rounding, as its function has it."""
    return taper.cast(
        inputs[0],
        inputs[1].dtype,
        saturate=bool(attributes.get("saturate", 1)),
        opset=version,
    )


_OPERATORS = {
    "Cast": _cast,
    "CastLike": _cast_like,
    "ConstantOfShape": _constant_of_shape,
    "Identity": _identity,
}


def _opset(model: onnx.ModelProto) -> int:
    for domain in model.opset_import:
        if domain.domain in ("", "ai.onnx"):
            return int(domain.version)
    return 1


def _element_types(model: onnx.ModelProto) -> dict[str, int]:
    """Of all tensors whose type the model tells, or onnx infers."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if value.type.HasField("tensor_type"):
            types[value.name] = value.type.tensor_type.elem_type
    return types


def _refusal(model: onnx.ModelProto) -> str | None:
    """Why taper does not run the model; None if it does."""
    types = _element_types(model)
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or node.op_type not in _OPERATORS:
            return f"taper has no operator {node.domain or 'ai.onnx'}.{node.op_type}"
        if node.op_type.startswith("Cast"):
            for name in [*node.input, *node.output]:
                if types.get(name, onnx.TensorProto.FLOAT) not in _FLOATS:
                    return f"taper casts float types only, and {name!r} has another"
        try:
            onnx.defs.get_schema(node.op_type, _opset(model))
        except onnx.defs.SchemaError as error:
            return str(error)
    if model.graph.sparse_initializer:
        return "taper has no sparse tensors"
    return None


class TaperRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        graph = model.graph
        self._constants = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer
        }
        self._inputs = [i for i in graph.input if i.name not in self._constants]
        self._outputs = [output.name for output in graph.output]
        self._optional = {i.name for i in graph.input if i.type.HasField("optional_type")}
        self._nodes = [(node, _version(node, _opset(model))) for node in graph.node]

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs of the model. The inputs are a sequence in the model's order, or a
        mapping by name."""
        values: dict[str, Any] = {"": None, **self._constants}
        if isinstance(inputs, Mapping):
            values.update(inputs)
        else:
            if not isinstance(inputs, Sequence):
                inputs = [inputs]
            if len(inputs) > len(self._inputs):
                raise ValueError(f"inputs: expected {len(self._inputs)}, not {len(inputs)}")
            values.update(zip((i.name for i in self._inputs), inputs))
        optional = set(self._optional)
        for node, version in self._nodes:
            missing = [name for name in node.input if name not in values]
            if missing:
                raise ValueError(f"inputs: {missing[0]!r} is missing")
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            is_optional = bool(node.input) and node.input[0] in optional
            values[node.output[0]] = _OPERATORS[node.op_type](
                [values[name] for name in node.input], attributes, version, is_optional
            )
            if is_optional and node.op_type == "Identity":
                optional.add(node.output[0])
        return tuple(values[name] for name in self._outputs)


# Versions that came after taper's and only brought element types, and what they are else.
_SAME_BUT_FOR_TYPES = {("Cast", 28): 25}  # float6e2m3 and float6e3m2


def _version(node: onnx.NodeProto, opset: int) -> int:
    """Of the operator. CastLike has those of Cast, from 15 on."""
    since = onnx.defs.get_schema(node.op_type, opset).since_version
    return _SAME_BUT_FOR_TYPES.get((node.op_type, since), since)


class TaperBackend(Backend):
    """onnx.backend.base.Backend, by taper."""

    @classmethod
    def is_compatible(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> bool:
        return cls.supports_device(device) and _refusal(model) is None

    @classmethod
    def prepare(
        cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any
    ) -> TaperRep:
        if not cls.supports_device(device):
            raise ValueError(f"device: expected 'CPU', not {device!r}")
        onnx.checker.check_model(model)
        refusal = _refusal(model)
        if refusal is not None:
            raise BackendIsNotSupposedToImplementIt(refusal)
        return TaperRep(model)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        super().run_node(node, inputs, device, outputs_info, **kwargs)  # checks it
        operator = _OPERATORS.get(node.op_type)
        if operator is None or node.domain not in ("", "ai.onnx"):
            raise BackendIsNotSupposedToImplementIt(f"taper has no {node.op_type}")
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        opset = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        return (operator(inputs, attributes, _version(node, opset), False),)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"


is_compatible = TaperBackend.is_compatible
prepare = TaperBackend.prepare
run_model = TaperBackend.run_model
run_node = TaperBackend.run_node
supports_device = TaperBackend.supports_device
