"""Installs pinned packages into an environment, and takes out again what only installing or developing needs.

pip is put there for the time of an installation: it takes 16 MB. Bytecode is not compiled for all modules at once,
which would take 20 MB: Python compiles a module when it is first imported.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable

from hooks.environment import python_of

PACKAGES = ".packages"
"""In an environment: the lock that its packages were installed from. With "-NAME", that of an extra."""
INSTALLERS = ("pip", "setuptools")
QUIET = ("--disable-pip-version-check", "--no-input", "--quiet")
UNUSED = (
    *("**/tests", "**/*.pyi", "numpy/distutils", "numpy/f2py", "pip", "setuptools"),
    *("onnxruntime/datasets", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/transformers"),
    # A second copy of the runtime, for programs in C: the Python module has its own within it.
    *("onnxruntime/capi/libonnxruntime.so*", "onnxruntime/capi/libonnxruntime.*dylib"),
)
"""In site-packages: what nothing imports. `try_out` is run without it, and it is put back where that fails."""

Run = Callable[..., str]


def extra_lock(root: str, name: str) -> str:
    """The path of an extra's lock, in a checkout and in an environment alike."""
    for folder in (root, os.path.join(root, "subconscious")):
        path = os.path.join(folder, "extras", name + ".lock")
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"there is no extra {name!r}")


def extras_of(environment: str) -> list[str]:
    """The extras that are installed in an environment."""
    prefix = PACKAGES + "-"
    return sorted(name[len(prefix) :] for name in os.listdir(environment) if name.startswith(prefix))


def install(environment: str, lock: str, run: Run, uv: str | None, extra: str = "") -> None:
    """Install what a lock pins and note that it is installed. Safe while a daemon runs from the environment.

    An extra's lock pins what it shares with the base to the same versions, so nothing that is loaded is replaced.
    """
    wanted = ["--require-hashes", "--only-binary", ":all:", "-r", lock]
    if uv:
        run(uv, "pip", "install", "--quiet", "--python", python_of(environment), *wanted)
    else:
        _install_by_pip(environment, wanted, run)
    note = os.path.join(environment, PACKAGES + (f"-{extra}" if extra else ""))
    shutil.copyfile(lock, note + ".tmp")
    os.replace(note + ".tmp", note)


def _install_by_pip(environment: str, wanted: list[str], run: Run) -> None:
    python = [python_of(environment), "-I", "-B", "-m"]
    run(*python, "ensurepip", "--default-pip")
    try:
        run(*python, "pip", "install", *QUIET, "--no-user", "--no-compile", *wanted)
    finally:
        run(*python, "pip", "uninstall", *QUIET, "--yes", *INSTALLERS)


def site_packages(environment: str) -> str:
    """The folder that packages are installed in."""
    return glob.glob(os.path.join(glob.escape(environment), "lib", "python*", "site-packages"))[0]


def trim(environment: str, try_out: Callable[[], object]) -> None:
    """Remove what nothing imports; put it back where ``try_out`` fails without it (other systems link otherwise)."""
    site, aside = site_packages(environment), os.path.join(environment, ".trimmed")
    os.mkdir(aside)
    moved = [(path, os.path.join(aside, str(number))) for number, path in enumerate(_unused(site))]
    for path, place in moved:
        os.rename(path, place)
    try:
        try_out()
    except Exception:  # noqa: BLE001 - any failure: if the environment is broken, its last check says so
        for path, place in moved:
            os.rename(place, path)
    shutil.rmtree(aside)


def _unused(site: str) -> list[str]:
    """The paths of UNUSED that are there, none within another."""
    found = [path for pattern in UNUSED for path in glob.glob(os.path.join(glob.escape(site), pattern), recursive=True)]
    outer: list[str] = []
    for path in sorted(found):
        if not outer or not path.startswith(outer[-1] + os.sep):
            outer.append(path)
    return outer
