"""What linear algebra and contractions answer where others go wrong or mathematics has a choice."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import stagrad
from stagrad.errors import DerivativeError, ShapeError, UnsupportedError
from stagrad.testing import check_grads

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NOISE = np.random.default_rng(3)
LinAlgError = np.linalg.LinAlgError


def grad(function: Any, x: Any) -> np.ndarray:
    return stagrad.grad(function)(np.asarray(x))


def same(got: Any, want: Any, **tolerance: float) -> None:
    tolerance = {"rtol": 1e-9, "atol": 1e-12} | tolerance
    np.testing.assert_allclose(got, want, strict=True, **tolerance)


def cofactors(a: np.ndarray) -> np.ndarray:
    """Return the cofactors of a 3 x 3 matrix by their definition."""
    return np.array([np.cross(a[1], a[2]), np.cross(a[2], a[0]), np.cross(a[0], a[1])])


RANK_TWO = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [5.0, 7.0, 9.0]])
RANK_ONE = np.outer([1.0, 2.0, -1.0], [3.0, 0.5, 1.0])
ZEROS = np.zeros((3, 3))


class TestDeterminants:
    @pytest.mark.parametrize("a", [RANK_TWO, RANK_ONE, ZEROS, RANK_TWO + np.eye(3)])
    def test_the_derivative_is_the_matrix_of_cofactors(self, a: np.ndarray) -> None:
        same(grad(lambda a: np.linalg.det(a), a), cofactors(a), atol=1e-13 * np.max(abs(a)) ** 2)

    @pytest.mark.parametrize("a", [RANK_TWO, RANK_ONE, ZEROS])
    def test_the_second_derivative_is_right_at_singular_matrices(self, a: np.ndarray) -> None:
        direction = NOISE.standard_normal((3, 3))
        got = stagrad.hvp(lambda a: np.linalg.det(a), (a,), (direction,))
        step = cofactors(a + direction) - cofactors(a - direction)  # cofactors are quadratic
        same(got[0] if isinstance(got, tuple) else got, step / 2, atol=1e-11)

    def test_the_third_derivative_needs_a_regular_matrix_and_says_so(self) -> None:
        def third(a: Any) -> Any:
            inner = stagrad.grad(lambda a: np.sum(stagrad.grad(np.linalg.det)(a) ** 2))
            return np.sum(inner(a) ** 2)

        assert np.isfinite(grad(third, RANK_TWO + np.eye(3))).all()
        with pytest.raises(LinAlgError, match="Singular"):
            grad(third, ZEROS)

    def test_a_matrix_of_one_zero(self) -> None:
        same(grad(lambda a: np.linalg.det(a), [[0.0]]), [[1.0]])

    def test_tiny_and_huge_entries_do_not_leave_the_range_early(self) -> None:
        same(grad(lambda a: np.linalg.det(a), np.diag([1e-200, 1e-200])), np.diag([1e-200, 1e-200]))
        same(grad(lambda a: np.linalg.det(a), np.diag([1e200, 1e-200])), np.diag([1e-200, 1e200]))

    def test_complex_cofactors(self) -> None:
        a = NOISE.standard_normal((3, 3)) + 1j * NOISE.standard_normal((3, 3))
        a[2] = a[0] - 2j * a[1]
        same(grad(lambda a: np.real(np.linalg.det(a)), a), np.conj(cofactors(a)))

    def test_the_logarithm_of_a_singular_determinant_is_no_silent_number(self) -> None:
        with pytest.raises(LinAlgError, match="Singular"):
            grad(lambda a: np.linalg.slogdet(a)[1], [[1.0, 2.0], [2.0, 4.0]])


def spectral(function: Any) -> Any:
    """Return a function of symmetric matrices spelled through eigh."""

    def of(a: Any) -> Any:
        w, v = np.linalg.eigh(a)
        return (v * function(w)) @ v.T

    return of


WEIGHTS = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 4.0], [2.0, 1.0, 0.0]])
SYMMETRIC = (WEIGHTS + WEIGHTS.T) / 2


class TestSymmetricMatrices:
    A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 5.0]])

    def test_cholesky_is_symmetrised(self) -> None:
        def log_det(a: Any) -> Any:
            return 2.0 * np.sum(np.log(np.diagonal(np.linalg.cholesky(a))))

        same(grad(log_det, self.A), np.linalg.inv(self.A))

    def test_the_triangle_that_is_not_read_gets_its_half(self) -> None:
        lower, upper = np.tril(self.A), np.triu(self.A)
        want = grad(lambda a: np.sum(np.linalg.cholesky(a) * WEIGHTS), self.A)
        same(want, want.T)
        same(grad(lambda a: np.sum(np.linalg.cholesky(a) * WEIGHTS), lower), want)
        turned = lambda a: np.sum(np.linalg.cholesky(a, upper=True) * WEIGHTS.T)  # noqa: E731
        same(grad(turned, upper), want)

    @pytest.mark.parametrize("uplo", ["L", "U"])
    def test_eigenvalues_are_symmetrised(self, uplo: str) -> None:
        v = np.linalg.eigh(self.A)[1]
        same(grad(lambda a: np.linalg.eigvalsh(a, uplo)[1], self.A), np.outer(v[:, 1], v[:, 1]))
        same(grad(lambda a: np.linalg.eigh(a, uplo)[0][1], self.A), np.outer(v[:, 1], v[:, 1]))

    @pytest.mark.parametrize("a", [2 * np.eye(3), np.diag([2.0, 3.0, 2.0]), A])
    @pytest.mark.parametrize(
        ("function", "known"),
        [
            (np.exp, scipy.linalg.expm),
            (np.sqrt, scipy.linalg.sqrtm),
            (lambda w: np.maximum(w, 0.1), lambda a: a),
            (lambda w: 1 / w, np.linalg.inv),
        ],
    )
    def test_functions_of_matrices_with_equal_eigenvalues(
        self, function: Any, known: Any, a: np.ndarray
    ) -> None:
        got = grad(lambda a: np.sum(spectral(function)(a) * WEIGHTS), a)
        same(got, grad(lambda a: np.sum(known(a) * SYMMETRIC), a), rtol=1e-8)

    def test_every_spelling_of_a_function_of_a_matrix_is_known(self) -> None:
        a = np.diag([2.0, 2.0, 3.0])
        want = grad(lambda a: np.sum(scipy.linalg.expm(a) * SYMMETRIC), a)
        for product in (
            lambda v, g: v @ np.diag(g) @ v.T,
            lambda v, g: np.einsum("ij,j,kj->ik", v, g, v),
            lambda v, g: v @ (g[:, None] * v.T),
            lambda v, g: np.dot(v * g[None, :], np.conj(np.swapaxes(v, -1, -2))),
        ):

            def loss(a: Any, product: Any = product) -> Any:
                w, v = np.linalg.eigh(a)
                return np.sum(product(v, np.exp(w)) * WEIGHTS)

            same(grad(loss, a), want, rtol=1e-8)

    @pytest.mark.parametrize("a", [np.eye(3), np.diag([2.0, 2.0, 3.0]), A])
    def test_second_derivatives_of_functions_of_equal_eigenvalues(self, a: np.ndarray) -> None:
        def by_eigenvalues(a: Any) -> Any:
            return np.sum(np.log(np.linalg.eigvalsh(a)))

        want = stagrad.hessian(lambda a: np.linalg.slogdet((a + a.T) / 2)[1])(a)
        same(stagrad.hessian(by_eigenvalues)(a), want, rtol=1e-7)
        same(stagrad.hessian(lambda a: np.sum(np.log(np.linalg.eigh(a)[0])))(a), want, rtol=1e-7)

    def test_a_projector_on_equal_eigenvalues(self) -> None:
        def projected(a: Any) -> Any:
            v = np.linalg.eigh(a)[1][:, :2]
            return np.sum((v @ v.T) * WEIGHTS)

        got = grad(projected, np.diag([1.0, 1.0, 3.0]))
        want = np.zeros((3, 3))
        want[:2, 2] = want[2, :2] = -SYMMETRIC[:2, 2] / 2
        same(got, want)

    def test_what_depends_on_the_choice_of_vectors_is_no_finite_number(self) -> None:
        assert not np.isfinite(grad(lambda a: np.linalg.eigh(a)[1][0, 1], np.eye(2))).any()

    def test_a_function_that_is_not_recognised_is_no_wrong_number(self) -> None:
        def hidden(a: Any) -> Any:
            w, v = np.linalg.eigh(a)
            return np.sum(
                sum(w[i] * np.outer(v[:, i], v[:, i]) for i in range(2)) * WEIGHTS[:2, :2]
            )

        assert np.isnan(grad(hidden, 2 * np.eye(2))).any()
        got = grad(hidden, np.array([[2.0, 0.3], [0.3, 1.0]]))
        same(got, SYMMETRIC[:2, :2])


class TestSingularValues:
    def test_repeated_values_alone_form_no_gaps(self) -> None:
        a = np.array([[2.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
        want = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        same(grad(lambda a: np.sum(np.linalg.svd(a, compute_uv=False)), a), want)
        same(grad(lambda a: np.linalg.norm(a, "nuc"), a), want)
        same(grad(lambda a: np.sum(np.linalg.svd(a, full_matrices=False)[1]), a), want)

    def test_the_polar_factor_of_equal_singular_values(self) -> None:
        def polar(a: Any) -> Any:
            u, _, vh = np.linalg.svd(a)
            return np.sum((u @ vh) * WEIGHTS)

        same(grad(polar, np.eye(3)), (WEIGHTS - WEIGHTS.T) / 2)

    @pytest.mark.parametrize("scale", [1e-180, 1e180])
    def test_squares_of_singular_values_are_never_formed(self, scale: float) -> None:
        a = NOISE.standard_normal((4, 3))

        def polar(a: Any) -> Any:
            u, _, vh = np.linalg.svd(a, full_matrices=False)
            return np.sum((u @ vh) * np.arange(12.0).reshape(4, 3))

        same(grad(polar, a * scale) * scale, grad(polar, a))

    def test_a_zero_singular_value_has_slope_zero(self) -> None:
        same(grad(lambda a: np.linalg.norm(a, "nuc"), np.diag([2.0, 0.0])), np.diag([1.0, 0.0]))
        same(grad(lambda a: np.linalg.norm(a, 2), np.zeros((2, 2))), np.zeros((2, 2)))

    def test_the_pseudo_inverse_needs_no_singular_vectors(self) -> None:
        a = 2 * np.eye(3)
        same(grad(lambda a: np.sum(np.linalg.pinv(a) * WEIGHTS), a), -WEIGHTS / 4)  # as of inv
        check_grads(lambda a, b: np.linalg.pinv(a @ b, rcond=1e-9), (np.eye(4, 2), np.eye(2, 3)))


class TestFactorizations:
    def test_a_complete_tall_factor_is_refused(self) -> None:
        with pytest.raises(DerivativeError, match="use mode='reduced'"):
            grad(lambda a: np.sum(np.linalg.qr(a, "complete")[1]), np.ones((3, 1)))

    def test_a_matrix_of_deficient_rank_is_no_silent_number(self) -> None:
        with pytest.raises(LinAlgError):
            grad(lambda a: np.sum(np.linalg.qr(a)[0]), np.zeros((2, 2)))

    def test_eigenvalues_of_real_matrices_are_complex(self) -> None:
        a = np.array([[1.0, 2.0], [3.0, 4.0]])
        got = stagrad.compile(np.linalg.eigvals)(a)
        assert got.dtype == np.complex128
        same(got.real, np.linalg.eigvals(a))


class TestSolving:
    A = np.array([[[2.0, 1.0], [1.0, 3.0]], [[1.0, 0.0], [2.0, 4.0]]])

    def test_a_right_hand_side_is_a_vector_only_if_it_is_one_dimensional(self) -> None:
        solve = stagrad.compile(np.linalg.solve)
        assert solve(self.A, np.ones(2)).shape == (2, 2)
        assert solve(self.A, np.ones((2, 3))).shape == (2, 2, 3)
        with pytest.raises(ShapeError, match="its second-to-last axis must have 2 elements"):
            solve(self.A, np.ones((3, 2)))
        for b in (np.ones(2), np.ones((2, 3)), np.ones((4, 1, 2, 1))):
            same(solve(self.A, b), np.linalg.solve(self.A, b))

    def test_the_covariance_of_a_normal_density_has_its_gradient(self) -> None:
        cov, x = self.A[0], np.array([0.3, -1.2])

        def log_density(cov: Any) -> Any:
            return -0.5 * (x @ np.linalg.solve(cov, x) + np.linalg.slogdet(cov)[1])

        inverse = np.linalg.inv(cov)
        same(grad(log_density, cov), 0.5 * (inverse @ np.outer(x, x) @ inverse - inverse))

    def test_errors_are_those_of_numpy(self) -> None:
        with pytest.raises(LinAlgError, match=r"inv: last 2 dimensions .* square, not \(2, 3\)"):
            stagrad.compile(np.linalg.inv)(np.ones((2, 3)))
        with pytest.raises(LinAlgError, match="1-dimensional array given"):
            stagrad.compile(np.linalg.det)(np.ones(3))
        with pytest.raises(LinAlgError, match="Singular matrix"):
            stagrad.compile(np.linalg.inv)(np.ones((2, 2)))
        with pytest.raises(LinAlgError, match="positive definite"):
            stagrad.compile(np.linalg.cholesky)(-np.eye(2))
        with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
            stagrad.compile(np.linalg.inv)(np.eye(2, dtype=np.float16))
        with pytest.raises(UnsupportedError, match=r"cutoff .* known while the function is traced"):
            stagrad.compile(lambda a, t: np.linalg.pinv(a, t))(np.eye(2), np.float64(1e-3))


class TestNorms:
    def test_lengths_of_zero_have_slope_zero(self) -> None:
        rows = np.array([[0.0, 0.0], [3.0, 4.0]])
        same(grad(lambda x: np.sum(np.linalg.norm(x, axis=1)), rows), [[0.0, 0.0], [0.6, 0.8]])
        for order in (None, 2, 3, 0.5, 1, np.inf, -1):
            same(grad(lambda x, order=order: np.linalg.norm(x, order), np.zeros(3)), np.zeros(3))
        same(grad(lambda x: np.linalg.norm(x), np.zeros((2, 2))), np.zeros((2, 2)))

    @pytest.mark.parametrize(
        "squared",
        [
            lambda x: np.linalg.norm(x) ** 2,
            lambda x: np.sqrt(np.sum(x**2)) ** 2,
            lambda x: np.linalg.norm(x) * np.linalg.norm(x),
            lambda x: np.square(np.sqrt(np.sum(x * x))),
        ],
    )
    def test_a_squared_length_is_smooth_at_zero(self, squared: Any) -> None:
        same(grad(squared, np.zeros(3)), np.zeros(3))
        same(stagrad.hessian(squared)(np.zeros(3)), 2 * np.eye(3))

    def test_ties_of_the_largest_share_evenly(self) -> None:
        x = np.array([3.0, -3.0, 1.0])
        same(grad(lambda x: np.linalg.norm(x, np.inf), x), [0.5, -0.5, 0.0])
        rows = np.array([[1.0, -2.0], [3.0, 0.0]])
        same(grad(lambda x: np.linalg.norm(x, np.inf), rows), [[0.5, -0.5], [0.5, 0.0]])

    def test_zero_entries_of_any_order_have_slope_zero(self) -> None:
        x = np.array([4.0, 0.0, 1.0])
        same(grad(lambda x: np.linalg.norm(x, 1), x), [1.0, 0.0, 1.0])
        same(grad(lambda x: np.linalg.norm(x, 0.5), x), [1.5, 0.0, 3.0])
        same(grad(lambda x: np.linalg.norm(x, -1), x), [0.0, 0.0, 0.0])

    @pytest.mark.parametrize("order", [None, 1, 2, 3, "nuc", "fro"])
    def test_complex_norms_point_uphill(self, order: Any) -> None:
        z = NOISE.standard_normal((3, 3)) + 1j * NOISE.standard_normal((3, 3))
        z = z[0] if order == 3 else z
        slope = grad(lambda z: np.linalg.norm(z, order), z)
        size = np.linalg.norm(z, order)
        same(np.real(np.sum(np.conj(slope) * z)), size)  # Euler: a norm is homogeneous
        assert np.linalg.norm(z + 1e-6 * slope, order) > size


class TestContractions:
    def test_a_repeated_label_is_a_diagonal(self) -> None:
        x = np.array([[1.0, 2.0], [3.0, 4.0]])
        same(grad(lambda x: np.einsum("ii->", x), x), np.eye(2))
        w = np.array([[5.0, 6.0], [7.0, 8.0]])
        same(grad(lambda w: np.einsum("nd,nn->d", x, w) @ np.array([1.0, 10.0]), w),
             [[21.0, 0.0], [0.0, 43.0]])  # fmt: skip

    def test_a_label_of_extent_one_keeps_its_shape(self) -> None:
        x, y = np.array([2.0, 3.0]), np.array([4.0])
        slopes = stagrad.grad(lambda x, y: np.einsum("i,i->", x, y), argnums=(0, 1))(x, y)
        same(slopes[0], [4.0, 4.0])
        same(slopes[1], [5.0])

    def test_labels_keep_the_order_they_are_asked_for(self) -> None:
        x = np.arange(12.0).reshape(2, 2, 3)
        for subscripts in ("iij->ij", "iij->ji", "iij->j", "ijk->kij", "abc->b"):
            got = stagrad.compile(lambda x, s=subscripts: np.einsum(s, x))(x)
            same(got, np.einsum(subscripts, x))

    def test_diagonals_of_any_axes_and_offset(self) -> None:
        x = np.arange(24.0).reshape(2, 3, 4)
        for options in (
            {"offset": 1},
            {"axis1": 2, "axis2": 0},
            {"offset": -1, "axis1": 1, "axis2": 2},
        ):
            weights = NOISE.standard_normal(np.trace(x, **options).shape)
            got = grad(lambda x, o=options, w=weights: np.sum(np.trace(x, **o) * w), x)
            basis = np.eye(x.size).reshape(-1, 2, 3, 4)
            want = [np.sum(np.trace(unit, **options) * weights) for unit in basis]
            same(got, np.reshape(want, x.shape))

    def test_a_trace_of_a_tall_matrix_ends_with_the_columns(self) -> None:
        same(grad(lambda a: np.trace(a), np.zeros((5, 2))), np.eye(5, 2))
        same(grad(lambda a: np.trace(a), np.zeros((2, 5))), np.eye(2, 5))

    @pytest.mark.parametrize(
        ("subscripts", "shapes", "message"),
        [
            ("ij,jk->il", ((2, 3), (3, 4)), "output labels 'il' must each occur once"),
            ("ij->ii", ((2, 2),), "output labels 'ii' must each occur once"),
            ("ij,jk->ik", ((2, 3), (4, 5)), "label 'j' of operand 1 has extent 4, but 3"),
            ("ijk->i", ((2, 3),), "operand 0 has 2 axes, which the 3 subscripts 'ijk' do not fit"),
            ("ij,jk->ik", ((2, 3),), "names 2 operands; 1 are given"),
            ("i1->i", ((2, 3),), "'1' in 'i1->i' is neither a letter nor an ellipsis"),
            ("...i->i", ((2, 3),), "the output needs an ellipsis too"),
            ("ii->i", ((1, 3),), "the repeated label 'i' names axes of extents 1 and 3"),
            ("ii->i", ((2, 3),), "label 'i' of operand 0 has extent 3, but 2 in another place"),
        ],
    )
    def test_wrong_subscripts_say_what_is_wrong(
        self, subscripts: str, shapes: Any, message: str
    ) -> None:
        arrays = [np.ones(shape) for shape in shapes]
        with pytest.raises(ValueError):  # noqa: PT011
            np.einsum(subscripts, *arrays)
        with pytest.raises(ShapeError, match=message):
            stagrad.compile(lambda *arrays: np.einsum(subscripts, *arrays))(*arrays)

    def test_products_that_do_not_fit_name_the_shapes(self) -> None:
        a, b = np.ones((2, 3)), np.ones((4, 5))
        for function in (np.matmul, np.dot, np.inner, lambda a, b: np.tensordot(a, b, 1)):
            with pytest.raises(ShapeError):
                stagrad.compile(function)(a, b)
        with pytest.raises(ShapeError, match=r"shapes \(2, 3\) and \(4, 5\) do not fit"):
            stagrad.compile(np.matmul)(a, b)


class TestComplexNumbers:
    A = NOISE.standard_normal((3, 3)) + 1j * NOISE.standard_normal((3, 3)) + 3 * np.eye(3)

    def test_the_gradient_of_a_real_loss_is_the_direction_of_ascent(self) -> None:
        loss = stagrad.value_and_grad(lambda a: np.sum(np.abs(np.linalg.inv(a)) ** 2))
        value, slope = loss(self.A)
        assert loss(self.A + 1e-6 * slope)[0] > value

    def test_real_numbers_through_complex_ones_have_real_gradients(self) -> None:
        x = np.array([1.0, 2.0, 3.0, 4.0])
        got = grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2), x)
        same(got, 8 * x)

    def test_cotangents_of_complex_results(self) -> None:
        _, pull = stagrad.vjp(lambda a: np.linalg.inv(a), self.A)
        (got,) = pull(np.eye(3) + 0j)
        inverse = np.linalg.inv(self.A).conj().T
        same(got, -inverse @ inverse)
