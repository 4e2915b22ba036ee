"""What the repository says of itself is so: paths, recipes, versions, the parts of a release that need no build."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

import treadle as td

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
VERSION = re.search(r'^#define TREADLE_VERSION "(.*)"$', (ROOT / "include/treadle.h").read_text("utf-8"), re.M)[1]

each_page = pytest.mark.parametrize("page", PAGES)


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no git repository: nothing says what is committed")
    return done.stdout.splitlines()


# ---- what pages name ----


def named(page):
    """What stands between backticks and looks like a path of the repository."""
    prose = re.sub(r"^```.*?^```$", "", text(page), flags=re.M | re.S)
    for word in re.findall(r"`([^`\s]+)`", prose):
        if re.fullmatch(r"(src|python|tests|tools|docs|include|examples|benchmarks)(/[\w.*]+)*", word):
            yield word


@each_page
def test_paths_exist(page):
    missing = [word for word in named(page) if not (list(ROOT.glob(word)) if "*" in word else (ROOT / word).exists())]
    assert not missing


def test_the_map_of_the_house_names_every_folder():
    rooms = {p.name for p in (ROOT / "src").iterdir() if p.is_dir()}
    assert rooms == {word.removeprefix("src/") for word in named("CONTRIBUTING.md") if re.fullmatch(r"src/\w+", word)}


def test_what_the_map_sends_a_reader_for_stands_there():
    """Functions and tables that a row of "Where is …" names are in one of the row's files."""
    rows = re.findall(r"^\| (an? [^|]+|what [^|]+|the [^|]+) \| ([^|]*`[^|]*) \| ([^|]+) \|$", text("CONTRIBUTING.md"), re.M)
    assert len(rows) >= 14
    for _, files, look in rows:
        there = "".join(text(f) for f in re.findall(r"`([\w./]+)`", files) if (ROOT / f).is_file())
        for word in re.findall(r"`(td_\w+)`", look):
            assert word in there, (word, files)


@each_page
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", text(page)):
        assert target.startswith("https://") or (ROOT / target).exists(), target


@each_page
def test_targets_of_make_exist(page):
    targets = set(re.findall(r"^([a-z0-9-]+):", text("Makefile"), re.M))
    assert set(re.findall(r"\bmake ([a-z0-9-]+)", "\n".join(re.findall(r"`(make [^`]+)`", text(page))))) <= targets


def test_commands_of_the_recipes_have_their_programs():
    commands = re.findall(r"^PYTHONPATH=build/tree .venv/bin/python (\S+)$", text("CONTRIBUTING.md"), re.M)
    assert len(commands) == 3 and all((ROOT / c).exists() for c in commands)


def test_a_recipe_names_the_tables_that_hold_what_it_says():
    """The rows and names that the recipes rely on."""
    assert "OP(softplus," in text("src/ir/core/ops.def") and "expr_softplus" in text("src/ir/core/expr_special.c")
    assert "OP(fmod," in text("src/ir/core/ops.def") and "fmod" in text("src/lower/special.c")
    assert "fmod" in text("src/ir/interp/interp_special.c")
    assert "FN(" in text("src/front/infer/intrinsic.def") and "CORE(" in text("src/ir/core/core.def")
    assert "_HOME = {" in text("python/treadle/__init__.py")


# ---- the version ----


def test_one_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION) and td.__version__ == VERSION
    assert f"\nversion: {VERSION}\n" in text("CITATION.cff")
    assert re.search(rf"^## \[{re.escape(VERSION)}\] - (unreleased|\d{{4}}-\d\d-\d\d)$", text("CHANGELOG.md"), re.M)


