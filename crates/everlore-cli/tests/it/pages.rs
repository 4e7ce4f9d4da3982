//! The README and the pages of `docs/` name only what exists: files, headings, commands, options, and figures that
//! were measured.

use std::{collections::HashSet, fs, path::Path};

use crate::{
    book::pages_below,
    readme::{read_page, root},
};

/// Command reference, which a test generates from the command line itself.
const REFERENCE: &str = "docs/reference/cli.md";

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut count = 0;
    for page in pages() {
        // Neither the output of a command nor a line of an index links to anything.
        let text: String = prose(&read_page(&page)).split('`').step_by(2).collect();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if !link.contains("://") {
                assert!(link_exists(&page, link), "{page} links to {link}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} links were found");
}

#[test]
fn commands_and_options_exist() {
    let reference = read_page(REFERENCE);
    let mut count = 0;
    for page in pages() {
        for command in named_commands(&read_page(&page)) {
            assert!(command_exists(&reference, &command), "{page} names `{command}`");
            count += 1;
        }
    }
    assert!(count > 200, "only {count} commands were found");
}

#[test]
fn files_of_the_sources_exist() {
    for page in pages() {
        for path in code_spans(&read_page(&page)).iter().filter(|it| it.starts_with("crates/")) {
            // `*` stands for the rest of a name.
            let path = root().join(path.split('*').next().unwrap_or_default());
            let folder = path.parent().unwrap();
            let name = path.file_name().unwrap().to_str().unwrap();
            let found = fs::read_dir(folder).is_ok_and(|mut entries| {
                entries.any(|it| it.unwrap().file_name().to_str().unwrap().starts_with(name))
            });
            assert!(found, "{page} names {}", path.display());
        }
    }
}

#[test]
fn the_figures_of_the_readme_are_those_of_the_benchmarks() {
    let readme = read_page("README.md");
    let (_, numbers) = readme.split_once("\n## Numbers\n").unwrap();
    let numbers = numbers.split("\n## ").next().unwrap();
    let (benchmarks, shown) = (read_page("docs/benchmarks.md"), figures(numbers));
    let measured = figures(&benchmarks);
    assert!(shown.len() >= 15, "{shown:?}");
    let unknown: Vec<_> = shown.difference(&measured).collect();
    assert!(unknown.is_empty(), "docs/benchmarks.md lacks {unknown:?}");
}

/// Returns the README and the pages in `docs/` and `docs/zh/`, relative to the workspace.
fn pages() -> Vec<String> {
    let is_written = |page: &String| {
        page.starts_with("docs/zh/") || !page.trim_start_matches("docs/").contains('/')
    };
    let mut pages: Vec<String> = pages_below("docs").into_iter().filter(is_written).collect();
    pages.push("README.md".to_owned());
    pages
}

/// Returns a page without its fenced blocks.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// Returns what stands between backquotes, each on one line.
fn code_spans(page: &str) -> Vec<String> {
    let prose = prose(page);
    let spans = prose.split('`').skip(1).step_by(2).map(str::split_whitespace);
    spans.map(|words| words.collect::<Vec<_>>().join(" ")).collect()
}

fn link_exists(page: &str, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = Path::new(page).parent().unwrap();
    let target = if file.is_empty() { root().join(page) } else { root().join(folder).join(file) };
    if heading.is_empty() {
        return target.exists();
    }
    let text = fs::read_to_string(target).unwrap_or_default();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == heading)
}

/// Returns the name by which a link reaches a heading.
fn anchor(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns every `everlore …` in the code spans and the shell blocks of a page.
fn named_commands(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let shell = blocks
        .filter(|block| ["sh\n", "bash\n", "console\n"].iter().any(|it| block.starts_with(it)));
    let lines = shell.flat_map(str::lines).map(|line| line.trim_start_matches("$ ").to_owned());
    let all = code_spans(page).into_iter().chain(lines);
    all.filter(|command| command.starts_with("everlore ")).collect()
}

/// Looks a command up in the reference: its subcommands have a heading, and its options a row there or among the
/// global ones.
fn command_exists(reference: &str, command: &str) -> bool {
    // `search` is another name of `recall`; the reference has one heading for both.
    let command = command.replacen("everlore search ", "everlore recall ", 1);
    let words = command_words(&command);
    let section = |depth: usize| {
        let heading = format!("\n## {}\n", words.get(..depth)?.join(" "));
        Some(reference.split_once(&heading)?.1.split("\n## ").next().unwrap_or_default())
    };
    let depth = (1..=words.len()).take_while(|depth| section(*depth).is_some()).count();
    let has_option = |name: String| {
        let end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        let rows = [section(1), section(depth)].into_iter().flatten();
        rows.flat_map(|rows| rows.split(&name).skip(1)).any(|rest| rest.starts_with(end))
    };
    let named = depth > 1 || ["help", "--version"].contains(&words[1]);
    named && words[depth..].iter().filter_map(|word| option_name(word)).all(has_option)
}

/// Splits a command into words, up to a comment or a pipe and without global options before its name.
fn command_words(command: &str) -> Vec<&str> {
    let command = command.split(" #").next().unwrap_or_default();
    let mut words: Vec<&str> = command.split_whitespace().take_while(|word| *word != "|").collect();
    while let Some(option) = words.get(1).filter(|word| word.starts_with("--") && words.len() > 2) {
        let value = usize::from(*option != "--json");
        words.drain(1..=1 + value);
    }
    words
}

/// Returns `--name`, if a word begins with it.
fn option_name(word: &str) -> Option<String> {
    let name = word
        .trim_start_matches('[')
        .strip_prefix("--")
        .filter(|it| !["help", "version"].contains(it))?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    (end > 0).then(|| format!("--{}", &name[..end]))
}

fn figures(text: &str) -> HashSet<&str> {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && !".,".contains(c));
    let numbers = numbers.map(|number| number.trim_matches(|c| ".,".contains(c)));
    numbers.filter(|number| !number.is_empty()).collect()
}
