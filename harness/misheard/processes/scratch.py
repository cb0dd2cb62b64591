"""Folders that programs leave behind. Standard library only, as `program_runner.py` imports it."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder and all in it, or what stands in its place; links are removed, not followed.

    Folders without permissions, and deeper than Python's recursion, go too. What cannot be removed stays.
    """
    if folder.is_symlink():
        folder.unlink()
        return
    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if not os.path.lexists(folder):
        return
    for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        with contextlib.suppress(OSError):
            subprocess.run(
                [*command, "--", str(folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
