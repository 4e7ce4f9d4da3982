//! The Chinese pages of the docs say what the English ones say: the same headings, commands, tables and links.

use std::collections::BTreeSet;

use crate::{book::pages_below, readme::read_page};

/// Pages that people read first, which must exist in Chinese.
const MAIN_PAGES: [&str; 20] = [
    "install.md",
    "tour.md",
    "cookbook.md",
    "chat.md",
    "configuration-guide.md",
    "models.md",
    "privacy.md",
    "files.md",
    "vault.md",
    "memory-lifecycle.md",
    "growth.md",
    "import.md",
    "migrate-mem0.md",
    "migrate-claude-code.md",
    "migrate-basic-memory.md",
    "migrate-mcp-memory.md",
    "connect.md",
    "python.md",
    "typescript.md",
    "databases.md",
];

#[test]
fn the_main_pages_exist_in_chinese_and_every_chinese_page_has_a_twin() {
    let names: Vec<String> = twins().into_iter().map(|twin| twin.name).collect();
    for page in MAIN_PAGES {
        assert!(names.contains(&format!("docs/zh/{page}")), "docs/zh/{page} is missing");
    }
}

#[test]
fn a_chinese_page_has_the_headings_and_the_code_of_its_twin() {
    for TwinPages { name, english, chinese } in twins() {
        assert_eq!(english.heading_levels(), chinese.heading_levels(), "{name}");
        assert_eq!(english.commands(), chinese.commands(), "{name}");
        assert_eq!(english.blocks.len(), chinese.blocks.len(), "{name}");
    }
}

#[test]
fn a_chinese_page_has_the_tables_of_its_twin() {
    for TwinPages { name, english, chinese } in twins() {
        let (english, chinese) = (english.table_rows(), chinese.table_rows());
        assert_eq!(english.len(), chinese.len(), "{name}");
        for (english, chinese) in english.iter().zip(&chinese) {
            assert_eq!(code_spans(english), code_spans(chinese), "{name}: {english}");
        }
    }
}

#[test]
fn a_chinese_page_names_the_commands_and_links_to_the_pages_of_its_twin() {
    for TwinPages { name, english, chinese } in twins() {
        let named = |page: &FencedPage| -> BTreeSet<String> {
            let spans = code_spans(&page.prose).into_iter();
            spans.filter(|span| span.starts_with("everlore ")).collect()
        };
        assert_eq!(named(&english), named(&chinese), "{name}");
        assert_eq!(english.linked_pages(), chinese.linked_pages(), "{name}");
    }
}

#[test]
fn a_chinese_page_is_in_chinese() {
    for TwinPages { name, chinese, .. } in twins() {
        let han = chinese.prose.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
        let letters = chinese.prose.chars().filter(char::is_ascii_lowercase).count();
        assert!(han * 2 > letters, "{name}: {han} Han characters, {letters} Latin letters");
    }
}

/// Page of the docs in both languages.
struct TwinPages {
    name: String,
    english: FencedPage,
    chinese: FencedPage,
}

/// Page with its fenced blocks apart.
#[derive(Default)]
struct FencedPage {
    prose: String,
    blocks: Vec<String>,
}

impl FencedPage {
    fn read(path: &str) -> Self {
        let (mut page, mut in_block) = (Self::default(), false);
        for line in read_page(path).lines() {
            if line.starts_with("```") {
                in_block = !in_block;
                page.blocks.extend(in_block.then(String::new));
            } else if let Some(block) = page.blocks.last_mut().filter(|_| in_block) {
                *block += &format!("{line}\n");
            } else {
                page.prose += &format!("{line}\n");
            }
        }
        page
    }

    fn heading_levels(&self) -> Vec<usize> {
        let level = |line: &str| line.chars().take_while(|c| *c == '#').count();
        self.prose.lines().map(level).filter(|level| *level > 0).collect()
    }

    /// Returns the lines with commands and their answers; comments are in the language of the page.
    fn commands(&self) -> Vec<String> {
        let shows_commands = |block: &&String| block.contains("everlore ");
        let lines = self.blocks.iter().filter(shows_commands).flat_map(|block| block.lines());
        let without_comment = |line: &str| line.split("  #").next().unwrap_or_default().to_owned();
        lines.map(|line| without_comment(line).trim_end().to_owned()).collect()
    }

    fn table_rows(&self) -> Vec<&str> {
        self.prose.lines().filter(|line| line.starts_with('|')).collect()
    }

    /// Returns the pages that it links to, as its twin does from the folder above.
    fn linked_pages(&self) -> BTreeSet<String> {
        let links = self.prose.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let pages = links.filter(|link| link.ends_with(".md"));
        pages.map(|link| link.trim_start_matches("../").to_owned()).collect()
    }
}

fn twins() -> Vec<TwinPages> {
    let pages = pages_below("docs/zh");
    assert!(pages.len() >= MAIN_PAGES.len(), "{pages:?}");
    let twin = |name: String| TwinPages {
        english: FencedPage::read(&name.replace("docs/zh/", "docs/")),
        chinese: FencedPage::read(&name),
        name,
    };
    pages.into_iter().map(twin).collect()
}

/// Returns what stands between backquotes, each on one line.
fn code_spans(text: &str) -> BTreeSet<String> {
    let spans = text.split('`').skip(1).step_by(2).map(str::split_whitespace);
    spans.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
}
