//! The book of `make book` has every page: `docs/SUMMARY.md` lists each, once, and nothing that does not exist.

use std::{collections::BTreeSet, fs, path::Path};

use crate::readme::{read_page, root};

/// Contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

#[test]
fn the_book_lists_every_page_of_the_docs_once() {
    let listed = listed_pages();
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let pages: Vec<String> =
        pages_below("docs").into_iter().filter(|page| page != SUMMARY).collect();
    assert!(pages.len() > 45, "{}", pages.len());
    let missing: Vec<_> = pages.iter().filter(|page| !unique.contains(page)).collect();
    assert!(missing.is_empty(), "{SUMMARY} lacks {missing:?}");
}

#[test]
fn the_book_lists_nothing_that_is_missing() {
    for page in listed_pages() {
        assert!(root().join(&page).is_file(), "{SUMMARY} lists {page}");
    }
}

#[test]
fn the_overview_links_to_every_page_of_the_book() {
    let overview = read_page("docs/README.md");
    for page in listed_pages().iter().filter_map(|page| page.strip_prefix("docs/")) {
        let is_listed = overview.contains(&format!("]({page}"));
        assert!(page == "README.md" || is_listed, "docs/README.md lacks {page}");
    }
}

/// Returns the pages that the contents list, relative to the workspace.
fn listed_pages() -> Vec<String> {
    let summary = read_page(SUMMARY);
    let links = summary.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let path = |link: &str| match link.strip_prefix("../") {
        Some(outside) => outside.to_owned(),
        None => format!("docs/{link}"),
    };
    links.map(path).collect()
}

/// Returns every markdown file below a folder of the workspace.
pub(crate) fn pages_below(folder: &str) -> Vec<String> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
        let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            pages.extend(pages_below(&path));
        } else if Path::new(&path).extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}
