"""A program as C text that stands alone: headers, tables and constants are part of it."""

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from stagrad.codegen.c.types import literal, stored_type
from stagrad.ir.native import NativeProgram

INCLUDE = Path(__file__).parent / "include"
WIDTH = 100

_SERIAL = """\
/* Run every chunk, one after the other. */
static void serial(void (*body)(void *closure, int64_t index), void *closure, int64_t count)
{
    for (int64_t index = 0; index < count; index++)
        body(closure, index);
}"""
_PRAGMAS = """\
/* Compilers without -fopenmp-simd pass over `#pragma omp simd`, and need not say so; nor that
   integers equal themselves and unsigned ones are not negative, where text is for all numbers. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wsource-uses-openmp"
#endif
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif"""
_GUARD = re.compile(r"^#ifndef (STAGRAD_\w+)\n#define \1\n(.*)^#endif\n", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r'^#include "(\w+\.h)"\n', re.MULTILINE)
_BLAS = re.compile(r"([sdcz])(gemm|gemv)")
_KINDS = {"s": "float", "d": "double", "c": "complex_float", "z": "complex_double"}
_PRODUCT = re.compile(r"\bsg_product_(\w+)\(rt, rt->symbols\[\d+\], rt->symbols\[\d+\],")
_PRODUCT_NAME = re.compile(r"\bsg_product_(\w+)\(")
_DEFINED = re.compile(r"^(?:#define|(?:static inline|SG_INLINE) [\w ]+?) \*?(\w+)\(", re.MULTILINE)
_WORD = re.compile(r"\w+")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ALWAYS = ("stagrad.h", "stagrad_math.h", "stagrad_exp.h", "stagrad_log.h")
_MACRO_USE = re.compile(r"^SG_PRODUCT\((\w+), [\w ]+\)\n", re.MULTILINE)


def standalone_text(program: NativeProgram, *, blas: bool) -> str:
    """Return a program's text with everything it needs; its function is static.

    `runtime`, `sizes` and `numbers` in it are what the function is called with. Products are plain
    loops, or with `blas` calls of the Fortran functions `dgemm_` and their kin. The program has no
    callbacks and no unbound symbols.
    """
    _, _, body = program.text.partition("\n\n")
    body = re.sub(rf"^(?:\w+ )+{program.name}\(", r"static \g<0>", body, flags=re.MULTILINE)
    if not blas:
        body = _PRODUCT.sub(r"sg_product_\1(", body)
    parts = [
        _PRAGMAS,
        _needed(_without_callbacks(_pasted("stagrad.h", body, blas), body), body).strip(),
        _SERIAL,
        _runtime(program.symbols if blas else ()),
        table("sizes", np.array(program.sizes, np.int64)),
        table("numbers", np.array(program.numbers, np.float64)),
        *(table(constant_name(place), item.array) for place, item in enumerate(program.constants)),
        body.rstrip("\n"),
    ]
    return "\n\n".join(parts)


def unbound_symbols(program: NativeProgram) -> list[str]:
    """Return the functions that a program calls and a standalone text has no declaration of."""
    return [symbol for symbol in program.symbols if _BLAS.fullmatch(symbol) is None]


def constant_name(place: int) -> str:
    """Return what a program's constant is called in its standalone text."""
    return f"constant_{place}"


def table(name: str, array: np.ndarray, *, constant: bool = True) -> str:
    """Return the declaration of an array of numbers, exact to the bit.

    >>> print(table("weights", np.array([[0.5, np.inf]])))
    static const double weights[2] = {0.5, INFINITY};
    """
    numbers = ", ".join(_bare(literal(value)) for value in array.ravel()) or "0"
    const = "const " if constant else ""
    head = f"static {const}{stored_type(array.dtype)} {name}[{max(array.size, 1)}] = {{"
    if len(head) + len(numbers) + 2 <= WIDTH:
        return f"{head}{numbers}}};"
    lines = textwrap.wrap(numbers, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join([head, *lines, "};"])


def _bare(number: str) -> str:
    """Return a literal without the parentheses that a negative one has in expressions."""
    return number[1:-1] if number.startswith("(") else number


def _runtime(symbols: Sequence[str]) -> str:
    """Return what the program finds in `rt`, after the functions of BLAS that it calls."""
    if not symbols:
        return "static const sg_runtime runtime = {.parallel = serial};"
    lines = [f"extern sg_{symbol[1:]}_{_KINDS[symbol[0]]} {symbol}_;" for symbol in symbols]
    addresses = ", ".join(f"(void *){symbol}_" for symbol in symbols)
    lines.append(f"static void *const symbols[{len(symbols)}] = {{{addresses}}};")
    lines.append("static const sg_runtime runtime = {.parallel = serial, .symbols = symbols};")
    return "\n".join(lines)


def _without_callbacks(text: str, body: str) -> str:
    """Return the headers' text without what programs of a process call Python by.

    A step that finds its operands wrong, where Python would raise, ends the program.
    """
    told = "/* End the program: an index lies outside of its array. */"
    end = f"{told}\n#define SG_PYTHON(...) return 1;"
    text = re.sub(
        r"/\* Run a step in Python[^/]*\*/\n#define SG_PYTHON.*?return 1;",
        end if "SG_PYTHON(" in body else "",
        text,
        flags=re.DOTALL,
    )
    text = re.sub(r" +/\* Run a step in Python.*?\*/\n.*?;\n", "", text, flags=re.DOTALL)
    return re.sub(r"\n{3,}", "\n\n", text)


def _needed(text: str, body: str) -> str:
    """Return headers without the paragraphs that define functions and macros nobody calls."""
    kept = text.split("\n\n")
    while True:
        words = [set(_WORD.findall(_COMMENT.sub("", part))) for part in (*kept, body)]
        needed = [
            part
            for place, part in enumerate(kept)
            if not (defined := set(_DEFINED.findall(part)))
            or any(defined & used for other, used in enumerate(words) if other != place)
        ]
        if len(needed) == len(kept):
            return "\n\n".join(kept)
        kept = needed


def _pasted(header: str, body: str, blas: bool) -> str:
    """Return the text of a header, and in their places of those it includes that are needed."""
    products = sorted(set(_PRODUCT_NAME.findall(body)))
    if header == "stagrad_blas.h" and not blas:
        return _plain_products(products) if products else ""
    text = _GUARD.sub(lambda found: found[2], (INCLUDE / header).read_text(encoding="utf-8"))
    text = _MACRO_USE.sub(lambda found: found[0] if found[1] in products else "", text)
    defined = set(_DEFINED.findall(text))
    if header == "stagrad_blas.h":
        defined = {f"sg_product_{name}" for name in products}
    if header not in _ALWAYS and not defined & set(_WORD.findall(body)):
        return ""
    return _QUOTED.sub(lambda found: f"{_pasted(found[1], body, blas).strip()}\n\n", text)


def _plain_products(products: list[str]) -> str:
    """Return the plain loops of products, for each type of number that there are products of."""
    text = _GUARD.sub(
        lambda found: found[2], (INCLUDE / "stagrad_product.h").read_text(encoding="utf-8")
    )
    head, start, function = text.partition("/* out = a b */\nstatic void sg_product_double")
    parts = [head.rstrip()]
    for name in products:
        kind = " ".join(reversed(name.split("_")))
        renamed = re.sub(r"\bdouble\b", kind, function)
        parts.append(start.replace("double", name) + renamed.strip())
    return "\n\n".join(parts) + "\n"
