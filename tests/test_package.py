"""What holds for the package as a whole."""

from __future__ import annotations

import ast
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import wayfold
from benchmarks import structure
from wayfold.errors import FormatError, ParameterError, VersionError, WayfoldError

SOURCE = Path(wayfold.__file__).parent


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_import_loads_no_compiler_and_every_name_is_there():
    result = python(
        "import sys, wayfold; assert 'numba' not in sys.modules and 'scipy' not in sys.modules\n"
        "for name in dir(wayfold): assert getattr(wayfold, name) is not None\n"
        "try: wayfold.nothing\nexcept AttributeError as error: print(error)"
    )
    assert result.returncode == 0, result.stderr
    assert "no attribute 'nothing'" in result.stdout


def test_only_one_module_compiles():
    for file in SOURCE.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file != SOURCE / "core" / "jit.py":
            assert "njit" not in text, file
            assert "fastmath" not in text, file


def test_nothing_compiles_on_import():
    code = (
        "import wayfold\n"
        "from wayfold import geometry, graph, grid\n"
        "from wayfold.core import jit\n"
        "import wayfold.geometry._warm, wayfold.grid._warm, wayfold.graph._warm\n"
        "assert jit.KERNELS and not any(kernel.signatures for kernel in jit.KERNELS)\n"
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.kernels
def test_warmup_compiles_every_kernel():
    code = (
        "import wayfold\n"
        "from wayfold.core import jit\n"
        "packages = []\n"
        "count = wayfold.warmup(lambda package, done, total: packages.append((package, done, total)))\n"
        "missing = [kernel.__name__ for kernel in jit.KERNELS if not kernel.signatures]\n"
        "assert not missing, missing\n"
        "assert count == len(jit.KERNELS) and packages[-1][1] == packages[-1][2]\n"
    )
    result = python(code)
    assert result.returncode == 0, result.stderr


def test_a_read_only_install_without_a_cache_folder_works_quietly(tmp_path):
    shutil.copytree(SOURCE, tmp_path / "wayfold", ignore=shutil.ignore_patterns("__pycache__"))
    # A file where the cache folder would be stops even a user who may write everywhere.
    for folder in [tmp_path / "wayfold", *(path for path in (tmp_path / "wayfold").rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
        folder.chmod(stat.S_IREAD | stat.S_IEXEC)
    home = tmp_path / "home"
    home.write_text("")
    code = (
        "import wayfold\n"
        f"assert wayfold.__file__.startswith({str(tmp_path)!r})\n"
        "print(wayfold.Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]).path(0, 1).cost)\n"
    )
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    result = python(code, **environment)
    for folder in [tmp_path / "wayfold", *(path for path in (tmp_path / "wayfold").rglob("*") if path.is_dir())]:
        folder.chmod(stat.S_IRWXU)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "1.0"
    assert result.stderr == ""


def test_the_first_use_that_compiles_says_so_on_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    code = "import wayfold; g = wayfold.Graph.from_edges([(0, 0), (1, 0)], [(0, 1)]); g.path(0, 1); g.path(1, 0)"
    ours, theirs = pty.openpty()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True, env=environment)
    os.close(theirs)
    said = os.read(ours, 4096).decode()
    os.close(ours)
    assert said.count("compiling for first use") == 1
    quiet = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert quiet.stderr == ""


def test_errors_say_where():
    assert str(FormatError("too short", "a.map", 3)) == "a.map:3: too short"
    assert str(FormatError("too short", "a.map")) == "a.map: too short"
    assert str(FormatError("too short", line=3)) == "line 3: too short"

    class Unprintable:
        def __repr__(self):
            raise RuntimeError

    assert str(FormatError(Unprintable(), "a.map")) == "a.map: Unprintable"
    assert issubclass(VersionError, FormatError)
    assert issubclass(ParameterError, WayfoldError)
    assert issubclass(ParameterError, ValueError)


def test_kernel_files_import_only_numpy_the_compiler_and_other_kernel_files():
    allowed = re.compile(r"(math|typing|numpy|wayfold\.core\.jit|(wayfold\.\w+\.)_?\w*kernels)$")
    files = list(SOURCE.rglob("*_kernels.py"))
    assert len(files) > 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                # "from wayfold.x import _kernels" names modules, "from wayfold.x._kernels import f" functions
                inside = allowed.match(str(node.module)) or str(node.module) == "__future__"
                names = [] if inside else [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                assert allowed.match(name), f"{file.name} imports {name}"


def test_no_package_touches_the_private_modules_or_names_of_another():
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in SOURCE.rglob("*.py")}
    assert not structure.private_accesses(trees, SOURCE)


def test_no_class_name_stands_twice():
    places = {}
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(file.relative_to(SOURCE)))
    assert not {name: files for name, files in places.items() if len(files) > 1}
