"""Rows of means, variances, order statistics, histograms and interpolation."""

import numpy as np

from stagrad.ops.quantiles import METHODS
from tests.op_cases.case import Case
from tests.op_cases.reductions import EDGES, INF, MASK, NAN, integers, matrix

HOLES = np.array([[1.0, NAN, 3.0, 5.0], [NAN, NAN, NAN, NAN], [2.0, 7.0, NAN, -1.0]])
WEIGHTS = np.array([0.5, 2.0, 1.0, 0.25])
COMPLEX = matrix("complex re", 3, 4) + 1j * matrix("complex im", 3, 4)

MOMENTS = [
    Case(
        name="mean",
        function=lambda x: (
            np.mean(x),
            np.mean(x, axis=0),
            x.mean(axis=(0, 1), keepdims=True),
            np.mean(x, axis=1, where=MASK),
        ),
        operands=(matrix("mean", 3, 4),),
        edges=((integers(3, 4),), (np.full((3, 4), 30000.0, np.float16),)),
        dtypes=("float32", "float16", "complex128"),
    ),
    Case(
        name="mean of special values and of nothing",
        function=lambda x: (np.mean(x, axis=0), np.mean(x)),
        operands=(np.ones((2, 2)),),
        edges=(*EDGES, (np.zeros((0, 2)),), (np.array([[True, False]]),)),
    ),
    Case(
        name="mean with dtype",
        function=lambda x: (np.mean(x, dtype=np.float32), np.mean(x, axis=0, dtype=np.complex128)),
        operands=(integers(3, 4),),
        order=0,
    ),
    Case(
        name="var",
        function=lambda x: (
            np.var(x),
            np.var(x, axis=0, ddof=1),
            x.var(axis=(0, 1), keepdims=True),
            np.var(x, 1, where=MASK, ddof=0.5),
            np.var(x, axis=1, correction=1),
        ),
        operands=(matrix("var", 3, 4),),
        edges=((integers(3, 4),), (np.full((3, 4), 1e8) + np.arange(4.0),)),
        dtypes=("float32", "float16", "complex128"),
        rtol=1e-12,
    ),
    Case(
        name="var with a given mean and dtype",
        function=lambda x, m: (
            np.var(x, axis=0, mean=m),
            np.var(x, axis=1, dtype=np.float32),
            np.std(x, axis=0, mean=m),
        ),
        operands=(matrix("var mean", 3, 4), matrix("mean of var", 1, 4)),
        grad_rtol=1e-3,
        order=1,
    ),
    Case(
        name="var with no degrees of freedom",
        function=lambda x: (np.var(x, ddof=1), np.std(x, ddof=1), np.var(x), np.std(x)),
        operands=(np.array([3.0]),),
        edges=((np.zeros(0),), (np.array([NAN, 1.0]),), (np.array([INF, 1.0]),)),
        order=0,
    ),
    Case(
        name="std",
        function=lambda x: (
            np.std(x),
            np.std(x, axis=0, ddof=1),
            x.std(axis=1, keepdims=True),
            np.std(x, where=MASK),
        ),
        operands=(matrix("std", 3, 4),),
        edges=((integers(3, 4),),),
        dtypes=("float32", "complex64"),
        rtol=1e-12,
    ),
    Case(
        name="average",
        function=lambda x, w: (
            np.average(x),
            np.average(x, axis=1, weights=w),
            np.average(x, weights=x * x, axis=0, keepdims=True),
            np.average(x, axis=(0, 1), weights=x * x),
            np.average(x, 1, w, returned=True),
            np.average(x, axis=0, returned=True),
        ),
        operands=(matrix("average", 3, 4), WEIGHTS),
        edges=((integers(3, 4) + 1, WEIGHTS),),
        dtypes=("float32",),
        rtol=1e-12,
    ),
    Case(
        name="cov",
        function=lambda x, w: (
            np.cov(x),
            np.cov(x[0], x[1]),
            np.cov(x, rowvar=False, bias=True),
            np.cov(x, aweights=w, fweights=[1, 2, 0, 3]),
            np.cov(x, ddof=0, aweights=w),
            np.cov(x, ddof=2, fweights=np.array([1, 2, 0, 3])),
            np.cov(x[0]),
        ),
        operands=(matrix("cov", 3, 4), WEIGHTS),
        edges=((integers(3, 4), WEIGHTS),),
        dtypes=("complex128",),
        rtol=1e-11,
        atol=1e-15,
    ),
    Case(
        name="corrcoef",
        function=lambda x: (np.corrcoef(x), np.corrcoef(x[0], x[1]), np.corrcoef(x, rowvar=False)),
        operands=(matrix("corrcoef", 3, 4),),
        rtol=1e-11,
    ),
    Case(
        name="corrcoef of complex numbers and of one variable",
        function=lambda x: (np.corrcoef(x), np.corrcoef(x[0])),
        operands=(COMPLEX,),
        rtol=1e-11,
        atol=1e-15,
        tags=frozenset({"any zero sign"}),
    ),
]

