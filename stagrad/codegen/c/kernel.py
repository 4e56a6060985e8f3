"""A kernel as a C function: the loops of its nest, one local per value."""

import re
from collections.abc import Iterator

import numpy as np

from stagrad.codegen.c.slots import Slots, is_fixed, is_plain
from stagrad.codegen.c.types import literal, local_type, stored_type
from stagrad.codegen.comments import comment
from stagrad.ir.kernel import (
    Buffer,
    Immediate,
    Kernel,
    Load,
    Reduce,
    Scalar,
    Store,
    Value,
)
from stagrad.ir.naming import C_NAMES, Names
from stagrad.ir.nest import Clear, Finish, Fold, Item, Loop, Nest, Position, Start, Update

INDENT = "    "
COMMENT_COLUMN = 76
_OPERATOR = re.compile(r"\{0\} (\+|\*|\|\||&&) \{1\}")


class KernelFunction:
    """The text of a kernel's function, and how it is called."""

    def __init__(
        self, kernel: Kernel, slots: Slots, shared: set[Buffer], *, apart: bool = False
    ) -> None:
        assert kernel.nest is not None
        self.kernel = kernel
        self.nest: Nest = kernel.nest
        self.slots = slots
        self.shared = shared
        self.apart = "SG_APART " if apart else ""
        self.first = len(slots.sizes), len(slots.numbers)
        self.local = Names({*C_NAMES, *_value_names(kernel)})
        self.lines: list[str] = []
        self.heading: list[str] = []
        self.reductions: dict[str, str] = {}
        self.known: dict[tuple[str, int | float], str] = {}
        self.buffers = list(dict.fromkeys(_buffers(kernel)))
        self.pointers = {buffer: self.local.take(f"p_{buffer.name}") for buffer in self.buffers}
        self.running: dict[Fold, str] = {}
        self.loaded: dict[Load, str] = {}
        self.counters = [f"i{loop}" for loop in range(len(self.nest.extents))]
        self.last_comment = ""

    def text(self) -> str:
        """Return the function, after the reductions it declares."""
        for item in self.nest.body:
            self._item(item, 1)
        bounds = self._bounds()
        return "\n".join(
            [
                *self.reductions.values(),
                f"{self.apart}static void {self.kernel.name}(void *closure, int64_t chunk)",
                "{",
                f"{INDENT}const sg_task *const task = closure;",
                *(self._pointer(place, buffer) for place, buffer in enumerate(self.buffers)),
                *(f"{INDENT}{line}" for line in (*self.heading, *bounds)),
                *self.lines,
                "}",
            ]
        )

    def _bounds(self) -> list[str]:
        """Return the lines that say which part of the cut loop a chunk is."""
        if self.nest.chunk is None:
            return ["(void)chunk;"]
        loop, length = self.nest.chunk
        size, extent = self._slot(length, "chunk"), self._slot(self.nest.extents[loop], f"e{loop}")
        return [
            f"const int64_t from = chunk * {size};",
            f"const int64_t to = {extent} - from < {size} ? {extent} : from + {size};",
        ]

    def call(self, name: str) -> str:
        """Return the statement that runs the kernel by the function of that name."""
        chunks = self.slots.size(self.nest.chunks)
        arrays = ", ".join(buffer.name for buffer in self.buffers)
        sizes, numbers = self.first
        task = f"&(sg_task){{n + {sizes}, c + {numbers}, (char *[]){{{arrays}}}}}"
        return f"sg_run(rt, {name}, n[{chunks}], {task});"

    def _pointer(self, place: int, buffer: Buffer) -> str:
        written = any(store.buffer is buffer for store in self.kernel.stores)
        written |= buffer in self.nest.scratch
        const = "" if written else "const "
        restrict = "" if buffer in self.shared else "restrict "
        kind = stored_type(buffer.aval.dtype)
        pointer = self.pointers[buffer]
        return (
            f"{INDENT}{const}{kind} *{restrict}{pointer} = ({const}{kind} *)task->arrays[{place}];"
        )

    # Numbers of the tables, each a local of the function.

    def _size(self, value: int, key: str) -> str:
        return str(value) if is_fixed(value) else self._slot(value, key)

    def _slot(self, value: int, key: str) -> str:
        """Return the local that holds an integer; `key` is what it means, so equals stay apart."""
        name = self.known.get((key, value))
        if name is None:
            place = self.slots.size(value) - self.first[0]
            name = self.known[key, value] = self.local.take(f"n{place}")
            self.heading.append(f"const int64_t {name} = task->n[{place}]; /* {value} */")
        return name

    def _constant(self, value: np.ndarray) -> str:
        if is_plain(value):
            return literal(value)
        if value.dtype.str[1:] == "u8":
            return literal(value)
        kind = local_type(value.dtype)
        if value.dtype.kind == "c":
            make = "CMPLXF" if value.dtype.itemsize == 8 else "CMPLX"
            return f"{make}({self._constant(value.real)}, {self._constant(value.imag)})"
        if value.dtype.kind in "iu":
            name = f"n{self.slots.size(int(value)) - self.first[0]}"
        else:
            name = f"c{self.slots.number(float(value)) - self.first[1]}"
        table = f"task->{name[0]}[{name[1:]}]"
        name = self.local.take(name)
        self.heading.append(f"const {kind} {name} = {table}; /* {value} */")
        return name

    # Statements.

    def _item(self, item: Item, depth: int) -> None:
        if isinstance(item, Loop):
            self._loop(item, depth)
        elif isinstance(item, Load):
            kind, text = (
                local_type(item.dtype),
                self._element(item.buffer, self.nest.positions[item]),
            )
            test = " != 0" if item.dtype.kind == "b" else ""
            self._line(f"const {kind} {self._name(item)} = {text}{test};", depth)
        elif isinstance(item, Store):
            place = self._element(item.buffer, self.nest.positions[item])
            value = self._converted(
                self._name(item.value), item.value.dtype, item.buffer.aval.dtype
            )
            self._line(f"{place} = {value};", depth)
        elif isinstance(item, Scalar):
            text = self._expression(item)
            self._line(f"const {local_type(item.dtype)} {item.name} = {text};", depth, item)
        elif isinstance(item, Start):
            fold = item.fold
            name = self.running[fold] = self.local.take(f"{fold.reduce.name}_acc")
            self._line(f"{local_type(fold.dtype)} {name} = {_identity(fold)};", depth)
        elif isinstance(item, Update):
            fold, operand = item.fold, item.fold.reduce.operand
            value = self._converted(self._name(operand), operand.dtype, fold.dtype)
            name = self.running[fold]
            self._line(f"{name} = {_combined(fold, name, value)};", depth, fold.reduce)
        elif isinstance(item, Clear):
            assert item.fold.array is not None
            assert item.fold.position is not None
            place = self._element(item.fold.array, item.fold.position)
            self._line(f"{place} = {_identity(item.fold)};", depth)
        elif isinstance(item, Finish):
            self._finish(item.fold, depth)

    def _finish(self, fold: Fold, depth: int) -> None:
        running = self.running[fold]
        if fold.array is None or fold.position is None:
            value = self._converted(running, fold.dtype, fold.reduce.dtype)
            kind = local_type(fold.reduce.dtype)
            self._line(f"const {kind} {fold.reduce.name} = {value};", depth)
        else:
            place = self._element(fold.array, fold.position)
            self._line(f"{place} = {_combined(fold, place, running)};", depth)

    def _loop(self, loop: Loop, depth: int) -> None:
        if loop.vector:
            names = [(fold, self.running[fold]) for fold in loop.folds]
            clauses = "".join(f" reduction({self._reduction(fold)}:{n})" for fold, n in names)
            self._line(f"#pragma omp simd{clauses}", depth)
        cut = self.nest.chunk is not None and self.nest.chunk[0] == loop.number
        counter = self.counters[loop.number]
        start, end = ("from", "to") if cut else ("0", self._extent(loop.number))
        self._line(f"for (int64_t {counter} = {start}; {counter} < {end}; {counter}++) {{", depth)
        for item in loop.body:
            self._item(item, depth + 1)
        self._line("}", depth)

    def _extent(self, loop: int) -> str:
        extent = self.nest.extents[loop]
        return (
            self._slot(extent, f"e{loop}")
            if self._is_open(loop)
            else self._size(extent, f"e{loop}")
        )

    def _is_open(self, loop: int) -> bool:
        return bool(self.kernel.open_axes) and loop == len(self.nest.extents) - 1

    def _reduction(self, fold: Fold) -> str:
        """Return what `omp simd` calls the reduction, declaring it where it is none of C's own."""
        template = fold.reduce.primitive.c_template(fold.dtype.kind, {}) or ""
        operator = _OPERATOR.match(template)
        if operator is not None:
            return operator[1]
        kind = local_type(fold.dtype)
        name = f"{self.kernel.name}_{fold.reduce.primitive.name}_{kind}"
        combined = template.format("omp_out", "omp_in")
        self.reductions[name] = (
            f"#pragma omp declare reduction({name} : {kind} : omp_out = {combined}) \\\n"
            f"{INDENT}initializer(omp_priv = {_identity(fold)})"
        )
        return name

    def _element(self, buffer: Buffer, position: Position) -> str:
        pointer = self.pointers[buffer]
        counters = (*self.counters, "chunk")
        terms = []
        for counter, step in zip(counters, (*position.steps, position.chunk), strict=True):
            if step == 1:
                terms.append(counter)
            elif step:
                terms.append(f"{counter} * {self._size(step, f'{pointer} {counter}')}")
        if position.offset or not terms:
            terms.append(self._size(position.offset, f"{pointer} offset {id(position)}"))
        return f"{pointer}[{' + '.join(terms)}]"

    def _name(self, value: Value) -> str:
        if isinstance(value, Immediate):
            return self._constant(value.literal.array)
        if not isinstance(value, Load) or value.buffer in self.nest.scratch:
            return value.name
        name = self.loaded.get(value)
        if name is None:
            name = self.loaded[value] = self.local.take(value.name)
        return name

    def _expression(self, item: Scalar) -> str:
        names = [self._name(operand) for operand in item.operands]
        source = item.operands[0].dtype
        template = item.primitive.c_template(source.kind, item.params)
        assert template is not None
        if template == "cast({0})":
            return self._converted(names[0], source, item.dtype)
        text = template.format(*names)
        return f"(float)(_Float16)({text})" if item.dtype.str[1:] == "f2" else text

    def _converted(self, text: str, source: np.dtype, target: np.dtype) -> str:
        """Return a value as one of another dtype."""
        if source == target:
            return text
        if target.kind == "b":
            return f"({text} != 0)"
        if source.kind == "c" and target.kind != "c":
            text = f"creal({text})"
        if target.str[1:] == "f2":
            return f"(float)(_Float16)({text})"
        if source.kind in "fc" and target.kind in "iu" and target.itemsize < 8:
            return f"({local_type(target)})(int64_t)({text})"
        return f"({local_type(target)})({text})"

    def _line(self, text: str, depth: int, item: Scalar | Reduce | None = None) -> None:
        line = INDENT * depth + text
        note = comment(item.node) if item is not None else ""
        if note and note != self.last_comment:
            self.last_comment = note
            note = note.replace("*/", "* /").replace("/*", "/ *")
            line = f"{line:<{COMMENT_COLUMN}} /* {note} */"
        self.lines.append(line)


def meaning(text: str) -> str:
    """Return a function's text without comments and with its names numbered: equal for equals."""
    names: dict[str, str] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[0]
        return name if name in C_NAMES else names.setdefault(name, f"${len(names)}")

    return re.sub(r"[A-Za-z_]\w*", numbered, re.sub(r" */\*.*?\*/", "", text))


def _combined(fold: Fold, so_far: str, value: str) -> str:
    template = fold.reduce.primitive.c_template(fold.dtype.kind, {})
    assert template is not None
    return template.format(so_far, value)


def _identity(fold: Fold) -> str:
    identity = fold.reduce.primitive.identity
    assert identity is not None
    return literal(np.array(identity(fold.dtype), fold.dtype))


def _value_names(kernel: Kernel) -> Iterator[str]:
    for item in kernel.statements:
        if isinstance(item, Scalar | Reduce):
            yield item.name


def _buffers(kernel: Kernel) -> Iterator[Buffer]:
    """Yield the buffers of a kernel: those it reads, those it fills, its own."""
    yield from (load.buffer for load in kernel.loads)
    yield from (store.buffer for store in kernel.stores)
    assert kernel.nest is not None
    yield from kernel.nest.scratch
