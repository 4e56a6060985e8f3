"""Common mistakes raise PyTorch's kind of error, and its words come first.

`data/errors.json` holds expressions with what PyTorch 2.13 said of them: the kind of the error, and
the first line of its text. stagrad may say more behind that.
"""

import builtins
import json
from pathlib import Path

import numpy as np
import pytest

import stagrad as torch
from stagrad import nn, optim
from stagrad.nn import functional as F

ROWS = json.loads((Path(__file__).parent / "data" / "errors.json").read_text())


@pytest.mark.filterwarnings("ignore:Using a target size:UserWarning")
@pytest.mark.parametrize(("expression", "kind", "words"), ROWS, ids=[row[0] for row in ROWS])
def test_mistakes(expression, kind, words):
    names = {"torch": torch, "nn": nn, "F": F, "optim": optim, "np": np}
    names["x"] = torch.tensor([1.0, 2.0], requires_grad=True)
    names |= {"m": torch.ones(2, 3), "i": torch.tensor([0, 1])}
    with pytest.raises(getattr(builtins, kind)) as info:
        eval(expression, names)
    assert str(info.value).startswith(words)


def test_matrices_that_cannot_be_solved():
    singular = torch.zeros(2, 2)
    for function in (torch.linalg.inv, torch.linalg.cholesky, lambda a: torch.linalg.solve(a, a)):
        with pytest.raises(torch.linalg.LinAlgError, match=r"linalg\.\w+: "):
            function(singular)
    with pytest.raises(RuntimeError, match="singular"):
        torch.linalg.inv(singular)
