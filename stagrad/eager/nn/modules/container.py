"""Modules that hold other modules."""

import itertools
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from stagrad.eager.nn.modules.module import Module


class Sequential(Module):
    """Modules applied one after another.

    >>> import stagrad
    >>> from stagrad import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        pairs = args[0].items() if named else ((str(k), part) for k, part in enumerate(args))
        for name, module in pairs:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """Return what the last module makes of it."""
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Iterator[Module]:
        return iter(self.__dict__["_modules"].values())

    def __len__(self) -> int:
        return len(self.__dict__["_modules"])

    def __getitem__(self, index: int | slice) -> Any:
        parts = list(self.__dict__["_modules"].items())
        if isinstance(index, slice):
            return type(self)(OrderedDict(parts[index]))
        return parts[index][1]

    def append(self, module: Module) -> "Sequential":
        """Add a module at the end; return the container."""
        self.add_module(str(len(self)), module)
        return self


class ModuleList(Module):
    """A list of modules that are registered."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def __repr__(self) -> str:
        lines = [f"  ({place}): {text}" for place, text in self._grouped()]
        return "\n".join([f"{type(self).__name__}(", *lines, ")"]) if lines else super().__repr__()

    def _grouped(self) -> Iterator[tuple[str, str]]:
        """Yield places and texts; alike neighbours are one: `(0-1): 2 x Linear(...)`."""
        start = 0
        for text, group in itertools.groupby(repr(module) for module in self):
            count = len(list(group))
            text = text.replace("\n", "\n  ")
            if count == 1:
                yield str(start), text
            else:
                yield f"{start}-{start + count - 1}", f"{count} x {text}"
            start += count

    def append(self, module: Module) -> "ModuleList":
        """Add a module at the end; return the list."""
        self.add_module(str(len(self)), module)
        return self

    def __iter__(self) -> Iterator[Module]:
        return iter(self.__dict__["_modules"].values())

    def __len__(self) -> int:
        return len(self.__dict__["_modules"])

    def __getitem__(self, index: int) -> Module:
        module: Module = list(self.__dict__["_modules"].values())[index]
        return module
