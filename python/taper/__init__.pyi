"""Types of the package; the docstrings have what the functions do."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex, TypedDict, TypeVar
from typing import overload

import numpy as np
from numpy.typing import DTypeLike, NDArray
from typing_extensions import Buffer

class _DLPack(Protocol):
    def __dlpack__(self, **kwargs: Any) -> Any: ...

_Tensor = NDArray[Any] | Buffer | _DLPack
_Out = TypeVar("_Out", bound=_Tensor)
_Number = SupportsFloat | SupportsIndex | complex | np.generic | NDArray[Any]
_RoundMode = Literal["up", "down", "nearest"]
_Sequence = list[NDArray[Any]]

class _Info(TypedDict):
    version: str
    isa: str
    isas: list[str]
    threads: int
    newest_opset: int

__version__: str
NEWEST_OPSET: int

@overload
def cast(
    x: _Tensor | np.generic,
    dtype: DTypeLike,
    *,
    saturate: bool = True,
    round_mode: _RoundMode = "up",
    out: None = None,
    from_dtype: DTypeLike | None = None,
    opset: int | None = None,
) -> NDArray[Any]: ...
@overload
def cast(
    x: _Tensor | np.generic,
    dtype: DTypeLike,
    *,
    saturate: bool = True,
    round_mode: _RoundMode = "up",
    out: _Out,
    from_dtype: DTypeLike | None = None,
    opset: int | None = None,
) -> _Out: ...
def full(
    shape: SupportsIndex | Sequence[SupportsIndex], value: _Number, dtype: DTypeLike
) -> NDArray[Any]: ...
def copyto(dst: _Tensor, src: _Tensor | np.generic) -> None: ...
def pack_fp4(x: _Tensor, /) -> NDArray[np.uint8]: ...
def unpack_fp4(
    packed: _Tensor,
    shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
    dtype: DTypeLike = "float4_e2m1fn",
) -> NDArray[Any]: ...
def constant_of_shape(
    shape: _Tensor | Sequence[SupportsIndex],
    value: _Tensor | np.generic | None = None,
    *,
    opset: int = 26,
) -> NDArray[Any]: ...
@overload
def identity(x: None, *, opset: int = 26, optional: bool = False) -> None: ...
@overload
def identity(
    x: list[Any] | tuple[Any, ...], *, opset: int = 26, optional: bool = False
) -> _Sequence: ...
@overload
def identity(x: _Tensor, *, opset: int = 26, optional: bool = False) -> NDArray[Any]: ...
def info() -> _Info: ...
def set_num_threads(n: SupportsIndex, /) -> None: ...
