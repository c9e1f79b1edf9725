"""Installs pinned packages into an environment, and removes files that only installers or developers need.

pip is not kept in an environment, where it would take 16 MB: it runs from the wheel that comes with Python. Bytecode
is not compiled for all modules at once, which would take 20 MB: Python compiles a module when it is first imported.
"""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Callable

from hooks.environment import python_of

PACKAGES = ".packages"
"""The file in an environment that copies the lock file it was installed from; ``.packages-NAME`` for an extra."""
INSTALLERS = ("pip", "setuptools")
QUIET = ("--disable-pip-version-check", "--no-input", "--quiet")
UNUSED = (
    *("**/tests", "**/*.pyi", "numpy/distutils", "numpy/f2py", "pip", "setuptools"),
    *("onnxruntime/datasets", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/transformers"),
    # A second copy of the runtime, for programs in C: the Python module contains its own.
    *("onnxruntime/capi/libonnxruntime.so*", "onnxruntime/capi/libonnxruntime.*dylib"),
)
"""Files in site-packages that nothing imports. `trim` restores them if the environment fails without them."""

BUNDLED = """
import ensurepip, glob, os, sysconfig
folders = [os.path.join(os.path.dirname(ensurepip.__file__), "_bundled"), sysconfig.get_config_var("WHEEL_PKG_DIR")]
wheels = [sorted(glob.glob(os.path.join(folder, "pip-*.whl"))) for folder in folders if folder]
print(next((found[-1] for found in wheels if found), ""))
"""
"""Code that prints the path of the pip wheel that `ensurepip` would install."""

Run = Callable[..., str]


def extra_lock(root: str, name: str) -> str:
    """Return the path of an extra's lock file in ``root``, a checkout or an environment."""
    for folder in (root, os.path.join(root, "subconscious")):
        path = os.path.join(folder, "extras", name + ".lock")
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"there is no extra {name!r}")


def extras_of(environment: str) -> list[str]:
    """Return the extras that are installed in an environment."""
    prefix = PACKAGES + "-"
    return sorted(name[len(prefix) :] for name in os.listdir(environment) if name.startswith(prefix))


def install(environment: str, lock: str, run: Run, uv: str | None, extra: str = "") -> None:
    """Install the packages that ``lock`` pins, and copy that file into the environment, which a daemon may be using.

    An extra's lock file pins the packages that the base also needs to the same versions, so no loaded file is replaced.
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
    python = [python_of(environment), "-I", "-B"]
    install = ["install", *QUIET, "--no-user", "--no-compile", *wanted]
    wheel = run(*python, "-c", BUNDLED).strip()
    if wheel:
        # A wheel is a zip that Python can run; installing pip and removing it again takes twice as long as the rest.
        run(*python, os.path.join(wheel, "pip"), *install)
        return
    run(*python, "-m", "ensurepip", "--default-pip")
    try:
        run(*python, "-m", "pip", *install)
    finally:
        run(*python, "-m", "pip", "uninstall", *QUIET, "--yes", *INSTALLERS)


def site_packages(environment: str) -> str:
    """Return the folder of the installed packages."""
    return glob.glob(os.path.join(glob.escape(environment), "lib", "python*", "site-packages"))[0]


def trim(environment: str, try_out: Callable[[], object]) -> None:
    """Remove unused files; restore them if ``try_out`` fails without them (linking differs between systems)."""
    site, aside = site_packages(environment), os.path.join(environment, ".trimmed")
    os.mkdir(aside)
    moved = [(path, os.path.join(aside, str(number))) for number, path in enumerate(_unused(site))]
    for path, place in moved:
        os.rename(path, place)
    try:
        try_out()
    except Exception:  # noqa: BLE001 - any failure: if the environment is broken, the final check reports it
        for path, place in moved:
            os.rename(place, path)
    shutil.rmtree(aside)


def _unused(site: str) -> list[str]:
    """Return the existing paths that UNUSED matches; no path is inside another."""
    found = [path for pattern in UNUSED for path in glob.glob(os.path.join(glob.escape(site), pattern), recursive=True)]
    outer: list[str] = []
    for path in sorted(found):
        if not outer or not path.startswith(outer[-1] + os.sep):
            outer.append(path)
    return outer
