//! The migration guides, the cookbook and the page on privacy are executed: their commands run and print what the pages
//! show, the guides on data that the other systems wrote (`tests/data/migrate`).

use std::{fs, path::Path};

use crate::{
    home::TestHome,
    readme::{read_page, shown_commands},
};

/// Address of the database in the recipes, which a test with a database server runs.
pub(crate) const SHOWN_DATABASE: &str = "postgres://everlore@db.internal/everlore";

#[test]
fn the_guide_from_mem0_answers_as_it_says() {
    assert_guide("mem0", 7);
}

#[test]
fn the_guide_from_claude_code_answers_as_it_says() {
    assert_guide("claude-code", 9);
}

#[test]
fn the_guide_from_basic_memory_answers_as_it_says() {
    assert_guide("basic-memory", 8);
}

#[test]
fn the_guide_from_the_mcp_server_answers_as_it_says() {
    assert_guide("mcp-memory", 8);
}

/// Runs the commands of a guide on a new home beside the data of the other system.
fn assert_guide(system: &str, min_commands: usize) {
    let home = TestHome::new();
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/migrate")).join(system);
    copy_folder(&data, &home.sibling(""));
    let shown = shown_commands(&read_page(&format!("docs/migrate-{system}.md")));
    assert!(shown.len() >= min_commands, "{system}: {} commands", shown.len());
    shown.iter().for_each(|shown| shown.assert(&home));
}

#[test]
fn the_recipes_of_the_cookbook_answer_as_it_says() {
    let recipes = recipes();
    assert_eq!(recipes.len(), 10);
    let (with_server, alone): (Vec<_>, Vec<_>) =
        recipes.iter().partition(|recipe| recipe.contains(SHOWN_DATABASE));
    assert_eq!(with_server.len(), 2, "these run in a test with a database server");
    let mut count = 0;
    for recipe in alone {
        let (home, shown) = (TestHome::new(), shown_commands(recipe));
        shown.iter().for_each(|shown| shown.assert(&home));
        count += shown.len();
    }
    assert!(count >= 35, "only {count} commands ran");
}

#[test]
fn the_commands_of_the_page_on_privacy_answer_as_it_says() {
    let (home, shown) = (TestHome::new(), shown_commands(&read_page("docs/privacy.md")));
    assert_eq!(shown.len(), 2);
    shown.iter().for_each(|shown| shown.assert(&home));
}

/// Returns the parts of the cookbook, each from its heading on.
pub(crate) fn recipes() -> Vec<String> {
    read_page("docs/cookbook.md").split("\n## ").skip(1).map(str::to_owned).collect()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
