"""Every example runs in its short form, on its real data, and prints a result that is right."""

import importlib
import re

import pytest

for package in ("matplotlib", "sklearn", "tqdm"):
    pytest.importorskip(package)

NUMBER = r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)"


@pytest.fixture
def numbers(tmp_path, capsys):
    """Run an example and return the numbers that its last printed line holds."""

    def run(name):
        example = importlib.import_module(f"examples.{name}")
        assert example.main(["--short", "--output", str(tmp_path)]) == 0
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        label, _, result = capsys.readouterr().out.splitlines()[-1].partition(":")
        assert label == name
        return [float(number) for number in re.findall(NUMBER, result)]

    return run


def test_digits_mlp(numbers):
    accuracy, epochs, _ = numbers("digits_mlp")
    assert epochs == 6
    assert accuracy > 0.9


def test_digits_cnn(numbers):
    accuracy, epochs, _ = numbers("digits_cnn")
    assert epochs == 4
    assert accuracy > 0.9


def test_logistic_regression(numbers):
    likelihood, steps, difference = numbers("logistic_regression")
    assert likelihood == pytest.approx(-145.5617, abs=1e-3)
    assert steps <= 20
    assert difference < 1e-6


def test_gaussian_mixture(numbers):
    likelihood, iterations, reference = numbers("gaussian_mixture")
    assert iterations == 10
    assert reference - 15.0 < likelihood <= reference + 1e-3


def test_ode_fit(numbers):
    deviation, _, rows, parameters = numbers("ode_fit")
    assert deviation == pytest.approx(0.1321, abs=1e-3)
    assert (rows, parameters) == (16, 6)


def test_deblur(numbers):
    before, after, *_ = numbers("deblur")
    assert before == pytest.approx(21.37, abs=0.05)
    assert after > before + 1.5
