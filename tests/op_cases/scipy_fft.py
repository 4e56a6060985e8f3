"""Rows of scipy.fft."""

from typing import Any

import numpy as np
import scipy.fft

from tests.op_cases.case import Case
from tests.op_cases.fft import TOLERANT, complexes, reals


def case(name: str, operand: np.ndarray, **arguments: Any) -> Case:
    shown = ", ".join(f"{key}={value}" for key, value in arguments.items())
    transform = getattr(scipy.fft, name)
    return Case(
        name=f"scipy.fft.{name}({operand.dtype}{list(operand.shape)}, {shown})",
        function=lambda x: transform(x, **arguments),
        operands=(operand,),
        dtypes=("float32",),
        **TOLERANT,
    )


CASES = [
    case("fft", complexes(5), norm="ortho"),
    case("ifft", reals(2, 4), axis=0, n=3),
    case("rfft", reals(2, 5), workers=1),
    case("irfft", complexes(4), n=7),
    case("hfft", complexes(4)),
    case("ihfft", reals(5)),
    case("fft2", reals(2, 3, 4)),
    case("ifft2", complexes(2, 3)),
    case("fftn", complexes(2, 3), s=(3, 2)),
    case("rfftn", reals(2, 4)),
    case("irfft2", complexes(2, 3)),
    case("fftshift", reals(5)),
    *(
        case(name, reals(n), type=kind, norm=norm)
        for name, n in (("dct", 4), ("idct", 5), ("dst", 5), ("idst", 4))
        for kind in (2, 3)
        for norm in (None, "ortho", "forward")
    ),
    case("dct", reals(3, 4), axis=0, n=5),
    case("dct", reals(4), norm="ortho", orthogonalize=False),
    case("dctn", reals(3, 4), norm="ortho"),
    case("idctn", reals(2, 3, 2), axes=(0, 1)),
    case("dstn", reals(3, 2), type=3),
]
