"""Rows of integrals over samples, of grids of bins, and of functions applied along axes."""

import numpy as np
import scipy.integrate

from tests.op_cases.case import Case
from tests.op_cases.reductions import integers, matrix

POINTS = np.array([0.0, 0.5, 2.0, 2.5, 4.0, 4.2])

INTEGRALS = [
    Case(
        name="scipy.integrate.trapezoid",
        function=lambda y, x: (
            scipy.integrate.trapezoid(y, x),
            scipy.integrate.trapezoid(y, dx=0.5, axis=0),
        ),
        operands=(matrix("scipy trapezoid", 3, 6), POINTS),
    ),
    Case(
        name="scipy.integrate.cumulative_trapezoid",
        function=lambda y, x: (
            scipy.integrate.cumulative_trapezoid(y, x),
            scipy.integrate.cumulative_trapezoid(y, dx=0.5, axis=0, initial=0),
            scipy.integrate.cumulative_trapezoid(y, np.cumsum(y * y, axis=1), axis=1),
        ),
        operands=(matrix("cumulative_trapezoid", 3, 6), POINTS),
        edges=((integers(3, 6), POINTS),),
        rtol=1e-12,
    ),
    Case(
        name="scipy.integrate.simpson",
        function=lambda y, x: (
            scipy.integrate.simpson(y, x),
            scipy.integrate.simpson(y, dx=0.5),
            scipy.integrate.simpson(y, axis=0),
            scipy.integrate.simpson(y[:, :5], x[:5]),
            scipy.integrate.simpson(y[:2], x=np.cumsum(y[:2] * y[:2], axis=0), axis=0),
            scipy.integrate.simpson(y, x=np.cumsum(y * y, axis=1), axis=1),
        ),
        operands=(matrix("simpson", 3, 6), POINTS),
        edges=(
            (integers(3, 6), np.arange(6)),
            (matrix("simpson edge", 3, 6), np.array([0.0, 0.0, 1.0, 2.0, 2.0, 3.0])),
        ),
        rtol=1e-12,
    ),
    Case(
        name="scipy.integrate.simpson of one point",
        function=lambda y: scipy.integrate.simpson(y, axis=0),
        operands=(matrix("simpson one", 1, 2),),
    ),
]

GRIDS = [
    Case(
        name="histogramdd",
        function=lambda x, w: (
            np.histogramdd(x, bins=3),
            np.histogramdd(x, bins=[2, np.array([-2.0, 0.0, 2.0]), 1], weights=w),
            np.histogramdd([x[:, 0], x[:, 1]], bins=2, density=True),
            np.histogramdd(x, 2, range=[(-1, 1), (0, 1), (-2, 0)]),
        ),
        operands=(matrix("histogramdd", 5, 3), np.array([1.0, 0.5, 2.0, 0.25, 3.0])),
        order=1,
        rtol=1e-12,
    ),
    Case(
        name="histogram2d",
        function=lambda x, y: (
            np.histogram2d(x, y, bins=3),
            np.histogram2d(x, y, bins=[2, 4], density=True),
            np.histogram2d(x, y, bins=np.array([-2.0, 0.0, 0.5, 2.0])),
        ),
        operands=(matrix("histogram2d x", 6), matrix("histogram2d y", 6)),
        order=1,
        rtol=1e-12,
    ),
]

APPLIED = [
    Case(
        name="apply_along_axis, arguments passed on",
        function=lambda x: (
            np.apply_along_axis(np.sum, 0, x),
            np.apply_along_axis(lambda row, scale: np.outer(row, row) * scale, 1, x, 2.0),
            np.apply_along_axis(lambda row: row[::-1], 1, x),
        ),
        operands=(matrix("apply_along_axis", 2, 3, 2),),
    ),
    Case(
        name="apply_over_axes, running sums",
        function=lambda x: (
            np.apply_over_axes(np.sum, x, [0, -1]),
            np.apply_over_axes(lambda x, axis: np.cumsum(x, axis), x, 1),
        ),
        operands=(matrix("apply_over_axes", 2, 3, 2),),
    ),
]

CASES = [*INTEGRALS, *GRIDS, *APPLIED]
