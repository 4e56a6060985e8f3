"""Programs in processes of their own, which print their result as a last line of JSON."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
TIME_LIMIT = 300


def run_child(module: str, *arguments: str) -> dict[str, Any]:
    """Run `python -m module arguments`; return what it printed last, or an error in that form."""
    command = [sys.executable, "-m", module, *arguments]
    options = {"cwd": ROOT, "timeout": TIME_LIMIT, "capture_output": True, "text": True}
    try:
        finished = subprocess.run(command, check=False, **options)
    except subprocess.TimeoutExpired:
        return {"log": [], "error": f"over {TIME_LIMIT} s"}
    lines = finished.stdout.splitlines()
    if finished.returncode or not lines:
        words = finished.stderr.strip().splitlines() or ["ended without a word"]
        return {"log": [], "error": words[-1]}
    return json.loads(lines[-1])
