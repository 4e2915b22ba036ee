"""Links of a built site that lead nowhere, and what its pages would fetch from elsewhere."""

import html.parser
import os
import pathlib
import urllib.parse

FETCHED = {("img", "src"), ("script", "src"), ("source", "src"), ("iframe", "src"), ("link", "href")}


class _Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.ids.add(value)
            if name in ("href", "src") and value:
                self.links.append((tag, name, value))


def broken(site):
    """A line for each link whose file or anchor is not there, and for each foreign file that a page needs."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    lines = []
    for path, page in pages.items():
        here = path.relative_to(site)
        for tag, name, value in page.links:
            url = urllib.parse.urlsplit(value)
            if url.scheme or url.netloc:
                if (tag, name) in FETCHED and url.scheme != "data":
                    lines.append(f"{here}: <{tag}> fetches {value}")
                continue
            base = site if url.path.startswith("/") else path.parent  # the page of what is not found
            target = base / urllib.parse.unquote(url.path).lstrip("/") if url.path else path
            target = pathlib.Path(os.path.normpath(target))
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                lines.append(f"{here}: {value} is not there")
            elif url.fragment and target in pages and urllib.parse.unquote(url.fragment) not in pages[target].ids:
                if not url.fragment.startswith("__"):  # lines of code, and the theme's own
                    lines.append(f"{here}: {value} names no part of its page")
    return lines
