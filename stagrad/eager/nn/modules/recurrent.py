"""Recurrent layers."""

import math
from typing import Any

from stagrad.eager import creation, functions
from stagrad.eager.nn import functional, init
from stagrad.eager.nn.modules.module import Module
from stagrad.eager.nn.parameter import Parameter


class LSTM(Module):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), with PyTorch's parameters.

    Inputs are (L, N, input_size), with `batch_first` (N, L, input_size), or (L, input_size).
    Calling it returns the outputs of the last layer and the final `(h, c)`, each
    (layers * directions, N, hidden_size).

    >>> import stagrad
    >>> from stagrad import nn
    >>> outputs, (h, c) = nn.LSTM(3, 4, num_layers=2)(stagrad.ones(5, 1, 3))
    >>> outputs.shape == (5, 1, 4), h.shape == (2, 1, 4)
    (True, True)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        directions = 1 + bidirectional
        for layer in range(num_layers):
            size = input_size if layer == 0 else hidden_size * directions
            for suffix in self._suffixes(layer):
                self._add(f"weight_ih_{suffix}", 4 * hidden_size, size)
                self._add(f"weight_hh_{suffix}", 4 * hidden_size, hidden_size)
                if bias:
                    self._add(f"bias_ih_{suffix}", 4 * hidden_size)
                    self._add(f"bias_hh_{suffix}", 4 * hidden_size)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew, uniformly within 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _add(self, name: str, *shape: int) -> None:
        self.register_parameter(name, Parameter(creation.empty(*shape)))

    def _suffixes(self, layer: int) -> list[str]:
        return [f"l{layer}", f"l{layer}_reverse"][: 1 + self.bidirectional]

    def forward(self, input: Any, hx: tuple[Any, Any] | None = None) -> tuple[Any, tuple[Any, Any]]:
        """Return the outputs and the final hidden and cell states."""
        batched = input.ndim == 3
        if not batched:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        count = self.num_layers * (1 + self.bidirectional)
        if hx is None:
            zeros = creation.zeros(count, input.shape[1], self.hidden_size, dtype=input.dtype)
            hx = zeros, zeros
        elif not batched:
            hx = hx[0].unsqueeze(1), hx[1].unsqueeze(1)
        hidden: list[Any] = []
        cells: list[Any] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                input = functional.dropout(input, self.dropout, self.training)
            runs = []
            for suffix in self._suffixes(layer):
                start = len(hidden)
                outputs, h, c = self._run(input, hx[0][start], hx[1][start], suffix)
                runs.append(outputs)
                hidden.append(h)
                cells.append(c)
            input = runs[0] if len(runs) == 1 else functions.cat(runs, dim=-1)
        h, c = functions.stack(hidden), functions.stack(cells)
        if not batched:
            return input.squeeze(1), (h.squeeze(1), c.squeeze(1))
        return (input.transpose(0, 1) if self.batch_first else input), (h, c)

    def _run(self, input: Any, h: Any, c: Any, suffix: str) -> tuple[Any, Any, Any]:
        """Run one layer in one direction over the steps."""
        recurrent = getattr(self, f"weight_hh_{suffix}")
        bias = None
        if self.bias:
            bias = getattr(self, f"bias_ih_{suffix}") + getattr(self, f"bias_hh_{suffix}")
        # The inputs of all steps in one product; only the recurrent part waits for its turn.
        gates = functional.linear(input, getattr(self, f"weight_ih_{suffix}"), bias)
        steps = range(input.shape[0])
        outputs: list[Any] = [None] * len(steps)
        for step in reversed(steps) if suffix.endswith("_reverse") else steps:
            i, f, g, o = functions.chunk(gates[step] + functional.linear(h, recurrent), 4, dim=-1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs[step] = h
        return functions.stack(outputs), h, c

    def extra_repr(self) -> str:
        """Return the sizes."""
        text = f"{self.input_size}, {self.hidden_size}"
        for name, plain in (
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
        ):
            if getattr(self, name) != plain:
                text += f", {name}={getattr(self, name)}"
        return text
