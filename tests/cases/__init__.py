"""Cases from outside: what others wrote, proved or complained of, to hold stagrad against."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