@pytest.mark.parametrize("arguments, want", [(["--version"], f"treadle {VERSION}\n")])
def test_the_version_is_told(arguments, want):
    env = {**os.environ, "PYTHONPATH": str(pathlib.Path(td.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-m", "treadle", *arguments], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, want)


def test_tags_are_made_by_the_release_alone():
    assert [p for p in tracked() if p.startswith("tools/") and "git tag -a" in text(p)] == ["tools/release.sh"]


# ---- the oldest NumPy ----


def test_names_that_the_oldest_numpy_lacks_stand_in_one_module():
    """NumPy 1.24 has none of these; `make matrix` imports every module with it."""
    late = re.compile(r"\b(numpy|np)(\.exceptions|\.dtypes|\.lib\.array_utils|\.linalg\._linalg)\b")
    files = [p for p in (ROOT / "python/treadle").rglob("*.py") if p.name != "_old_numpy.py"]
    assert len(files) > 400
    assert [str(p) for p in files if any(late.search(line.partition("#")[0]) for line in p.read_text("utf-8").splitlines())] == []


# ---- what a release holds ----


def test_the_files_of_a_project_are_committed_so_that_the_sdist_has_them():
    files = set(tracked())
    want = {*PAGES, "CITATION.cff", "LICENSE", "NOTICE", "THIRD_PARTY_NOTICES.txt", ".github/pull_request_template.md"}
    want |= {f".github/ISSUE_TEMPLATE/{n}.yml" for n in ("bug", "feature", "wrong_result", "config")}
    want |= {"python/treadle/py.typed", "python/treadle/__init__.pyi"}
    assert want <= files


def test_every_tool_of_the_release_is_pinned():
    for line in text("tools/requirements/release.txt").splitlines():
        assert re.fullmatch(r"[\w.-]+(\[[\w-]+\])?==[\w.]+", line), line


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def wheel(path, entries, times):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for name, data in entries:
            out.writestr(zipfile.ZipInfo(name, times), data)
    return str(path)


def test_wheels_of_the_same_files_are_the_same_bytes(tools, tmp_path):
    pytest.importorskip("zopfli", reason="zopfli is one of `make wheel`'s tools")
    import wheel_pack

    entries = [("a-1.dist-info/RECORD", b"x" * 1000), ("a/ü.py", b"import this\n" * 50), ("a/empty", b"")]
    one = wheel(tmp_path / "one.whl", entries, (2020, 1, 2, 3, 4, 6))
    other = wheel(tmp_path / "other.whl", entries[::-1], (2030, 5, 6, 7, 8, 10))
    wheel_pack.main(one)
    wheel_pack.main(other)
    assert pathlib.Path(one).read_bytes() == pathlib.Path(other).read_bytes()
    with zipfile.ZipFile(one) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == ["a/empty", "a/ü.py", "a-1.dist-info/RECORD"]
        assert [packed.read(n) for n, _ in entries] == [data for _, data in entries]


def test_what_differs_between_two_wheels_is_named(tools, tmp_path):
    import wheel_diff

    one = wheel(tmp_path / "one.whl", [("a", b"same"), ("b", b"left"), ("c", b"")], (2020, 1, 1, 0, 0, 0))
    other = wheel(tmp_path / "other.whl", [("a", b"same"), ("b", b"lift")], (2020, 1, 1, 0, 0, 0))
    first, second = wheel_diff.differences(one, other)
    assert first.startswith("b: 4 and 4 bytes, first at 1:") and second == "c is in one of them alone"


def test_a_bill_of_materials_names_what_a_wheel_contains_and_needs(tools, tmp_path):
    pytest.importorskip("cyclonedx", reason="cyclonedx-python-lib is one of `make release`'s tools")
    import json

    import sbom

    metadata = b"Name: treadle\nVersion: 9.8.7\nRequires-Dist: numpy>=1.24\nRequires-Dist: pillow; extra == 'demo'\n"
    path = wheel(tmp_path / "w.whl", [("treadle-9.8.7.dist-info/METADATA", metadata)], (2020, 1, 1, 0, 0, 0))
    assert sbom.main(path, str(tmp_path / "bill.json")) == 0
    bill = json.loads((tmp_path / "bill.json").read_text("utf-8"))
    names = {c["name"] for c in bill["components"]}
    assert {"LLVM", "numpy"} <= names and "pillow" not in names and bill["metadata"]["component"]["version"] == "9.8.7"


@pytest.fixture
def release(tmp_path):
    """Runs release.sh in a small repository whose files a test may change; returns (status, what it said)."""

    def run(commit=True, **changed):
        for name in ("tools/release.sh", "include/treadle.h", "CHANGELOG.md", "CITATION.cff"):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(changed.get(pathlib.Path(name).stem, text(name)), encoding="utf-8")
        (tmp_path / "tools/release.sh").chmod(0o755)
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        who = ["-c", "user.name=n", "-c", "user.email=e@e.org"]
        if commit:
            subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
            subprocess.run(["git", *who, "commit", "-qm", "all", "--allow-empty"], cwd=tmp_path, check=True)
        named = {f"GIT_{who}_{what}": "a@b.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        env = {**os.environ, **named}
        done = subprocess.run([tmp_path / "tools/release.sh"], capture_output=True, text=True, check=False, env=env)
        return done.returncode, done.stderr

    return run


def test_a_release_starts_from_what_is_committed(release):
    """A tree with changes is refused, with words."""
    status, said = release(commit=False)
    assert status == 1 and "not committed" in said


@pytest.mark.parametrize("heading, told", [
    (f"## [{VERSION}] - unreleased", f'write "## [{VERSION}] - 20'),
    (f"## [{VERSION}] - 2026-02-30", "is no day"),
    (f"## [{VERSION}] - 2098-01-01", "later than today"),
    ("## [0.0.9] - 2020-01-01", f'put one above it that begins with "## [{VERSION}] - 20'),
    ("", "its first section is"),
])  # fmt: skip
def test_a_release_says_what_to_write_into_the_changelog(release, heading, told):
    status, said = release(CHANGELOG=f"# Changes\n\n{heading}\n\nThe first.\n")
    assert status == 1 and "CHANGELOG.md" in said and told in said


def test_a_step_that_fails_is_named(release):
    """Nothing is installed in the small repository: the first step that needs a tool fails, and says which it is."""
    status, said = release(CHANGELOG=f"# Changes\n\n## [{VERSION}] - 2020-01-01\n")
    assert status == 1 and "release: CITATION.cff: failed (" in said and "check_jsonschema" in said


def test_folders_that_are_links_are_ignored(tmp_path):
    """A checkout may share its .venv by a link, which a pattern with a slash at its end does not match."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(text(".gitignore"), encoding="utf-8")
    (tmp_path / ".venv").symlink_to("/")
    done = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ".venv" not in done.stdout


def test_what_packing_found_out_before_is_used_again(tools, tmp_path):
    pytest.importorskip("zopfli", reason="zopfli is one of `make wheel`'s tools")
    import wheel_pack

    big = bytes(range(256)) * (wheel_pack.BIG // 256)
    entries = [("a.so", big), ("b.py", b"import this\n")]
    plain, first, again = (wheel(tmp_path / f"{n}.whl", entries, (2020, 1, 2, 3, 4, 6)) for n in "abc")
    wheel_pack.main(plain)
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "old").write_bytes(b"of another wheel")
    wheel_pack.main(first, str(kept))
    assert len(list(kept.iterdir())) == 1
    next(kept.iterdir()).touch()
    wheel_pack.main(again, str(kept))
    assert pathlib.Path(plain).read_bytes() == pathlib.Path(first).read_bytes() == pathlib.Path(again).read_bytes()
