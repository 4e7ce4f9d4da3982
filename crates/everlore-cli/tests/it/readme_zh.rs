//! The Chinese README says what the English one says: the same headings, commands, tables, links and figures.

use std::collections::BTreeSet;

use crate::readme::read_page;

#[test]
fn the_chinese_readme_has_the_same_headings_and_code() {
    let (english, chinese) = (read_page("README.md"), read_page("README.zh.md"));
    assert_eq!(headings(&english), headings(&chinese));
    let blocks = code_blocks(&english);
    assert!(blocks.len() >= 4, "{}", blocks.len());
    assert_eq!(blocks, code_blocks(&chinese));
}

#[test]
fn the_chinese_readme_has_the_same_tables_and_commands() {
    let (english, chinese) = (read_page("README.md"), read_page("README.zh.md"));
    let (english_rows, chinese_rows) = (table_rows(&english), table_rows(&chinese));
    assert!(english_rows.len() > 20, "{}", english_rows.len());
    assert_eq!(english_rows.len(), chinese_rows.len());
    for (english, chinese) in english_rows.iter().zip(&chinese_rows) {
        assert_eq!(english.matches('|').count(), chinese.matches('|').count(), "{english}");
        assert_eq!(inline_code(english), inline_code(chinese), "{english}");
        assert_eq!(figures(english), figures(chinese), "{english}");
    }
}

#[test]
fn the_chinese_readme_links_to_the_same_pages() {
    let (english, chinese) = (read_page("README.md"), read_page("README.zh.md"));
    let links = |page: &str| -> BTreeSet<String> {
        let links = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        // The Chinese page leads to Chinese pages where there are any.
        let twin = |link: &str| link.replace("docs/zh/", "docs/");
        links.filter(|link| !link.starts_with("README")).map(twin).collect()
    };
    assert_eq!(links(&english), links(&chinese));
    let outside = |page: &str| -> BTreeSet<String> {
        let text: String = page.split("```").step_by(2).collect();
        text.lines().flat_map(inline_code).collect()
    };
    assert_eq!(outside(&english), outside(&chinese));
}

/// Returns the level of each heading outside of code.
fn headings(page: &str) -> Vec<usize> {
    let text: String = page.split("```").step_by(2).collect();
    let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
    text.lines().map(level).filter(|level| *level > 0).collect()
}

fn code_blocks(page: &str) -> Vec<&str> {
    page.split("```").skip(1).step_by(2).collect()
}

fn table_rows(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with('|')).collect()
}

/// Returns what stands between backticks.
fn inline_code(line: &str) -> BTreeSet<String> {
    line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the percentages and fractions of a row.
fn figures(line: &str) -> Vec<&str> {
    let words = line.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '%');
    words.filter(|word| word.contains('.') && word.len() > 2 || word.ends_with('%')).collect()
}
