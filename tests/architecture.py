"""What the source may look like: each check takes a checkout's folder and returns the violations.

A file may import from its own layer and from those below it. The layers, from the top:

    tools, api, runtime, {passes | codegen}, {trace | eager}, ops, ir, {errors, config}

Those in one pair of braces do not import each other. `codegen`, `runtime` and `ops` see `ir` alone.
`stagrad/testing.py` stands beside `api`, and may call it; `stagrad/random.py` names what `ops`
has, `stagrad/autograd` what `eager` has.
"""

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = "stagrad"
FILE_LINES = 400
FUNCTION_LINES = 60

_BOTTOM = frozenset({"errors", "config"})
_ON_IR = _BOTTOM | {"ir"}
_ON_OPS = _ON_IR | {"ops"}
_ON_TRACE = _ON_OPS | {"trace", "eager"}
_ON_RUNTIME = _ON_TRACE | {"passes", "codegen", "runtime"}

# For each file or folder directly in the package, what else of the package it may import. The
# package itself (its `__init__`) goes by the package's name.
LAYERS: Mapping[str, frozenset[str]] = {
    "errors": frozenset(),
    "config": frozenset(),
    "ir": _BOTTOM,
    "ops": _ON_IR,
    "trace": _ON_OPS,
    "eager": _ON_OPS,
    "passes": _ON_TRACE,
    "codegen": _ON_IR,
    "runtime": _ON_IR,
    "api": _ON_RUNTIME,
    "testing": _ON_RUNTIME | {"api"},
    "random": frozenset({"ops"}),
    "autograd": frozenset({"eager", "autograd"}),
    "nn": frozenset({"eager", "nn"}),
    "optim": frozenset({"eager", "optim"}),
    "fft": frozenset({"eager"}),
    "linalg": frozenset({"eager"}),
    "special": frozenset({"eager"}),
    PACKAGE: _ON_RUNTIME | {"api", "testing", "random", "autograd"},
    "tools": _ON_RUNTIME | {"api", "testing", "random", PACKAGE},
    "__main__": frozenset({"tools"}),
}


