"""Reading the text form of a graph; docs/ir.md has the grammar."""

import ast
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np

from stagrad.errors import ParseError, StagradError
from stagrad.ir.aval import Aval, parse_aval, parse_dtype
from stagrad.ir.builder import Builder
from stagrad.ir.graph import Graph, Node, Source
from stagrad.ir.leaves import constant_p
from stagrad.ir.literal import Literal
from stagrad.ir.primitive import PRIMITIVES, Primitive
from stagrad.ir.text import GENERATED
from stagrad.ir.values import NUMBER, read_base64, read_elements, read_number

_Value = TypeVar("_Value")
_STRING = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r]+)|(?P<newline>\n)|(?P<comment>\#[^\n]*)
    |(?P<base64>base64'[^'\n]*')|(?P<string>{_STRING})|(?P<number>{NUMBER})
    |(?P<aval>\w+\*?\[[\d,]*\])|(?P<name>[^\W\d]\w*)|(?P<object><[^\n]*?>(?=[,)]))
    |(?P<mark>[(){{}}\[\],:=…])""",
    re.VERBOSE,
)
_FILE = re.compile(rf"#\s*({_STRING}|\S.*?) = ({_STRING})\s*")
_NAMED = re.compile(rf"(?:^|, )as ({_STRING}|\S+)$")
_FOR = re.compile(r"(?:^|, )for (\w+(?:\(\))?)$")
_LOCATION = re.compile(rf"({_STRING}|.+):(\d+) in ({_STRING}|\S+)")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def parse(text: str) -> Graph:
    """Return the graph that `text` wrote, with its sources, names and links to the forward half.

    Type rules are checked again. Raises ParseError, naming the line of the text, for anything that
    is not a complete graph; operations are known once stagrad is imported.

    >>> import stagrad
    >>> graph = parse("graph(x: f64[3]) {\\n  y: f64[3] = sin(x)\\n  return y\\n}")
    >>> [str(node.aval) for node in graph.outputs], graph.outputs[0].name
    (['f64[3]'], 'y')
    """
    reader = _Reader(text)
    graph = reader.graph()
    reader.expect_end()
    return graph


class _Reader:
    """Reads tokens one by one; trailing comments are kept by line until an operation takes them."""

    def __init__(self, text: str) -> None:
        self.tokens: list[_Token] = []
        self.comments: dict[int, str] = {}
        self.files: dict[str, str] = {}
        self.sources: dict[tuple[str, int, str], Source] = {}
        self.position = 0
        self._scan(text)

    def _scan(self, text: str) -> None:
        line, place = 1, 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                self._fail(f"cannot read {text[place : place + 20]!r}", line)
            kind = str(match.lastgroup)
            if kind == "newline":
                line += 1
            elif kind == "comment":
                if self.tokens and self.tokens[-1].line == line:
                    self.comments[line] = match[0][1:].strip()
                elif not self.tokens and (file := _FILE.fullmatch(match[0])):
                    self.files[_unquoted(file[1])] = _unquoted(file[2])
            elif kind != "space":
                self.tokens.append(_Token(kind, match[0], line))
            place = match.end()
        self.tokens.append(_Token("end", "the end of the text", line))

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        line = self.tokens[self.position].line if line is None else line
        raise ParseError(f"line {line}: {message}")

    def peek(self, text: str) -> bool:
        """Say whether the next token is this one."""
        return self.tokens[self.position].text == text

    def take(self, what: str, *kinds: str) -> _Token:
        """Return the next token, which is one of these kinds or reads exactly `what`."""
        token = self.tokens[self.position]
        if token.kind not in kinds and (kinds or token.text != what):
            self._fail(f"expected {what if kinds else repr(what)}, found {token.text!r}")
        self.position += 1
        return token

    def skip(self, text: str) -> bool:
        """Step over the next token if it is this one."""
        found = self.peek(text)
        self.position += found
        return found

    def items(self, closing: str, read: Callable[[], Any]) -> list[Any]:
        """Read items separated by commas, up to and including the closing mark."""
        result = []
        while not self.skip(closing):
            result.append(read())
            if not self.peek(closing):
                self.take(",")
        return result

    def expect_end(self) -> None:
        """Raise unless everything is read."""
        self.take("the end of the text", "end")

    def graph(self) -> Graph:
        """Read `graph(inputs) { operations return outputs }`."""
        self.take("graph")
        self.take("(")
        known: dict[str, Node] = {}
        inputs = self.items(")", lambda: self._input(known))
        self.take("{")
        while not self._at_return():
            self._operation(known)
        self.take("return")
        outputs = []
        while not self.peek("}"):
            outputs.append(self._operand(known))
            if not self.peek("}"):
                self.take(",")
        self.take("}")
        return Graph(inputs, outputs)

    def _at_return(self) -> bool:
        return self.peek("return") and self.tokens[self.position + 1].text != ":"

    def _name(self, what: str) -> _Token:
        """Read a name, which may be one that is a number elsewhere."""
        kinds = ("number",) if self.peek("inf") or self.peek("nan") else ("name",)
        return self.take(what, *kinds)

    def _label(self, known: dict[str, Node]) -> str:
        token = self._name("a name")
        if token.text in known:
            self._fail(f"{token.text!r} is defined twice", token.line)
        self.take(":")
        return token.text

    def _aval(self) -> Aval:
        token = self.take("an aval such as f64[3,4]", "aval")
        return self._checked(lambda: parse_aval(token.text), token.line)

    def _checked(self, read: Callable[[], _Value], line: int) -> _Value:
        try:
            return read()
        except (StagradError, LookupError, TypeError, ValueError) as error:
            self._fail(str(error), line)

    def _input(self, known: dict[str, Node]) -> Node:
        label = self._label(known)
        line = self.tokens[self.position].line
        aval = self._aval()
        source, name, _ = self._comment(line, label, known)
        node = known[label] = Builder().input(aval, name, source)
        return node

    def _operation(self, known: dict[str, Node]) -> None:
        label = self._label(known)
        several = self.skip("(")
        avals = tuple(self.items(")", self._aval)) if several else (self._aval(),)
        self.take("=")
        token = self._name("the name of an operation")
        primitive = self._primitive(token)
        self.take("(")
        operands: list[Node] = []
        params: dict[str, Any] = {}
        if primitive is constant_p:
            params["value"] = Literal(self._elements(avals[0]))
            if not self.peek(")"):
                self.take(",")
            if avals[0].weak:
                params["weak"] = True
        self.items(")", lambda: self._argument(known, operands, params))
        last = self.tokens[self.position - 1].line
        source, name, primal = self._comment(last, label, known)
        node = self._checked(
            lambda: Builder().add(
                primitive, tuple(operands), params, source=source, name=name, primal=primal
            ),
            token.line,
        )
        if node.avals != avals or primitive.multiple != several:
            found = ", ".join(map(str, node.avals))
            stated = ", ".join(map(str, avals))
            self._fail(f"{primitive.name} gives {found} here, the text says {stated}", token.line)
        known[label] = node

    def _primitive(self, token: _Token) -> Primitive:
        primitive = PRIMITIVES.get(token.text)
        if primitive is None:
            self._fail(f"there is no operation {token.text!r}; import stagrad first", token.line)
        return primitive

    def _argument(
        self, known: dict[str, Node], operands: list[Node], params: dict[str, Any]
    ) -> None:
        if self.tokens[self.position + 1].text == "=":
            name = self._name("the name of a param").text
            self.take("=")
            params[name] = self._value()
        else:
            operands.append(self._operand(known))

    def _operand(self, known: dict[str, Node]) -> Node:
        token = self._name("a value's name")
        node = known.get(token.text)
        if node is None:
            self._fail(f"{token.text!r} is not defined above", token.line)
        return node

    def _value(self) -> Any:
        if self.peek("graph"):
            return self.graph()
        token = self.take("a param's value", "string", "number", "aval", "name", "object", "mark")
        if token.text == "(":
            return tuple(self.items(")", self._value))
        if token.kind == "string":
            return ast.literal_eval(token.text)
        if token.kind == "number":
            return self._checked(lambda: read_number(token.text), token.line)
        if token.kind == "aval":
            aval = self._checked(lambda: parse_aval(token.text), token.line)
            return self._literal(aval) if self.skip("(") else aval
        if token.kind == "object":
            self._fail(f"{token.text} exists only in the program that made the graph", token.line)
        if token.text in _NAMED_VALUES:
            return _NAMED_VALUES[token.text]
        return self._checked(lambda: parse_dtype(token.text), token.line)

    def _literal(self, aval: Aval) -> Literal:
        literal = Literal(self._elements(aval))
        self.take(")")
        return literal

    def _elements(self, aval: Aval) -> np.ndarray:
        line = self.tokens[self.position].line
        texts: list[str] = []
        depth = 0
        while True:
            token = self.take("a number", "number", "name", "base64", "mark")
            if token.kind == "base64":
                data = token.text[len("base64'") : -1]
                return self._checked(functools.partial(read_base64, data, aval), line)
            if token.text == "…":
                self._fail("this array is shortened for reading; write the text without elide")
            depth += {"[": 1, "]": -1}.get(token.text, 0)
            if token.kind != "mark":
                texts.append(token.text)
            if not depth:
                return self._checked(lambda: read_elements(texts, aval), line)

    def _comment(
        self, line: int, label: str, known: dict[str, Node]
    ) -> tuple[Source | None, str | None, Node | None]:
        """Return the source, the name and the forward node that a trailing comment tells of."""
        comment = self.comments.pop(line, "")
        name = None if GENERATED.fullmatch(label) else label
        if match := _NAMED.search(comment):
            name, comment = _unquoted(match[1]), comment[: match.start()]
        forward = None
        if match := _FOR.search(comment):
            forward, comment = match[1], comment[: match.start()]
        source = self._source(comment)
        if forward is None:
            return source, name, None
        if forward.endswith("()"):
            primitive = self._primitive(_Token("name", forward[:-2], line))
            return None, name, Node(primitive, (), {}, (), source)
        primal = known.get(forward)
        if primal is None:
            self._fail(f"the comment names {forward!r}, which is not defined above", line)
        return (None if source == primal.origin else source), name, primal

    def _source(self, comment: str) -> Source | None:
        match = _LOCATION.fullmatch(comment)
        if match is None:
            return None
        file = _unquoted(match[1])
        key = (self.files.get(file, file), int(match[2]), _unquoted(match[3]))
        return self.sources.setdefault(key, Source(*key))


_NAMED_VALUES = {"None": None, "True": True, "False": False}


def _unquoted(text: str) -> str:
    return str(ast.literal_eval(text)) if text[0] in "'\"" else text
