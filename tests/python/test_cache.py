"""The folder of compiled kernels: its bound, processes that fill it at once, folders that cannot be written."""

import os
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.recorded

KERNELS = """
import sys
import treadle as td
x = td.arange(100.0, device="cpu")
for k in range(int(sys.argv[1]), int(sys.argv[2])):
    y = x
    for bit in range(6):
        y = td.sqrt(y + 1) if k >> bit & 1 else td.abs(y) * y
    assert y.get().shape == (100,)
print(td._core.jit_stats()["compiled"])
"""


def environment(folder, **more):
    return {**os.environ, "TREADLE_CACHE_DIR": str(folder), **more}


def start(folder, first, last, **more):
    return subprocess.Popen(
        [sys.executable, "-c", KERNELS, str(first), str(last)],
        env=environment(folder, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    return int(out), errors


def entries(folder):
    return {p.name: p.stat() for p in folder.iterdir() if not p.name.startswith(".")}


def test_bound(tmp_path):
    made, _ = finish(start(tmp_path, 0, 16))
    before = entries(tmp_path)
    assert len(before) >= made > 10
    total = sum(s.st_size for s in before.values())
    kept = sorted(before)[:3]
    for i, name in enumerate(sorted(before)):  # the first three were used last
        then = time.time() - (10 if name in kept else 1_000_000 + i)
        os.utime(tmp_path / name, (then, then))
    foreign = tmp_path / "notes.txt"
    foreign.write_text("x" * 10 * total)
    stale, fresh = tmp_path / ".new-1-0", tmp_path / ".new-2-0"
    for p in (stale, fresh):
        p.write_text("half")
    os.utime(stale, (1, 1))
    finish(start(tmp_path, 16, 24, TREADLE_CACHE_SIZE=str(total)))
    after = entries(tmp_path)
    assert set(kept) <= set(after) and foreign.exists() and fresh.exists() and not stale.exists()
    assert sum(s.st_size for n, s in after.items() if n != foreign.name) <= total * 1.1
    assert len(set(before) - set(after)) >= 3


def test_scans_are_shared(tmp_path):
    """One process in many reads the whole folder: a scan, which alone removes stale files, is due by all their bytes."""
    stale = tmp_path / ".new-1-0"
    removed = []
    for first, size in ((0, "1G"), (2, "1G"), (4, "1G"), (6, "64K")):
        stale.write_text("half")
        os.utime(stale, (1, 1))
        assert finish(start(tmp_path, first, first + 2, TREADLE_CACHE_SIZE=size))[0] > 0
        removed.append(not stale.exists())
    assert removed == [True, False, False, True]


def test_use_counts(tmp_path):
    finish(start(tmp_path, 3, 4))
    old = time.time() - 1_000_000
    for name in entries(tmp_path):
        os.utime(tmp_path / name, (old, old))
    assert finish(start(tmp_path, 3, 4))[0] == 0
    assert all(s.st_mtime > old + 1000 for s in entries(tmp_path).values())


def test_many_at_once(tmp_path):
    """Processes that need the same kernels make each of them once, and one that is killed does no harm."""
    victims = [start(tmp_path, 0, 12) for _ in range(2)]
    others = [start(tmp_path, 0, 12) for _ in range(3)]
    time.sleep(0.5)
    for v in victims:
        v.kill()
        v.communicate()
    made = [finish(p)[0] for p in others]
    distinct = finish(start(tmp_path / "alone", 0, 12))[0]
    assert sum(made) <= 2 * distinct
    assert finish(start(tmp_path, 0, 12))[0] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_unwritable(tmp_path):
    tmp_path.chmod(0o500)
    made, errors = finish(start(tmp_path, 0, 3))
    assert made >= 3 and errors.count("compiled kernels are not kept") == 1


def test_no_folder(tmp_path):
    """A file where the folder should be: one warning, and kernels in memory."""
    (tmp_path / "file").write_text("")
    made, errors = finish(start(tmp_path / "file", 0, 3))
    assert made >= 3 and errors.count("compiled kernels are not kept") == 1
