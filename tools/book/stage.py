"""Stages the book: copies the pages that docs/SUMMARY.md lists, and what they show, into a folder that mdBook builds.

Paths stay as in the repository, so that links between pages hold. A link to a file that is no page of the book leads to the
repository on the web.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(\[[^\[\]]*\]\()([^()\s]+)(\))")
FENCE = re.compile(r"^(```|~~~)")
IMAGES = (".png", ".svg")
# A line break between two Chinese characters, which a browser would show as a blank.
HAN_BREAK = re.compile(r"(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])\n *(?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="a folder of its own; what an earlier run staged there is replaced")
    folder = parser.parse_args().folder
    if folder.exists() and not (folder / "book.toml").is_file():
        sys.exit(f"{folder} is not a staged book: name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    repository = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    source = folder / "src"
    summary = (ROOT / "docs/SUMMARY.md").read_text()
    pages = {resolve("docs/SUMMARY.md", link) for _, link, _ in LINK.findall(summary)}
    write(source / "SUMMARY.md", LINK.sub(lambda it: it[1] + in_book(resolve("docs/SUMMARY.md", it[2])) + it[3], summary))
    for page in sorted(pages):
        write(source / in_book(page), staged(page, pages, repository, source))
    for name in ("book.toml", "book.css", "han_search.js"):
        shutil.copy(ROOT / "tools/book" / name, folder)


def staged(page: str, pages: set[str], repository: str, source: pathlib.Path) -> str:
    """Returns the text of a page with the links that it needs in the book."""

    def retarget(link: re.Match[str]) -> str:
        target, _, heading = link[2].partition("#")
        path = resolve(page, target) if target and "://" not in target else ""
        if not path:
            return link[0]
        if path in pages:
            return link[1] + in_book(link[2]) + link[3]
        if path.endswith(IMAGES):
            write(source / path, (ROOT / path).read_bytes())
            return link[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{link[1]}{repository}/{kind}/main/{path}{'#' + heading if heading else ''}{link[3]}"

    text, in_code = "", False
    for line in (ROOT / page).read_text().split("\n"):
        is_fence = bool(FENCE.match(line.strip()))
        # Code stays as it is.
        joins = not (in_code or is_fence) and HAN_BREAK.search(text[-1:] + "\n" + line)
        in_code ^= is_fence
        line = line if in_code else LINK.sub(retarget, line)
        text += line.lstrip() if joins else "\n" + line
    return text.removeprefix("\n")


def in_book(path: str) -> str:
    """Returns the path in the book, where the first page of a folder is its index."""
    return re.sub(r"\bREADME\.md", "index.md", path)


def resolve(page: str, target: str) -> str:
    """Returns a path of the repository from a link on a page."""
    return os.path.normpath(os.path.join(os.path.dirname(page), target))


def write(path: pathlib.Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    main()
