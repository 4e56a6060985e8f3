"""`python -m stagrad`: the command-line tools."""

from stagrad.tools.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