def _sources(root: Path, *folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"), str(path))


def _unit(root: Path, path: Path) -> str:
    """Return the layer that a file of the package belongs to."""
    first = path.relative_to(root / PACKAGE).parts[0].removesuffix(".py")
    return PACKAGE if first == "__init__" else first


def _imported_modules(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yield the line and the dotted name of everything imported, inside functions too.

    `from a import b` yields `a.b`, whether `b` is a module or not. `package` is where the file
    stands, for relative imports.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = list(package[: len(package) - level + 1]) if level else []
                stem = ".".join(base + ([module] if module else []))
                yield from ((node.lineno, f"{stem}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def layer_violations(root: Path) -> list[str]:
    """Return each import that points upward or sideways, and each file outside the layers."""
    found = []
    for path, tree in _sources(root, PACKAGE):
        importer = _unit(root, path)
        where = path.relative_to(root)
        if importer not in LAYERS:
            found.append(f"{where}: belongs to no layer; give it a row in LAYERS")
            continue
        for line, module in _imported_modules(tree, where.parent.parts):
            package, _, rest = module.partition(".")
            if package != PACKAGE:
                continue
            first = rest.partition(".")[0]
            imported = first if first in LAYERS else PACKAGE
            if imported != importer and imported not in LAYERS[importer]:
                found.append(f"{where}:{line}: {importer} may not import {imported} ({module})")
    return found


def cupy_violations(root: Path) -> list[str]:
    """Return each import of CuPy outside one file of `runtime` and the functions of `eager`."""
    found, runtime_files = [], set()
    for path, tree in _sources(root, PACKAGE):
        where, unit = path.relative_to(root), _unit(root, path)
        at_import = {line for line, _ in _imported_modules(_without_functions(tree), ())}
        for line, module in _imported_modules(tree, where.parent.parts):
            if module.partition(".")[0] not in ("cupy", "cupyx"):
                continue
            if unit not in ("runtime", "eager"):
                found.append(f"{where}:{line}: only runtime and eager may import {module}")
            elif line in at_import:
                found.append(f"{where}:{line}: import {module} inside the function that needs it")
            if unit == "runtime":
                runtime_files.add(where)
    if len(runtime_files) > 1:
        found.append(
            f"CuPy is imported by several files of runtime: {sorted(map(str, runtime_files))}"
        )
    return found


def _without_functions(tree: ast.Module) -> ast.Module:
    """Return the statements that run at import, as far as the top level shows."""
    body = [node for node in tree.body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return ast.Module(body=body, type_ignores=[])


def _code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return a function's length from `def` to its last line, without its docstring.

    A docstring with an example in it is not what makes a function hard to follow.
    """
    assert function.end_lineno is not None
    length = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        assert first.end_lineno is not None
        length -= first.end_lineno - first.lineno + 1
    return length


def size_violations(root: Path, exceptions: Mapping[str, str]) -> list[str]:
    """Return each file and function that is too long, and each exception that nothing needs."""
    too_long: dict[str, str] = {}
    for path, tree in _sources(root, PACKAGE, "tests"):
        where = path.relative_to(root).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES:
            too_long[where] = f"{lines} lines, {FILE_LINES} allowed"
        if not where.startswith(f"{PACKAGE}/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = _code_lines(node)
                if length > FUNCTION_LINES:
                    key = f"{where}:{node.name}"
                    too_long[key] = f"{length} lines, {FUNCTION_LINES} allowed"
    found = [f"{key}: {why}" for key, why in too_long.items() if key not in exceptions]
    found += [f"{key}: needs no exception; remove it" for key in exceptions if key not in too_long]
    found += [f"{key}: the exception gives no reason" for key, why in exceptions.items() if not why]
    return found


def variable_violations(root: Path, declared: Iterable[str]) -> list[str]:
    """Return each environment variable undocumented, undeclared or read behind config's back.

    In `docs/environment.md` a variable is documented by a heading, list item or table row that
    begins with its name in backticks.
    """
    declared = set(declared)
    page = root / "docs" / "environment.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    documented = set(re.findall(r"^[|#*\s-]*`([A-Z][A-Z0-9_]*)[`=]", text, re.MULTILINE))
    found = [f"docs/environment.md: {name} is missing" for name in sorted(declared - documented)]
    found += [
        f"docs/environment.md: {name} is not declared in {PACKAGE}/config.py"
        for name in sorted(documented - declared)
    ]
    for path, tree in _sources(root, PACKAGE):
        where = path.relative_to(root)
        if where.as_posix() != f"{PACKAGE}/config.py":
            found += [
                f"{where}:{line}: read the environment through {PACKAGE}/config.py"
                for line in _environment_reads(tree)
            ]
    return found


def _environment_reads(tree: ast.Module) -> Iterator[int]:
    """Yield the lines that look up a variable; handing the whole environment on is no look-up."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="getenv") | ast.Name(id="getenv")):
                yield node.lineno
            case ast.Subscript(value=ast.Attribute(attr="environ"), ctx=ast.Load()):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get")):
                yield node.lineno
            case ast.Compare(comparators=[ast.Attribute(attr="environ")]):
                yield node.lineno


def machine_path_violations(root: Path) -> list[str]:
    """Return each line of a tracked file that names a folder of the machine it was written on."""
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    )
    pattern = re.compile(rb"(?<![\w.~:/-])/(?:work|root|home/\w+)/")
    found = []
    for name in filter(None, listing.stdout.split("\0")):
        path = root / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if b"\0" in data:
            continue
        found += [
            f"{name}:{number}: {line.strip().decode(errors='replace')}"
            for number, line in enumerate(data.splitlines(), 1)
            if pattern.search(line)
        ]
    return found
