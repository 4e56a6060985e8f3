"""Other people's programs, executed unmodified from their unpacked source trees.

Nothing of them is copied: the data beside these modules are numbers alone. `python -m
tests.cases.outside.run --trees FOLDER` puts them all to stagrad, where FOLDER holds a checkout of
each repository under its own name (`npbench`, `BenDFO`, ...).
"""
