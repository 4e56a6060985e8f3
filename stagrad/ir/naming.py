"""Names for values in emitted text: the user's own variable names where there are any."""

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

from stagrad.ir.graph import Node
from stagrad.ir.leaves import constant_p, input_p

MODULES = frozenset({"np", "xp", "special", "linalg"})
C_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false complex imaginary I asm typeof main
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t intptr_t INFINITY
    NAN CMPLX CMPLXF NULL errno stdin stdout stderr acos acosh arg asin asinh atan atan2 atanh
    cabs carg cbrt ceil cimag conj copysign cos cosh cproj creal erf erfc exp exp2 exp10 expm1
    fabs fdim floor fma fmax fmin fmod frexp gamma hypot ilogb isfinite isgreater isinf isless
    isnan isnormal j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround
    modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalb scalbln scalbn
    signbit significand sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn abs labs div exit
    free malloc memcpy memset index time linux unix rt arrays workspace n c task chunk closure
    from to i0 i1 i2 i3 i4 i5 i6 i7 i8 i9
"""
C_NAMES = frozenset(C_WORDS.split())
"""Names that mean something in emitted C."""

_MACRO = re.compile("[A-Z][A-Z0-9_]{2,}")
"""What the macros of C's headers look like, of which systems have hundreds."""

RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | MODULES


class Names:
    """Gives out identifiers, each once.

    Generated identifiers are `x0…` for unnamed inputs, `c0…` for constants, `v0…` for other values
    and `k0…` for kernels, passing over numbers that are taken. A reserved name gets an underscore;
    with `macros`, so does a name that C's headers may define.

    >>> names = Names()
    >>> names.take("loss"), names.take("loss"), names.take("lambda"), names.generated("v")
    ('loss', 'loss_1', 'lambda_', 'v0')
    """

    def __init__(self, reserved: Iterable[str] = (), *, macros: bool = False) -> None:
        self._taken = set(RESERVED) | set(reserved)
        self._macros = macros
        self._counts: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Return `wanted` as a free identifier, changed as little as possible."""
        base = "".join(
            letter if f"a{letter}".isidentifier() else "_"
            for letter in unicodedata.normalize("NFKC", wanted)
        )
        if not base.isidentifier():
            base = f"u{base}"
        if base in RESERVED or (self._macros and _MACRO.fullmatch(base)):
            base += "_"
        name = base
        while name in self._taken:
            count = self._counts[base] = self._counts.get(base, 0) + 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def generated(self, letter: str) -> str:
        """Return the next free name of a letter: `v0`, `v1`, …"""
        count = self._counts.get(letter, 0)
        while f"{letter}{count}" in self._taken:
            count += 1
        self._counts[letter] = count + 1
        name = f"{letter}{count}"
        self._taken.add(name)
        return name


class NodeNames:
    """A unique name for every node, generated ones being numbered in the order they are asked for.

    A node whose value the user assigned to a variable bears its name. Of several nodes with the
    same name and source line (the parts of a composition) only the last does: it is the value
    assigned.
    """

    def __init__(self, nodes: Iterable[Node], names: Names) -> None:
        named = [node for node in nodes if node.name is not None]
        last = {(node.name, node.origin): node for node in named}
        self._names = names
        self._given = {
            node: names.take(str(node.name))
            for node in named
            if last[node.name, node.origin] is node
        }

    def __getitem__(self, node: Node) -> str:
        name = self._given.get(node)
        if name is None:
            name = self._given[node] = self._names.generated(_LETTERS.get(node.primitive, "v"))
        return name


def name_nodes(nodes: Iterable[Node], names: Names | None = None) -> dict[Node, str]:
    """Return a unique name for every node, as `NodeNames` gives them in this order."""
    nodes = tuple(nodes)
    given = NodeNames(nodes, Names() if names is None else names)
    return {node: given[node] for node in nodes}


_LETTERS = {input_p: "x", constant_p: "c"}
