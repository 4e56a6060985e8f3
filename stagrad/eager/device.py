"""Devices: there is one, the CPU; asking for another says what to do."""

from typing import Any

from stagrad.errors import UnsupportedError


class device:
    """Where a tensor's memory is. Tensors live on the CPU.

    >>> device("cpu")
    device(type='cpu')
    """

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        name, _, place = str(type).partition(":")
        self.type = name
        self.index = int(place) if place else index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = device("cpu")


def check_device(wanted: Any) -> None:
    """Raise UnsupportedError for any device but the CPU."""
    if wanted is None:
        return
    found = device(wanted)
    if found.type != "cpu":
        raise UnsupportedError(
            f"device={str(found)!r}: eager tensors live on the CPU. Leave the device out, or write "
            "the computation as a function and run it on CuPy arrays with stagrad.compile."
        )
