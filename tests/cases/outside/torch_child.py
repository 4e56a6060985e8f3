"""The process in which one script runs: `torch_child LIBRARY PATH LINES`.

Random numbers are made the same for all libraries: `torch.randn` and its kin, and the first weights
of layers, come from NumPy. The last line printed is a JSON object with the numbers in each line of
the script's output and the error, if any.
"""

import contextlib
import importlib
import json
import random
import re
import runpy
import sys

import numpy

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)(?![\w])")
# Names and addresses have digits, too.
NOT_NUMBERS = re.compile(r"grad_fn=<[^>]*>|<\w+ object[^>]*>|0x[0-9a-f]+|torch\.\w+\d+")


class EnoughLinesError(BaseException):
    """Ends a script; not an Exception, lest the script catch it."""


class Lines:
    """A text stream that keeps a given number of lines and then ends the script."""

    def __init__(self, count: int):
        self.complete: list[str] = []
        self._count = count
        self._partial = ""

    def write(self, text: str) -> None:
        *complete, self._partial = (self._partial + text).split("\n")
        self.complete += complete
        if len(self.complete) >= self._count:
            del self.complete[self._count :]
            raise EnoughLinesError

    def flush(self) -> None: ...


def main(library: str, path: str, count: str) -> None:
    """Run the script and print the numbers it printed."""
    lines, error = Lines(int(count)), None
    try:
        torch = importlib.import_module(library)
        for name in [name for name in sys.modules if name.split(".")[0] == library]:
            sys.modules["torch" + name.removeprefix(library)] = sys.modules[name]
        torch.set_default_dtype(torch.float64)
        share_random_numbers(torch)
        with contextlib.redirect_stdout(lines):
            runpy.run_path(path, run_name="__main__")
    except EnoughLinesError:
        pass
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    log = [[float(n) for n in NUMBER.findall(NOT_NUMBERS.sub("", line))] for line in lines.complete]
    print("\n" + json.dumps({"log": log, "error": error}))


def share_random_numbers(torch) -> None:
    """Replace a library's random draws by NumPy's."""
    state = numpy.random.RandomState(0)
    random.seed(0)

    def drawing(draw):
        def creation(*size, dtype=None, requires_grad=False, **_other):
            shape = size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size
            dtype = dtype or torch.get_default_dtype()
            return torch.tensor(draw(*shape), dtype=dtype, requires_grad=requires_grad)

        return creation

    def integers(low, high=None, size=None, **_other):
        low, high, size = (0, low, high) if size is None else (low, high, size)
        return torch.tensor(state.randint(low, high, tuple(size)))

    torch.randn, torch.rand, torch.randint = drawing(state.randn), drawing(state.rand), integers
    torch.randn_like = lambda tensor, **options: torch.randn(*tensor.shape, **options)
    torch.rand_like = lambda tensor, **options: torch.rand(*tensor.shape, **options)
    torch.manual_seed = lambda seed: state.seed(seed % 2**32)
    for layer in (torch.nn.Linear, torch.nn.Conv2d):
        layer.__init__ = _with_shared_weights(layer.__init__, torch, state)


def _with_shared_weights(initialize, torch, state):
    def __init__(self, *arguments, **options):
        initialize(self, *arguments, **options)
        with torch.no_grad():
            for parameter in self.parameters():
                shape = tuple(parameter.shape)
                bound = 1.0 / numpy.sqrt(max(1, int(numpy.prod(shape[1:]))))
                values = state.uniform(-bound, bound, shape)
                parameter.copy_(torch.tensor(values, dtype=parameter.dtype))

    return __init__


if __name__ == "__main__":
    main(*sys.argv[1:])
