"""The common part of optimizers: parameter groups, state, and what is saved of them."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from stagrad.eager.inplace import bump
from stagrad.eager.modes import enable_grad
from stagrad.eager.tape import make_tensor
from stagrad.eager.tensor import Tensor

Group = dict[str, Any]


class Optimizer:
    """Base of all optimizers, with PyTorch's parameter groups and state_dict.

    `params` are tensors, or dicts with a `params` entry and options of their own. A subclass gives
    `defaults` and `update(array, gradient, group, state)`, which changes a parameter's array.
    """

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, "
                "but got a Tensor"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, group: Group) -> None:
        """Add parameters with options of their own.

        Raises TypeError for what is no tensor, ValueError for a tensor that is no leaf or that
        another group has.
        """
        given = group["params"]
        parameters = [given] if isinstance(given, Tensor) else list(given)
        taken = {id(known) for other in self.param_groups for known in other["params"]}
        for parameter in parameters:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is a "
                    f"{type(parameter).__name__}"
                )
            if not parameter.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(parameter) in taken:
                raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **group, "params": parameters})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    parameter.grad._array[...] = 0

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; return the loss `closure` computes, if given.

        The closure runs with gradients enabled, so it may call backward.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._step_one(parameter, group)
        return loss

    def _step_one(self, parameter: Tensor, group: Group) -> None:
        gradient = parameter.grad._array  # type: ignore[union-attr]
        if group.get("maximize"):
            gradient = -gradient
        state = self.state[parameter]
        self.update(parameter._array, gradient, group, state)
        bump(parameter)

    def update(
        self, array: np.ndarray, gradient: np.ndarray, group: Group, state: dict[str, Any]
    ) -> None:
        """Change one parameter's array in place."""
        raise TypeError(f"{type(self).__name__} defines no update")

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the options, with parameters replaced by their numbers."""
        numbers = self._numbers()
        groups = [
            {**group, "params": [numbers[id(item)] for item in group["params"]]}
            for group in self.param_groups
        ]
        state = {
            numbers[id(parameter)]: _mapped(values, np.ndarray, _tensor)
            for parameter, values in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; ValueError where the groups do not match."""
        saved = copy.deepcopy(state_dict)
        lengths = [len(group["params"]) for group in self.param_groups]
        if [len(group["params"]) for group in saved["param_groups"]] != lengths:
            raise ValueError(
                "loaded state dict contains parameter groups that don't match the optimizer's"
            )
        parameters = [item for group in self.param_groups for item in group["params"]]
        self.state = defaultdict(dict)
        for number, values in saved["state"].items():
            self.state[parameters[number]] = _mapped(values, Tensor, np.asarray)
        for group, other in zip(self.param_groups, saved["param_groups"], strict=True):
            group.update({name: value for name, value in other.items() if name != "params"})

    def _numbers(self) -> dict[int, int]:
        parameters = [item for group in self.param_groups for item in group["params"]]
        return {id(parameter): number for number, parameter in enumerate(parameters)}

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            options = sorted(name for name in group if name != "params")
            lines += [f"    {name}: {group[name]}" for name in options]
            lines.append("")
        lines[-1] = ")"
        return "\n".join(lines)


def _tensor(array: np.ndarray) -> Any:
    return make_tensor(array, None)


def _mapped(values: Any, kind: type, convert: Callable[[Any], Any]) -> Any:
    """Return the values of a parameter's state with everything of a kind converted."""
    if isinstance(values, dict):
        return {name: _mapped(value, kind, convert) for name, value in values.items()}
    if isinstance(values, list | tuple):
        return type(values)([_mapped(value, kind, convert) for value in values])
    return convert(values) if isinstance(values, kind) else values


def execution_options(optimizer: str, given: Group, *known: str) -> Group:
    """Return the options by which PyTorch chooses kernels; they are kept, and change nothing.

    TypeError for other options; ValueError for `differentiable=True`.
    """
    defaults = {name: None if name in ("foreach", "fused") else False for name in known}
    for name in given:
        if name not in defaults:
            raise TypeError(f"{optimizer}() got an unexpected keyword argument {name!r}")
    if given.get("differentiable"):
        raise ValueError(
            f"{optimizer}: differentiable=True is not supported: steps are not recorded. Write the "
            "step with tensor operations to differentiate through it."
        )
    return defaults | given


def check_range(name: str, value: float, low: float, high: float = float("inf")) -> None:
    """Raise ValueError unless low <= value < high, in PyTorch's words."""
    if not low <= value < high:
        raise ValueError(f"Invalid {name}: {value}")


def decayed(array: np.ndarray, gradient: np.ndarray, weight_decay: float) -> np.ndarray:
    """Return the gradient with the L2 penalty's added."""
    return gradient + weight_decay * array if weight_decay else gradient
