"""Build the documentation's site: python tools/website [--out FOLDER] [--notebooks FOLDER]

Pages of docs/ and pages that are made here (reference, gallery, notebooks, plots) are laid out in FOLDER-pages; MkDocs
turns them into the site in FOLDER (build/site) and ends the build at a warning. --notebooks has notebooks that
were run already. Needs the package on the path, and tools/requirements/docs.txt.
"""

import argparse
import logging
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "python")]

import check_links  # noqa: E402
import gallery  # noqa: E402
import llms  # noqa: E402
import notebooks  # noqa: E402
import plots  # noqa: E402
import reference  # noqa: E402
import stage  # noqa: E402


def pages(folder, run_notebooks):
    """Writes all pages under folder; what MkDocs is to know of the reference's in its nav."""
    shutil.rmtree(folder, ignore_errors=True)
    stage.documents(folder)
    plots.insert(folder / "speed-table.md")
    gallery.write(folder)
    notebooks.write(folder, run_notebooks)
    return reference.write(folder / "reference")


def mkdocs(folder, out, reference_nav):
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    here = pathlib.Path(__file__).parent
    config = load_config(str(here / "mkdocs.yml"), docs_dir=str(folder), site_dir=str(out), strict=True)
    config.nav = stage.nav(config.nav, folder, reference_nav)
    config.plugins.on_startup(command="build", dirty=False)
    try:
        build(config)
    finally:
        config.plugins.on_shutdown()
    return config.nav


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "site")
    parser.add_argument("--notebooks", type=pathlib.Path)
    options = parser.parse_args(arguments)
    out = options.out.resolve()
    folder = out.with_name(out.name + "-pages")
    entries = mkdocs(folder, out, pages(folder, options.notebooks))
    llms.write(entries, folder, out)
    broken = check_links.broken(out)
    for line in broken:
        print(line, file=sys.stderr)
    print(f"{out}/index.html")
    return int(bool(broken))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