HOLED = [
    Case(
        name="nansum, nanprod and nanmean",
        function=lambda x: (
            np.nansum(x),
            np.nansum(x, axis=0, keepdims=True),
            np.nanprod(x, axis=1),
            np.nanmean(x, axis=1),
            np.nanmean(x, axis=0, where=MASK),
        ),
        operands=(matrix("nansum", 3, 4),),
        edges=((HOLES,), (integers(3, 4),), (HOLES + 1j,)),
        dtypes=("float32",),
    ),
    Case(
        name="nanvar and nanstd",
        function=lambda x: (
            np.nanvar(x, axis=1),
            np.nanvar(x, ddof=1, axis=0),
            np.nanstd(x),
            np.nanstd(x, axis=1, keepdims=True, correction=1),
        ),
        operands=(matrix("nanvar", 3, 4),),
        edges=((HOLES,), (integers(3, 4),)),
        dtypes=("float32",),
        rtol=1e-12,
    ),
    Case(
        name="nanmax and nanmin",
        function=lambda x: (
            np.nanmax(x),
            np.nanmax(x, axis=1),
            np.nanmin(x, axis=0, keepdims=True),
            np.nanmin(x, axis=1),
            np.nanmax(x, axis=1, initial=0.5, where=MASK),
        ),
        operands=(matrix("nanmax", 3, 4),),
        edges=((HOLES,), (integers(3, 4),)),
        dtypes=("float32",),
    ),
    Case(
        name="nanargmax",
        function=lambda x: (np.nanargmax(x), np.nanargmax(x, axis=1, keepdims=True)),
        operands=(matrix("nanargmax", 2, 3),),
        covers=("nanargmax",),
        edges=((np.array([[NAN, 2.0, 2.0], [-INF, NAN, NAN]]),), (integers(2, 3),)),
        order=0,
    ),
    Case(
        name="nanargmin",
        function=lambda x: (np.nanargmin(x), np.nanargmin(x, axis=0)),
        operands=(matrix("nanargmin", 2, 3),),
        covers=("nanargmin",),
        edges=((np.array([[NAN, 2.0, 2.0], [INF, NAN, 1.0]]),), (integers(2, 3),)),
        order=0,
    ),
]

ORDER = [
    Case(
        name="median",
        function=lambda x: (
            np.median(x),
            np.median(x, axis=0),
            np.median(x, axis=1, keepdims=True),
            np.median(x, axis=(0, 1)),
        ),
        operands=(matrix("median", 3, 4),),
        edges=(
            (integers(3, 4),),
            EDGES[0],
            (np.array([[1.0, NAN], [2.0, 3.0]]),),
            (np.ones((2, 0)),),
        ),
        dtypes=("float32", "float16", "complex128"),
    ),
    Case(
        name="median of a scalar",
        function=lambda x: np.median(x),
        operands=(np.array(3.0),),
    ),
    Case(
        name="nanmedian",
        function=lambda x: (
            np.nanmedian(x),
            np.nanmedian(x, axis=1),
            np.nanmedian(x, 0, keepdims=True),
        ),
        operands=(matrix("nanmedian", 3, 4),),
        edges=((HOLES,), (integers(3, 4),)),
        dtypes=("float32",),
    ),
    Case(
        name="quantile",
        function=lambda x: (
            np.quantile(x, 0.3),
            np.quantile(x, [0.1, 0.55], axis=0),
            np.quantile(x, np.array([[0.2, 0.9]]), axis=1, keepdims=True),
            np.quantile(x, 1),
            np.quantile(x, 0.0, axis=(0, 1)),
        ),
        operands=(matrix("quantile", 3, 4),),
        edges=((integers(3, 4),), (HOLES,)),
        dtypes=("float32",),
    ),
    Case(
        name="percentile",
        function=lambda x: (
            np.percentile(x, 30),
            np.percentile(x, [10, 50, 99], axis=1),
            np.percentile(x, 100.0, axis=0, keepdims=True),
        ),
        operands=(matrix("percentile", 3, 4),),
        edges=((integers(3, 4),), (HOLES,)),
        dtypes=("float32",),
    ),
    Case(
        name="quantile with a traced level",
        function=lambda x, q: (
            np.quantile(x, q[0]),
            np.quantile(x, q, axis=1),
            np.percentile(x, 100 * q, axis=0, method="hazen"),
        ),
        operands=(matrix("quantile traced", 3, 4), np.array([0.3, 0.75])),
        rtol=1e-12,
    ),
    Case(
        name="quantile with weights",
        function=lambda x, w: (
            np.quantile(x, [0.17, 0.6, 1.0], axis=1, weights=w, method="inverted_cdf"),
            np.quantile(x, 0.4, weights=np.abs(x) + w, axis=0, method="inverted_cdf"),
            np.nanquantile(x, 0.4, weights=np.abs(x) + 1, method="inverted_cdf"),
        ),
        operands=(matrix("quantile weights", 3, 4), WEIGHTS),
    ),
    Case(
        name="nanquantile and nanpercentile",
        function=lambda x: (
            np.nanquantile(x, 0.3),
            np.nanquantile(x, [0.1, 0.5], axis=0),
            np.nanpercentile(x, [[25, 90]], axis=1, keepdims=True),
            np.nanpercentile(x, 40, axis=1, method="lower"),
        ),
        operands=(matrix("nanquantile", 3, 4),),
        edges=((HOLES,), (integers(3, 4),)),
        dtypes=("float32",),
    ),
]
ORDER += [
    Case(
        name=f"quantile by {method}",
        function=lambda x, method=method: (
            np.quantile(x, 0.35, method=method),
            np.quantile(x, [0.0, 0.25, 0.5, 1.0], axis=0, method=method),
            np.nanquantile(x, np.array([0.1, 0.6]), axis=1, method=method),
        ),
        operands=(matrix(f"quantile {method}", 4, 3),),
        edges=((integers(4, 3),),),
        dtypes=("float32",),
        rtol=1e-12,
    )
    for method in METHODS
]

