"""The test suite; a package so that one file can import another as `tests.name`."""
