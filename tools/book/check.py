"""Checks a built book: every link leads to a page, a heading or a file of the book."""

import argparse
import html.parser
import pathlib
import sys
import urllib.parse

# Pages that mdBook makes by itself.
GENERATED = ("404.html", "toc.html")


class Page(html.parser.HTMLParser):
    """Links and names of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder.resolve()
    files = [path for path in sorted(folder.rglob("*.html")) if path.name not in GENERATED]
    pages = {path: Page(path.read_text()) for path in files}
    links = [(path, link) for path, page in pages.items() for link in page.links]
    broken = [f"  {path.relative_to(folder)}: {link}" for path, link in links if not leads(path, link, pages)]
    print(f"{len(pages)} pages, {len(links)} links, {len(broken)} broken", *broken, sep="\n")
    return 1 if broken or len(pages) < 40 else 0


def leads(page: pathlib.Path, link: str, pages: dict[pathlib.Path, Page]) -> bool:
    """Returns True for a link to another site, or to something that is there."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or link.startswith("//"):
        return True
    target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
    if not parts.fragment:
        return target.exists()
    return target in pages and urllib.parse.unquote(parts.fragment) in pages[target].names


if __name__ == "__main__":
    sys.exit(main())
