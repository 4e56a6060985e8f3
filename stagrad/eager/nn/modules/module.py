"""Module: a function with parameters, made of other modules."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from stagrad.eager.device import CPU, check_device
from stagrad.eager.hooks import RemovableHandle, add_hook
from stagrad.eager.inplace import bump
from stagrad.eager.nn.parameter import Parameter
from stagrad.eager.tensor import Tensor


class IncompatibleKeys(NamedTuple):
    """Names that `load_state_dict` missed, and names it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not any(self):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self[0]}, unexpected_keys={self[1]})"


class Module:
    """Base of all neural network modules, as PyTorch's.

    Parameters, buffers and modules assigned as attributes are registered. Subclasses define
    `forward`; calling the module calls it.

    >>> import stagrad
    >>> from stagrad import nn
    >>> class Line(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = nn.Parameter(stagrad.tensor(2.0))
    ...     def forward(self, x):
    ...         return self.slope * x
    >>> Line()(stagrad.tensor(3.0)).item()
    6.0
    """

    training: bool

    def __init__(self) -> None:
        object.__setattr__(self, "_parameters", {})
        object.__setattr__(self, "_buffers", {})
        object.__setattr__(self, "_modules", {})
        object.__setattr__(self, "_forward_hooks", {})
        object.__setattr__(self, "_forward_pre_hooks", {})
        object.__setattr__(self, "training", True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the result; every subclass defines its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` between the hooks before and after it."""
        for hook in self._hooks("_forward_pre_hooks"):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in self._hooks("_forward_hooks"):
            replaced = hook(self, args, result)
            result = result if replaced is None else replaced
        return result

    def _hooks(self, kind: str) -> Sequence[Callable[..., Any]]:
        hooks = self.__dict__[kind]
        return list(hooks.values()) if hooks else ()

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args, result)` after every `forward`; it may return another result."""
        return add_hook(self.__dict__["_forward_hooks"], hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, args)` before every `forward`; it may return other arguments."""
        return add_hook(self.__dict__["_forward_pre_hooks"], hook)

    def __setattr__(self, name: str, value: Any) -> None:
        if "_parameters" not in self.__dict__:
            if isinstance(value, Parameter | Module):
                raise AttributeError(
                    "cannot assign parameters or modules before Module.__init__() call"
                )
            object.__setattr__(self, name, value)
            return
        tables: tuple[dict[str, Any], ...] = tuple(
            self.__dict__[table] for table in ("_parameters", "_buffers", "_modules")
        )
        parameters, buffers, modules = tables
        if isinstance(value, Parameter):
            target = parameters
        elif isinstance(value, Module):
            target = modules
        elif name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign {type(value).__name__!r} as parameter {name!r} (nn.Parameter "
                    "or None expected)"
                )
            target = parameters
        elif name in buffers:
            target = buffers
        else:
            object.__setattr__(self, name, value)
            return
        for table in tables:
            if table is not target:
                table.pop(name, None)
        self.__dict__.pop(name, None)
        target[name] = value

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name: str, tensor: Tensor | None) -> None:
        """Register a tensor that is saved with the module but not optimized."""
        self.__dict__["_buffers"][name] = tensor

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter; None keeps the name without one."""
        self.__dict__["_parameters"][name] = param

    def add_module(self, name: str, module: "Module | None") -> None:
        """Register a module under a name."""
        self.__dict__["_modules"][name] = module

    register_module = add_module

    def children(self) -> Iterator["Module"]:
        """Yield the modules registered directly."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """Yield the modules registered directly, with their names."""
        for name, module in self.__dict__["_modules"].items():
            if module is not None:
                yield name, module

    def modules(self) -> Iterator["Module"]:
        """Yield this module and all within it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        """Yield this module and all within it, each once, with their dotted names."""
        seen: set[int] = set()
        stack = [(prefix, self)]
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield name, module
            below = [
                (f"{name}.{child}" if name else child, part)
                for child, part in module.named_children()
            ]
            stack.extend(reversed(below))

    def _named(self, table: str, *, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for prefix, module in self.named_modules():
            if prefix and not recurse:
                continue
            for name, value in module.__dict__[table].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{prefix}.{name}" if prefix else name, value

    def named_parameters(self, recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        """Yield the parameters, each once, with their dotted names."""
        return self._named("_parameters", recurse=recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield the parameters, each once."""
        for _, parameter in self.named_parameters(recurse):
            yield parameter

    def named_buffers(self, recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """Yield the buffers, each once, with their dotted names."""
        return self._named("_buffers", recurse=recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield the buffers, each once."""
        for _, buffer in self.named_buffers(recurse):
            yield buffer

    def train(self, mode: bool = True) -> "Module":
        """Set this module and all within it to training, or evaluation; return it."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> "Module":
        """Set this module and all within it to evaluation; return it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Ask, or no longer ask, for gradients of all parameters; return the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad._array[...] = 0

    def apply(self, function: Callable[["Module"], Any]) -> "Module":
        """Call a function on every module within, then on this one; return it."""
        for child in self.children():
            child.apply(function)
        function(self)
        return self

    def to(self, *args: Any, dtype: Any = None, device: Any = None) -> "Module":
        """Convert all floating-point parameters and buffers to a dtype; return the module.

        A device is accepted where it is the CPU.
        """
        check_device(device)
        for argument in args:
            if isinstance(argument, str | type(CPU)):
                check_device(argument)
            else:
                dtype = argument
        for tensor in (*self.parameters(), *self.buffers()):
            if dtype is not None and tensor._array.dtype.kind in "fc":
                tensor._array = tensor._array.astype(dtype)
                tensor._counter = [0]
        return self

    def cpu(self) -> "Module":
        """Return the module: its memory is the CPU's."""
        return self

    def half(self) -> "Module":
        """Convert all floating-point parameters and buffers to float16; return the module."""
        return self.to(np.dtype(np.float16))

    def double(self) -> "Module":
        """Convert all floating-point parameters and buffers to float64; return the module."""
        return self.to(np.dtype(np.float64))

    def float(self) -> "Module":
        """Convert all floating-point parameters and buffers to float32; return the module."""
        return self.to(np.dtype(np.float32))

    def state_dict(self) -> "OrderedDict[str, Tensor]":
        """Return all parameters and buffers by dotted name; the tensors share memory."""
        state: OrderedDict[str, Tensor] = OrderedDict()
        for prefix, module in self.named_modules():
            for table in ("_parameters", "_buffers"):
                for name, value in module.__dict__[table].items():
                    if value is not None:
                        state[f"{prefix}.{name}" if prefix else name] = value.detach()
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy tensors, or arrays, into the parameters and buffers of the same names.

        Raises RuntimeError, before anything is copied, for shapes that differ and, with `strict`,
        for names that are missing or not expected.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and unexpected:
            problems.append(f"Unexpected key(s) in state_dict: {_quoted(unexpected)}.")
        if strict and missing:
            problems.append(f"Missing key(s) in state_dict: {_quoted(missing)}.")
        for name, target in own.items():
            if name in state_dict and tuple(state_dict[name].shape) != tuple(target.shape):
                problems.append(
                    f"size mismatch for {name}: copying a param with shape "
                    f"{tuple(state_dict[name].shape)} from checkpoint, the shape in current model "
                    f"is {tuple(target.shape)}."
                )
        if problems:
            listed = "\n\t".join(problems)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}"
            )
        for name, target in own.items():
            if name in state_dict:
                value = state_dict[name]
                target._array[...] = value._array if isinstance(value, Tensor) else value
                bump(target)
        return IncompatibleKeys(missing, unexpected)

    def extra_repr(self) -> str:
        """Return what stands between the parentheses of this module's text."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        children = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self.named_children()
        ]
        if not children:
            return f"{type(self).__name__}({extra})"
        lines = "\n".join(f"  {line}" for line in ([extra] if extra else []) + children)
        return f"{type(self).__name__}(\n{lines}\n)"


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
