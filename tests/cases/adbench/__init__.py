"""ADBench's four objectives (mixture, bundle adjustment, hand tracking, LSTM) and their answers.

The inputs and expected numbers in `data/adbench` are those of Microsoft's ADBench (MIT licence
beside them); the objectives are written here from the papers' definitions, without stores.
`expected.npz` holds what ADBench's own tests expect of its test inputs, `reference.npz` what its
PyTorch module gives for larger ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from tests.cases import DATA
from tests.cases.adbench import objectives, readers
from tests.cases.library import Library

FOLDER = DATA / "adbench"
OBSERVATIONS = 200  # of the large bundle adjustment, those with reference values


@dataclass(frozen=True)
class Problem:
    """One objective with one input."""

    name: str
    # The parts of the answer, by name: objective, gradient or jacobian, and so on.
    answer: Callable[[Library], dict[str, Any]]
    expected: dict[str, numpy.ndarray]
    tolerance: float = 1e-8  # ADBench's own, absolute

    def __str__(self) -> str:
        return self.name


def check(problem: Problem, library: Library) -> None:
    """Raise AssertionError, saying which part differs, unless the library's answer is right."""
    answer = problem.answer(library)
    for part, want in problem.expected.items():
        got = numpy.asarray(answer[part])
        assert got.shape == want.shape, f"{part}: shape {got.shape}, expected {want.shape}"
        error = float(numpy.max(numpy.abs(got - want)))
        assert error < problem.tolerance, f"{part}: error {error:.1e}"


def problems() -> Iterator[Problem]:
    """Return ADBench's test inputs, then larger ones."""
    with numpy.load(FOLDER / "expected.npz") as expected:
        yield from _test_problems(expected)
    with numpy.load(FOLDER / "reference.npz") as reference:
        yield from _larger_problems(reference)


def _test_problems(expected):
    mixture = readers.mixture(FOLDER / "gmm/test.txt")
    yield Problem(
        "gmm/test",
        lambda library: mixture_answer(mixture, library),
        {
            "objective": expected["gmm/objective/0"],
            "gradient": expected["gmm/expected_gradient/0"],
        },
    )
    scene = readers.scene(FOLDER / "ba/test.txt")
    yield Problem(
        "ba/test",
        lambda library: scene_answer(scene, library),
        {
            "reprojection": expected["ba/expected_reproj_err/0"],
            "weights": expected["ba/expected_weight_err/0"],
            "jacobian": expected["ba/expected_J_values/0"],
        },
    )
    for position, name in enumerate(("test", "hand_complicated")):
        yield Problem(
            f"hand/{name}",
            _hand_answer(f"hand/{name}.txt", with_barycentric=name == "hand_complicated"),
            {
                "objective": expected[f"hand/expected_objective/{position}"],
                "jacobian": expected[f"hand/expected_jacobian/{position}"],
            },
        )
    network = readers.network(FOLDER / "lstm/lstm_l2_c1024.txt")
    yield Problem(
        "lstm/lstm_l2_c1024",
        lambda library: network_answer(network, library),
        {
            "objective": expected["lstm/objective/0"],
            "gradient": expected["lstm/expected_gradient/0"],
        },
    )


def _larger_problems(reference):
    for name in ("gmm/1k/gmm_d2_K5", "gmm/1k/gmm_d10_K5"):
        mixture = readers.mixture(FOLDER / f"{name}.txt")
        yield _referenced(name, lambda library, m=mixture: mixture_answer(m, library), reference)
    name = "hand/simple_small/hand1_t26_c100"
    yield _referenced(name, _hand_answer(f"{name}.txt", with_barycentric=False), reference)
    name = "ba/ba1_n49_m7776_p31843"
    scene = readers.scene(FOLDER / f"{name}.txt").first(OBSERVATIONS)
    yield _referenced(name, lambda library: scene_answer(scene, library), reference)


def _referenced(name, answer, reference):
    """Return the problem whose value and derivatives are compared relative to their largest."""
    wanted = {"value": reference[f"{name}/value"], "derivatives": reference[f"{name}/deriv"]}
    scales = {part: max(1.0, numpy.max(numpy.abs(want))) for part, want in wanted.items()}

    def scaled_answer(library):
        parts = answer(library)
        value = next(iter(parts.values()))
        derivatives = parts["jacobian" if "jacobian" in parts else "gradient"]
        return {
            "value": numpy.atleast_1d(value) / scales["value"],
            "derivatives": numpy.ravel(derivatives) / scales["derivatives"],
        }

    return Problem(
        name,
        scaled_answer,
        {part: want / scales[part] for part, want in wanted.items()},
        tolerance=1e-9,
    )


def mixture_answer(mixture: readers.Mixture, library: Library) -> dict[str, Any]:
    """Value and gradient of the mixture's log posterior."""
    posterior = objectives.mixture_posterior(library.np, mixture)
    arguments = mixture.alphas, mixture.means, mixture.factors
    return _value_and_gradient(posterior, arguments, library)


def network_answer(network: readers.Network, library: Library) -> dict[str, Any]:
    """Value and gradient of the LSTM's loss."""
    loss = objectives.network_loss(library.np, network)
    return _value_and_gradient(loss, (network.main, network.extra), library)


def _value_and_gradient(function, arguments, library):
    gradients = library.grad(function, len(arguments))(*arguments)
    return {
        "objective": numpy.asarray(function(*arguments)),
        "gradient": numpy.concatenate([numpy.ravel(gradient) for gradient in gradients]),
    }


def scene_answer(scene: readers.Scene, library: Library) -> dict[str, Any]:
    """Residuals of a bundle adjustment and the non-zero entries of their Jacobian."""
    reprojection = objectives.reprojection(library.np, scene.features)
    camera_numbers, point_numbers = scene.observations.T
    arguments = scene.cameras[camera_numbers], scene.points[point_numbers], scene.weights
    residuals, pull = library.vjp(reprojection, *arguments)
    rows = []
    for component in numpy.eye(2):  # an observation's residual depends on its own arguments alone
        cameras, points, weights = pull(numpy.tile(component, (len(residuals), 1)))
        rows.append(numpy.concatenate([cameras, points, numpy.asarray(weights)[:, None]], axis=1))
    (of_weights,) = library.grad(lambda w: library.np.sum(1.0 - w * w), 1)(scene.weights)
    return {
        "reprojection": numpy.ravel(residuals),
        "weights": 1.0 - scene.weights**2,
        "jacobian": numpy.concatenate([numpy.ravel(numpy.stack(rows, 1)), numpy.ravel(of_weights)]),
    }


def _hand_answer(path, with_barycentric):
    hand = readers.hand(FOLDER / "hand/model", FOLDER / path, with_barycentric)

    def answer(library):
        if not with_barycentric:
            residuals = objectives.hand_residuals(library.np, hand)
            value, jacobian = library.jacobian_rows(residuals, hand.pose)
        else:
            residuals = objectives.hand_surface_residuals(library.np, hand)
            value, dense = library.jacobian_rows(residuals, hand.barycentric, hand.pose)
            jacobian = _without_foreign_points(dense, len(hand.points))
        return {"objective": value, "jacobian": jacobian}

    return answer


def _without_foreign_points(jacobian, count):
    """Keep of the first 2 * count columns the two that belong to each residual's own point."""
    own = 2 * (numpy.arange(3 * count) // 3)
    pairs = numpy.take_along_axis(jacobian, own[:, None] + numpy.arange(2), axis=1)
    return numpy.concatenate([pairs, jacobian[:, 2 * count :]], axis=1)
