"""Files of compiled code: saved on one machine, loaded on another."""

import os
import subprocess
import sys
import types
import zipfile

import pytest

import treadle as td

PROGRAM = """
import treadle as td
td.config.eager = 0
a = td.arange(1000.0, device="cpu")
print(float((a * 3 + 1).sum()), td._core.jit_stats()["compiled"])
"""


def program(folder):
    """(sum, kernels that were compiled) of a process with its cache in the folder."""
    env = {**os.environ, "TREADLE_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    total, compiled = done.stdout.split()
    return float(total), int(compiled)


@pytest.fixture
def elsewhere(monkeypatch):
    """Lets the cache be in another folder."""
    return lambda folder: monkeypatch.setattr(td.cache, "_config", types.SimpleNamespace(cache_dir=str(folder)))


def test_another_machine_compiles_nothing(tmp_path, elsewhere):
    one, other, file = tmp_path / "one", tmp_path / "other", tmp_path / "kernels.zip"
    total, compiled = program(one)
    assert compiled > 0 and total == sum(3.0 * i + 1 for i in range(1000))
    elsewhere(one)
    found = td.cache.info()
    assert td.cache.save(file) == found["entries"] > 0 and found["folder"] == str(one) and found["nbytes"] > 1000
    elsewhere(other)
    assert td.cache.load(file) == found["entries"] and td.cache.load(file) == 0
    assert td.cache.info() == {**found, "folder": str(other)}
    assert (other.stat().st_mode & 0o077) == 0
    assert program(other) == (total, 0)
    other.chmod(0o500)  # as in an image of a container
    assert program(other) == (total, 0)
    other.chmod(0o700)
    assert td.cache.clear() == found["entries"] and td.cache.info()["entries"] == 0
    assert program(other) == (total, compiled)


def test_what_is_no_such_file_adds_nothing(tmp_path, elsewhere):
    elsewhere(tmp_path / "cache")
    good = b"treadle\0" + bytes(48)
    for number, entries in enumerate((
        {"../" + "0" * 32 + ".o": good},
        {"/etc/" + "0" * 32 + ".o": good},
        {"0" * 32 + ".py": good},
        {"0" * 31 + "g.o": good},
        {"0" * 32 + ".o": b"\x7fELF"},
        {"0" * 32 + ".o": good, "1" * 32 + ".o": b""},
    )):
        file = tmp_path / f"{number}.zip"
        with zipfile.ZipFile(file, "w") as archive:
            for name, code in entries.items():
                archive.writestr(name, code)
        with pytest.raises(ValueError, match=rf"{number}\.zip.*(no entry|does not begin)"):
            td.cache.load(file)
    (tmp_path / "text.zip").write_text("kernels")
    with pytest.raises(ValueError, match="no file of treadle.cache.save"):
        td.cache.load(tmp_path / "text.zip")
    with pytest.raises(FileNotFoundError):
        td.cache.load(tmp_path / "none.zip")
    assert not (tmp_path / "cache").exists()


def test_folders_that_cannot_be_trusted_or_are_not_there(tmp_path, elsewhere):
    file, open_to_all = tmp_path / "kernels.zip", tmp_path / "open"
    elsewhere(tmp_path / "empty")
    assert td.cache.save(file) == 0 and td.cache.info()["entries"] == 0 and td.cache.clear() == 0
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    elsewhere(open_to_all)
    with pytest.raises(PermissionError, match="nobody else"):
        td.cache.load(file)
    elsewhere("")
    for f in (td.cache.info, td.cache.clear, lambda: td.cache.save(file), lambda: td.cache.load(file)):
        with pytest.raises(RuntimeError, match="TREADLE_CACHE_DIR"):
            f()
    elsewhere(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        td.cache.save(tmp_path / "no" / "kernels.zip")
    assert not list(tmp_path.glob(".treadle*"))
