"""What git knows of a suite and of the files beside it: read only, without external diffs and monitors.

Every call is an argument list, bounded in time. References and paths come from a person or a CI
script; they are checked, and never reach git where it could take them for an option.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from misheard.errors import InputError

MAX_FILE_BYTES = 64 << 20
_SECONDS = 60
_REFERENCE = re.compile(r"[^-:\s][^:\s\\]{0,249}")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of the repository whose work tree is at `root`. `name` is what the person called it."""

    root: Path
    sha: str
    name: str

    def file(self, path: Path) -> bytes | None:
        """Return the bytes of a file as it was; None where there was none.

        Raises InputError where it lies outside the repository, or is too large.
        """
        address = f"{self.sha}:{self.relative(path)}"
        size = _git(self.root, ["cat-file", "-s", address])
        if size is None:
            return None
        if int(size) > MAX_FILE_BYTES:
            raise InputError(f"{path} at {self.name}: has more than {MAX_FILE_BYTES >> 20} MiB")
        return _git(self.root, ["cat-file", "blob", address])

    def changed(self, globs: list[str], outside: Path) -> list[str]:
        """Return the files that match and are no longer what they were, new ones included.

        Globs are relative to the top of the repository (`*` stays inside a folder, `**` does not); what lies
        in the folder `outside` does not count. Raises InputError for a glob that matches no file, neither now
        nor then.
        """
        folder = self.relative(outside)
        without = [] if folder == "." else [f":(top,exclude,literal){folder}"]
        found: list[str] = []
        for glob in globs:
            specs = ["--", f":(top,glob){glob}", *without]
            options = ["--name-only", "-z", "--no-ext-diff", "--no-textconv"]
            changed = self._listed(["diff", *options, self.sha, *specs])
            new = self._listed(["ls-files", "-z", "--others", "--exclude-standard", "--full-name", *specs])
            if not changed and not new and not self._listed(["ls-files", "-z", "--full-name", *specs]):
                raise InputError(f"--system {glob}: matches no file of the repository {self.root}")
            found += [*changed, *new]
        return list(dict.fromkeys(found))

    def relative(self, path: Path) -> str:
        """Return a path below the top of the repository. Raises InputError for one outside."""
        try:
            return path.resolve().relative_to(self.root).as_posix()
        except ValueError as error:
            raise InputError(f"{path}: is not inside the git repository {self.root}") from error

    def _listed(self, arguments: list[str]) -> list[str]:
        listing = _git(self.root, arguments)
        if listing is None:
            raise InputError(f"git {arguments[0]} failed in {self.root}")
        return [os.fsdecode(name) for name in listing.split(b"\0") if name]


def commit_at(folder: Path, reference: str) -> Commit:
    """Return what a branch, tag or hash names, in the repository that a folder is in.

    Raises InputError without git, outside a repository, and for a name that git does not know.
    """
    if not (_REFERENCE.fullmatch(reference) and reference.isprintable()):
        raise InputError("--against: is not the name of a branch, a tag or a commit")
    top = _git(folder, ["rev-parse", "--show-toplevel"])
    if top is None:
        raise InputError(f"{folder}: is not inside a git repository; compare two lock files instead")
    root = Path(os.fsdecode(top.removesuffix(b"\n"))).resolve()
    sha = _git(root, ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}"])
    if sha is None:
        raise InputError(
            f"--against {reference}: git knows no such commit here; in a shallow clone, fetch it first"
        )
    return Commit(root, sha.decode().strip(), reference)


def _git(folder: Path, arguments: list[str]) -> bytes | None:
    """Return what git prints; None where it fails. Raises InputError where it is missing or does not end."""
    # fsmonitor is a program that the repository's own config names
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(folder.resolve()), *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise InputError("--against: needs git, which is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"git {arguments[0]}: did not end within {_SECONDS} s") from error
    return done.stdout if done.returncode == 0 else None
