"""Faults that differentiation frameworks were reported to have, as records with known answers."""

from tests.cases.pitfalls import generated, products, programs, selection, shapes, singular
from tests.cases.pitfalls.record import RECORDS, Record, complaints

MODULES = (singular, selection, shapes, products, programs, generated)

__all__ = ["MODULES", "RECORDS", "Record", "complaints"]
