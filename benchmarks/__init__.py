"""Measurements of the bars that stagrad holds itself to; run them with `./run python`."""