BINS = [
    Case(
        name="bincount",
        function=lambda x: (np.bincount(x, minlength=6), np.bincount(x + 1, minlength=9)),
        operands=(np.array([3, 0, 3, 5]),),
        covers=("bincount",),
        edges=((np.array([], int),),),
        order=0,
    ),
    Case(
        name="bincount with weights",
        function=lambda w: (
            np.bincount([2, 0, 2, 3], w),
            np.bincount(np.array([0, 0, 0, 0]), weights=w, minlength=3),
        ),
        operands=(WEIGHTS,),
        covers=("bincount",),
        edges=((integers(4),),),
    ),
    Case(
        name="histogram",
        function=lambda x, w: (
            np.histogram(x, bins=3),
            np.histogram(x, bins=4, range=(-1.0, 1.5)),
            np.histogram(x, bins=[-1.0, 0.0, 0.5, 2.0], weights=w)[0],
            np.histogram(x, 3, density=True),
            np.histogram(x, 2, weights=w + 1j),
        ),
        operands=(np.array([0.3, -0.7, 0.6, 1.4]), WEIGHTS),
        edges=(
            (np.array([1.0, 1.0, 1.0, 1.0]), WEIGHTS),
            (np.array([0.5, 2.0, 0.0, -2.0]), WEIGHTS),
            (integers(4), WEIGHTS),
        ),
        dtypes=("float32",),
        order=1,
        rtol=1e-12,
    ),
    Case(
        name="histogram_bin_edges",
        function=lambda x: (np.histogram_bin_edges(x, 3), np.histogram_bin_edges(x, 2, (0, 3))),
        operands=(matrix("histogram_bin_edges", 5),),
        edges=((np.zeros(0),), (integers(5),)),
    ),
    Case(
        name="digitize",
        function=lambda x, bins: (
            np.digitize(x, bins),
            np.digitize(x, bins[::-1]),
            np.digitize(x, [0.0, 0.5], right=True),
            np.digitize(x, np.array([1.0])),
        ),
        operands=(np.array([0.3, -0.7, 0.5, 2.0]), np.array([-1.0, 0.5, 1.0])),
        edges=((np.array([NAN, INF]), np.array([0.0, 0.0, 1.0])),),
        order=0,
    ),
    Case(
        name="interp",
        function=lambda x, xp, fp: (
            np.interp(x, xp, fp),
            np.interp(x[0, 0], xp, fp, left=-1.0, right=fp[0]),
            np.interp(x, [0.0, 1.0, 3.0], fp),
            np.interp(x, xp, fp, period=2.5),
        ),
        operands=(
            np.array([[0.2, 1.7], [-0.5, 3.4]]),
            np.array([0.0, 1.1, 3.0]),
            np.array([1.0, -2.0, 0.5]),
        ),
        covers=("interp",),
        edges=(
            (
                np.array([[0.0, 1.1], [3.0, NAN]]),
                np.array([0.0, 1.1, 3.0]),
                np.array([1.0, 2.0, INF]),
            ),
            (
                np.array([[1.0, 1.0], [0.5, 2.0]]),
                np.array([0.0, 1.0, 1.0]),
                np.array([1.0, 2.0, 3.0]),
            ),
            (
                np.array([[0.0, 1.0], [0.5, 2.0]]),
                np.array([0.0, 0.0, 1.0]),
                np.array([1.0, 2.0, 3.0]),
            ),
            (
                np.array([[0.5, 1.0], [INF, -INF]]),
                np.array([0.0, 1.0, 2.0]),
                np.array([INF, INF, 1.0]),
            ),
        ),
        dtypes=("float32",),
        rtol=1e-12,
    ),
    Case(
        name="interp of one point and of complex values",
        function=lambda x, fp: (np.interp(x, [0.5], fp[:1]), np.interp(x, [0.0, 1.0], fp * 1j)),
        operands=(np.array([0.3, 0.7, 0.5]), np.array([1.0, 3.0])),
        edges=((np.array([NAN, INF, 1.0]), np.array([1.0, 3.0])),),
        tags=frozenset({"any zero sign"}),
    ),
]

CASES = [*MOMENTS, *HOLED, *ORDER, *BINS]
