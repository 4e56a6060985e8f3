"""Quotients over gaps of a spectrum: what eigenvectors and singular vectors have to divide by.

Vectors of one eigenvalue can be turned into each other, so they have no derivative. A loss that
does not depend on the choice still has one: its numerators vanish together with the gaps, and the
terms are zero. How near is together is a matter of rounding: a gap is taken for none when it is
within the accuracy of the spectrum, a numerator when it is within that of what it was summed from.
"""

from typing import Any

import numpy as np

from stagrad.ir import aval_of
from stagrad.ops.complex import absolute
from stagrad.ops.linalg.common import columns, keep_off_diagonal, largest_size, real_dtype, rows
from stagrad.ops.selection import select

ROUNDING = 32
"""How many units of rounding per row an entry of a computed factorization may be off."""


def largest(x: Any) -> Any:
    """Return the largest modulus in each matrix, as a factor of the matrices."""
    return largest_size(absolute(x), (-2, -1))


def differences(w: Any) -> Any:
    """Return w_j - w_i in row i and column j."""
    return columns(w) - rows(w)


def over_gaps(numerator: Any, gaps: Any, size: Any, evidence: Any, *, ambiguous: bool) -> Any:
    """Return numerator / gaps, zero where both are none.

    `size` is the size of the spectrum and `evidence` what the numerators are differences of.
    With `ambiguous`, the answer is NaN where both are none but the evidence is not: there a loss
    that depends on the eigenvalues as well as the vectors has a derivative that the numerators
    do not show (the limit of 0/0), and zero would be a wrong number.
    """
    aval = aval_of(numerator)
    tolerance = ROUNDING * aval.shape[-1] * float(np.finfo(real_dtype(aval.dtype)).eps)
    closed = absolute(gaps) <= tolerance * size
    scale = tolerance * largest(evidence)
    vanishing = closed & (absolute(numerator) <= scale)
    quotient = select(vanishing, 0, numerator / select(vanishing, 1, gaps))
    if not ambiguous:
        return quotient
    return select(vanishing & (absolute(evidence) > scale), np.nan, quotient)


def divided_differences(w: Any, g: Any, slope: Any) -> Any:
    """Return (g_j - g_i) / (w_j - w_i), zero on the diagonal; the mean slope where w is too close.

    Too close is where rounding would cost the quotient more than curvature costs the mean.
    """
    gaps = differences(w)
    eps = float(np.finfo(aval_of(w).dtype).eps)
    closed = absolute(gaps) <= eps ** (1 / 3) * largest(columns(w))
    quotient = differences(g) / select(closed, 1, gaps)
    mean = 0.5 * (columns(slope) + rows(slope))
    return keep_off_diagonal(select(closed, mean, quotient))
