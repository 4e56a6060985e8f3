"""The command-line tools, `python -m stagrad …`."""
