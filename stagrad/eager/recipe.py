"""Recipes: public functions of several operations, remembered as straight-line NumPy programs.

A composition that is called again with the same shapes, dtypes and options runs the same operations
again, unless it looks at numbers. So it is run once on values that have none, and what it did is
written out as two Python functions over plain arrays: forward, and the derivative rules backward. A
composition that asks for numbers, draws random ones or returns its argument has no recipe.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from stagrad.eager import tape
from stagrad.eager.generator import default_generator
from stagrad.eager.node import Edge, freed_error
from stagrad.eager.recorded import NotRecordableError, Program, Recorded, Step, run_on, written
from stagrad.eager.saving import rule_of
from stagrad.eager.tensor import Tensor
from stagrad.ir import NOT_DIFFERENTIABLE, ZERO, Aval


class Recipe:
    """A composition for one signature.

    - forward: arrays of the tensors in, `(results..., kept values...)` out.
    - backward: `(cotangent, saved values...)` in, list of the operands' cotangents out; None where
      nothing is recorded.
    - kept_inputs, kept_count: which inputs are saved, and how many values of `forward`.
    - checked: the saved inputs that `backward` reads.
    - view: the chain of views that the result is, None where it is none.
    """

    def __init__(self, label: str, forward: Program, results: Any, inputs: list[Recorded]) -> None:
        self.label = label
        self.tree = results
        self.leaves = list(_leaves(results))
        self.count = len(self.leaves)
        self.single = isinstance(results, Recorded)
        self.inputs = inputs
        self.program = forward
        self.wanted = [place for place, value in enumerate(inputs) if value.needs]
        self.backward: Any = None
        self.view: Any = None
        self.again = False
        self.inner_steps: list[Step] = []
        self.shown: list[int | None] | None = None
        self.kept_inputs: tuple[int, ...] = ()
        self.checked: tuple[int, ...] = ()
        saved: list[str] = []
        if self.wanted:
            saved = self._differentiate()
        names = [leaf.name for leaf in self.leaves]
        made = [name for name in saved if name not in names and name[0] != "x"]
        self.kept_places = tuple(
            names.index(name) if name in names else self.count + made.index(name)
            for name in saved
            if name[0] != "x"
        )
        self.keeps_result = 0 in self.kept_places
        self.node_type = RecipeNode
        steps = forward.only({*names, *made})
        self.forward = written(
            "forward", [x.name for x in inputs], steps, f"({', '.join([*names, *made])},)"
        )
        if len(steps) == 1:
            self._number_operands(steps[0])

    def _number_operands(self, step: Step) -> None:
        """Let `next_functions` show every operand, as that of an operation of the table does."""
        places = {x.name: place for place, x in enumerate(self.inputs) if x.needs}
        shown = [
            places.get(operand.name) if isinstance(operand, Recorded) else None
            for operand in step.operands
        ]
        self.shown = [None if place is None else self.wanted.index(place) for place in shown]

    def _differentiate(self) -> list[str]:
        """Write the backward function; return the names of the values that it is given."""
        root = self.leaves[0]
        others = [leaf for leaf in self.leaves[1:] if leaf.dtype.kind in "fc"]
        if not root.needs or others:
            raise NotRecordableError("results")
        back = Program("g")
        steps, cotangents = self._transpose(back, root)
        found = [cotangents.get(self.inputs[place].name) for place in self.wanted]
        for value, place in zip(found, self.wanted, strict=True):
            if value is not None and value.aval != self.inputs[place].aval:
                raise NotRecordableError("cotangent")
        names = {value.name for value in found if value is not None}
        steps = back.only(names)
        read = names.union(*(step.sources() for step in steps))
        read -= {"ct", *(step.result.name for step in steps)}
        inputs = {x.name: place for place, x in enumerate(self.inputs)}
        self.checked = tuple(inputs[name] for name in inputs if name in read)
        inner = sorted(name for name in read if name not in inputs)
        # Recorded backward passes compute inner values again, from the inputs.
        self.again = any(name != root.name for name in inner)
        if self.again:
            self.inner_steps = self.program.only({*inner} - {root.name})
            read = read.union(*(step.sources() for step in self.inner_steps))
        self.kept_inputs = tuple(place for name, place in inputs.items() if name in read)
        saved = [self.inputs[place].name for place in self.kept_inputs] + inner
        listed = [value.name if value is not None else "None" for value in found]
        self.backward_steps, self.backward_results, self.saved_names = steps, listed, saved
        self.backward = written("backward", ["ct", *saved], steps, f"[{', '.join(listed)}]")
        return saved

    def _transpose(self, back: Program, root: Recorded) -> tuple[Any, dict[str, Any]]:
        cotangents: dict[str, Any] = {root.name: back.value("ct", root.aval, needs=True)}

        def mirror(value: Any) -> Any:
            is_value = isinstance(value, Recorded)
            return back.value(value.name, value.aval, needs=True) if is_value else value

        for step in reversed(self.program.steps):
            ct = cotangents.pop(step.result.name, None)
            if ct is None:
                continue
            out, primals = mirror(step.result), list(map(mirror, step.operands))
            for place, operand in enumerate(step.operands):
                if not isinstance(operand, Recorded) or not operand.needs:
                    continue
                rule = rule_of(step.primitive, place)
                if rule is ZERO:
                    continue
                if rule is NOT_DIFFERENTIABLE:
                    raise NotRecordableError(step.primitive.name)
                part = rule(ct, out, *primals, **step.params)
                if part is None:
                    continue
                if not isinstance(part, Recorded):
                    raise NotRecordableError("cotangent")
                part = tape.fit(part, operand.aval.shape, operand.aval.dtype)
                known = cotangents.get(operand.name)
                cotangents[operand.name] = part if known is None else known + part
        return back.steps, cotangents

    def rebuild(self, parts: Sequence[Any]) -> Any:
        """Return the composition's results with these tensors in place of its values."""
        return parts[0] if self.single else _filled(self.tree, iter(parts))


