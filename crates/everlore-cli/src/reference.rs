//! Test that generates `docs/reference/cli.md` from the help texts and fails if the file differs.

use std::{fs, path::Path};

use clap::{Command, CommandFactory};

use crate::cli::Cli;

const REFERENCE_HEADER: &str = "\
# Command line

<!-- Made from the comments in crates/everlore-cli/src. Update with: UPDATE_DOCS=1 cargo test -p everlore-cli reference -->

Every command takes the [global options](#everlore), before or after its name, and `--help`. Exit codes: 0 done, 1 nothing
found, 2 failed. With `--json` the answer is one line of JSON, and an error is `{\"error\":{\"code\",\"message\",\"hint\"}}` on
standard output.
";

#[test]
fn the_command_reference_is_up_to_date() {
    let mut command = Cli::command();
    command.build();
    let expected = format!("{REFERENCE_HEADER}{}", sections(&command, &[]));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let actual = fs::read_to_string(&path).unwrap_or_default();
    let advice = "run `UPDATE_DOCS=1 cargo test -p everlore-cli reference` and commit the result";
    assert!(actual == expected, "docs/reference/cli.md is out of date: {advice}");
}

/// Writes a section for the command and each of its subcommands.
fn sections(command: &Command, parents: &[&str]) -> String {
    let path = [parents, &[command.get_name()]].concat();
    let mut text = section(command, &path);
    for child in command.get_subcommands().filter(|child| child.get_name() != "help") {
        text += &sections(child, &path);
    }
    text
}

fn section(command: &Command, path: &[&str]) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let mut text = format!("\n## {}\n\n{}\n", path.join(" "), about.unwrap_or_default());
    let mut usage = command.clone().bin_name(path.join(" "));
    let usage = usage.render_usage().to_string();
    text += &format!("\n```text\n{}\n```\n", usage.trim_start_matches("Usage: "));
    let is_root = path.len() == 1;
    let rows: String = command
        .get_arguments()
        .filter(|arg| is_root || !arg.is_global_set())
        .filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()))
        .map(option_row)
        .collect();
    if !rows.is_empty() {
        text += &format!("\n| option | what it does |\n|---|---|\n{rows}");
    }
    text
}

fn option_row(arg: &clap::Arg) -> String {
    let mut about = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<_> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if !values.is_empty() && arg.get_action().takes_values() {
        about += &format!("; one of {}", values.join(", "));
    }
    let defaults: Vec<_> =
        arg.get_default_values().iter().filter_map(|value| value.to_str()).collect();
    if !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values() {
        about += &format!(" [default: {}]", defaults.join(", "));
    }
    if let Some(variable) = arg.get_env().and_then(|variable| variable.to_str()) {
        about += &format!(" [variable: `{variable}`]");
    }
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    format!(
        "| `{short}{}` | {} |\n",
        arg.to_string().trim_end_matches('.').replace('|', "\\|"),
        about.replace('|', "\\|")
    )
}