class RecipeNode(tape.PrimitiveNode):
    """A public function that was run by its recipe."""

    recipe: Recipe
    edges: Sequence[Edge]

    @property
    def label(self) -> str:  # type: ignore[override]
        """PyTorch's name of the function."""
        return self.title or self.recipe.label

    @property
    def next_functions(self) -> tuple[Any, ...]:
        """For each operand the node that made it and which of its results it is."""
        shown = self.recipe.shown
        if shown is None:
            return tuple(self.edges)
        return tuple((None, 0) if place is None else self.edges[place] for place in shown)

    def run(self, cotangent: Any, record: bool) -> Sequence[Any]:
        """Return the cotangents of the operands that need one."""
        saved = self.saved
        if saved is None:
            raise freed_error(self)
        for version, count in self.checks:
            if version[0] != count:
                raise self._overwritten(version, count)
        if record:
            return self._run_recorded(tape.as_cotangent(cotangent), saved)
        return self.recipe.backward(cotangent, *saved)  # type: ignore[no-any-return]

    def _run_recorded(self, cotangent: Any, saved: tuple[Any, ...]) -> Sequence[Any]:
        """Run the backward function on tensors, whose history leads to the operands."""
        for version, count in self.later:
            if version[0] != count:
                raise self._overwritten(version, count)
        recipe = self.recipe
        values = dict(zip(recipe.saved_names, saved, strict=True))
        for place in recipe.kept_inputs:
            name = recipe.inputs[place].name
            edge = self.edges[recipe.wanted.index(place)] if place in recipe.wanted else None
            values[name] = tape.make_tensor(values[name], edge)
        root = recipe.leaves[0].name
        if root in values:
            values[root] = tape.make_tensor(np.asarray(values[root]), (self, 0))
        if recipe.again:
            run_on(recipe.inner_steps, values)
        values["ct"], values["None"] = cotangent, None
        run_on(recipe.backward_steps, values)
        return [values[name] for name in recipe.backward_results]


def write_recipe(
    body: Callable[..., Any], args: Any, kwargs: Any, label: str, needs: Sequence[bool], view: bool
) -> Recipe | None:
    """Return the recipe of a composition for arguments like these, None where it has none.

    `needs` says for each tensor among the arguments whether it needs a gradient.
    """
    program = Program("v")
    inputs: list[Recorded] = []

    def replaced(tree: Any) -> Any:
        if isinstance(tree, Tensor):
            aval = Aval(tree._array.shape, tree._array.dtype)
            value = program.value(f"x{len(inputs)}", aval, needs=needs[len(inputs)])
            inputs.append(value)
            return value
        if isinstance(tree, tuple | list):
            return type(tree)([replaced(part) for part in tree])
        return tree

    state = default_generator.draws.bit_generator.state
    try:
        arguments = replaced(args)
        options = {name: replaced(value) for name, value in kwargs.items()}
        results = body(*arguments, **options)
        for leaf in _leaves(results):
            if not isinstance(leaf, Recorded) or leaf.name[0] == "x":
                return None
        recipe = Recipe(label, program, results, inputs)
        chain = _view_chain(recipe, program)
        if view and chain is None:
            return None
        if not view and any(_rests_on_input(leaf, program) for leaf in recipe.leaves):
            return None
        recipe.view = chain if view else None
        return recipe
    except Exception:
        # Whatever went wrong, the composition itself is run and says so.
        return None
    finally:
        default_generator.draws.bit_generator.state = state


def _view_chain(recipe: Recipe, program: Program) -> Any:
    """Return the views that lead from the first input to the result, None if there is more."""
    if not recipe.single or recipe.leaves[0].aval.shape == ():
        return None
    name, chain = "x0", []
    for step in program.steps:
        if step.primitive.view is None or step.sources() != [name] or len(step.operands) != 1:
            return None
        chain.append((step.primitive, step.params))
        name = step.result.name
    return tuple(chain) if name == recipe.leaves[0].name else None


def _rests_on_input(leaf: Recorded, program: Program) -> bool:
    """Say whether a result may lie in an input's memory, or in memory that is read-only."""
    makers = {step.result.name: step for step in program.steps}
    name = leaf.name
    while name in makers:
        step = makers[name]
        if step.primitive.name == "broadcast_to":
            return True
        if step.primitive.view is None and step.primitive.name != "astype":
            return False
        if not step.sources():
            return True
        name = step.sources()[0]
    return True


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for part in tree for leaf in _leaves(part)]
    return [tree]


def _filled(tree: Any, parts: Any) -> Any:
    if not isinstance(tree, tuple | list):
        return next(parts)
    filled = [_filled(part, parts) for part in tree]
    return type(tree)(*filled) if hasattr(tree, "_fields") else type(tree)(filled)
