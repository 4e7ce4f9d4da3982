//! Help of the program: the commands in groups, the daily ones first, in the chosen language.

use clap::{Command, CommandFactory};
use unicode_width::UnicodeWidthStr;

use crate::{
    cli::Cli,
    messages::{is_chinese, translate, translate_help},
    output::terminal_width,
    text_width::wrap,
};

/// Commands in the order of the help, below a heading each.
pub(crate) const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Every day",
        &[
            "remember", "recall", "list", "show", "forget", "undo", "context", "chat", "serve",
            "connect",
        ],
    ),
    ("Put in", &["observe", "ingest", "import", "session", "extract", "quarantine", "vault"]),
    (
        "Look after",
        &[
            "memory",
            "redo",
            "upkeep",
            "audit",
            "reflect",
            "proposals",
            "profile",
            "feedback",
            "experience",
            "skill",
            "workflow",
            "trajectory",
        ],
    ),
    (
        "Agents",
        &[
            "layer",
            "prompt",
            "tool",
            "fs",
            "agent",
            "scopes",
            "schedule",
            "heartbeat",
            "mcp",
            "hook",
            "disconnect",
        ],
    ),
    (
        "Set up and operate",
        &[
            "onboard",
            "config",
            "model",
            "embed",
            "store",
            "health",
            "doctor",
            "ledger",
            "tokens",
            "completions",
            "demo",
        ],
    ),
];

/// Widest line of help.
const MAX_WIDTH: usize = 100;

/// Column of a text below its option, as clap indents it.
const NEXT_LINE_COLUMN: usize = 10;

/// Words of clap in help and errors, which it writes itself, and their Chinese.
const CLAP_WORDS: [(&str, &str); 20] = [
    ("Usage: ", "用法："),
    ("Usage:", "用法："),
    ("Global options:", "全局选项："),
    ("Options:", "选项："),
    ("Arguments:", "参数："),
    ("Commands:", "命令："),
    ("Possible values:", "可选值："),
    ("[OPTIONS]", "[选项]"),
    ("[COMMAND]", "[命令]"),
    ("<COMMAND>", "<命令>"),
    ("[default: ", "[默认："),
    ("[possible values: ", "[可选值："),
    ("[env: ", "[环境变量："),
    ("[aliases: ", "[别名："),
    ("[alias: ", "[别名："),
    ("Print help (see a summary with '-h')", "显示帮助（-h 只显示概要）"),
    ("Print help (see more with '--help')", "显示帮助（--help 显示更多）"),
    ("Print this message or the help of the given subcommand(s)", "显示命令的帮助"),
    ("Print help", "显示帮助"),
    ("Print version", "显示版本"),
];

/// Returns the command line with its help in the chosen language.
pub(crate) fn command() -> Command {
    // Clap counts characters and not cells: Chinese help is wrapped when its words are in it.
    let command =
        if is_chinese() { translated(Cli::command()).term_width(0) } else { Cli::command() };
    let template = root_template(&command);
    command.help_template(template)
}

/// Returns help or an error of clap with the words that clap writes itself in the chosen language, wrapped by cells.
pub(crate) fn translate_clap(text: String) -> String {
    if !is_chinese() {
        return text;
    }
    let text =
        CLAP_WORDS.iter().fold(text, |text, (english, chinese)| text.replace(english, chinese));
    let width = help_width();
    let lines = text.split('\n').flat_map(|line| wrap_help(&translate_value(line), width));
    lines.collect::<Vec<_>>().join("\n")
}

fn help_width() -> usize {
    terminal_width().unwrap_or(MAX_WIDTH).min(MAX_WIDTH)
}

/// Translates the help of a possible value, `- name: help`, which clap takes from the type of the value.
fn translate_value(line: &str) -> String {
    match line.trim_start().strip_prefix("- ").and_then(|value| value.split_once(": ")) {
        Some((_, help)) => {
            let head = line.len() - help.trim_start().len();
            format!("{}{}", &line[..head], translate_help(help.trim_start()))
        }
        None => line.to_owned(),
    }
}

/// Wraps a line of help by cells. What follows goes below the text beside an option, not below the option.
fn wrap_help(line: &str, width: usize) -> Vec<String> {
    let (head, body) = split_help(line);
    let column = visible_width(head);
    if body.contains('\x1b') || column + body.width() <= width {
        return vec![line.to_owned()];
    }
    let (mut lines, column) = if column * 2 > width {
        (vec![head.trim_end().to_owned()], NEXT_LINE_COLUMN)
    } else {
        (Vec::new(), column)
    };
    let rows = wrap(body, width.saturating_sub(column).max(20));
    for (number, row) in rows.iter().enumerate() {
        if number == 0 && lines.is_empty() {
            lines.push(format!("{head}{row}"));
        } else {
            lines.push(format!("{:column$}{row}", ""));
        }
    }
    lines
}

/// Splits a line of help into an option with the blanks after it, and its text.
fn split_help(line: &str) -> (&str, &str) {
    let start = line.len() - line.trim_start().len();
    let gap = line[start..].find("  ").map(|at| start + at);
    let body = gap.map_or(start, |gap| line.len() - line[gap..].trim_start().len());
    line.split_at(body)
}

/// Returns the width of a text without its colours.
fn visible_width(text: &str) -> usize {
    let mut parts = text.split('\x1b');
    let first = parts.next().map_or(0, UnicodeWidthStr::width);
    let rest = parts.map(|part| part.split_once('m').map_or(0, |(_, shown)| shown.width()));
    first + rest.sum::<usize>()
}

/// Translates what a command and its options say, and its subcommands.
fn translated(command: Command) -> Command {
    let about = command.get_about().map(|about| translate_help(&about.to_string()));
    let long = command.get_long_about().map(|about| translate_help(&about.to_string()));
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    let command = match long {
        Some(long) => command.long_about(long),
        None => command,
    };
    command.mut_args(translated_arg).mut_subcommands(translated)
}

fn translated_arg(arg: clap::Arg) -> clap::Arg {
    let help = arg.get_help().map(|help| translate_help(&help.to_string()));
    let long = arg.get_long_help().map(|help| translate_help(&help.to_string()));
    let arg = match help {
        Some(help) => arg.help(help),
        None => arg,
    };
    match long {
        Some(long) => arg.long_help(long),
        None => arg,
    }
}

/// Returns the template of the program's own help.
fn root_template(command: &Command) -> String {
    let groups: String = GROUPS.iter().map(|(name, names)| group(command, name, names)).collect();
    let more = translate("`everlore COMMAND --help` says more about a command.");
    let heading = bold(&translate("Global options:"));
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{heading}\n{{options}}\n\n{more}\n"
    )
}

/// Writes the commands of a group, those that this program was built with.
fn group(command: &Command, heading: &str, names: &[&str]) -> String {
    let colon = if is_chinese() { "：" } else { ":" };
    let heading = bold(&format!("{}{colon}", translate(heading)));
    let lines: String = names
        .iter()
        .filter_map(|name| command.find_subcommand(name))
        .map(|found| {
            let aliases = found.get_visible_aliases();
            let name =
                std::iter::once(found.get_name()).chain(aliases).collect::<Vec<_>>().join(", ");
            let about = found.get_about().map(ToString::to_string).unwrap_or_default();
            entry(&name, &about)
        })
        .collect();
    format!("{heading}\n{lines}\n")
}

/// Writes a command with what it does, wrapped into a column.
fn entry(name: &str, about: &str) -> String {
    const NAME_CELLS: usize = 16;
    let width = help_width();
    let about = wrap(about, width.saturating_sub(NAME_CELLS + 2).max(20));
    let indent = format!("\n{:1$}", "", NAME_CELLS + 2);
    format!(
        "  \x1b[1m{name}\x1b[0m{:2$}{}\n",
        "",
        about.join(&indent),
        NAME_CELLS.saturating_sub(name.len())
    )
}

fn bold(text: &str) -> String {
    format!("\x1b[1m\x1b[4m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_in_one_group() {
        let command = Cli::command();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        grouped.retain(|name| known.contains(name) || cfg!(feature = "server"));
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
        assert_eq!(GROUPS[0].1.len(), 10);
    }

    #[test]
    fn chinese_help_is_wrapped_by_cells_below_its_text() {
        let long = "一".repeat(40);
        let lines = wrap_help(&format!("      \x1b[1m--home\x1b[0m <DIR>  {long}"), 60);
        assert!(lines.len() == 2 && lines[0].ends_with('一'), "{lines:#?}");
        assert_eq!(lines[1], format!("{:20}{}", "", "一".repeat(20)));
        assert!(lines.iter().all(|line| visible_width(line) <= 60), "{lines:#?}");
        let narrow = wrap_help(&format!("      --a-very-long-option <WITH-VALUE>  {long}"), 40);
        assert_eq!(narrow[0], "      --a-very-long-option <WITH-VALUE>");
        assert!(narrow[1].starts_with("          一") && narrow.len() == 4, "{narrow:#?}");
        assert_eq!(wrap_help("  <ID>  短", 60), ["  <ID>  短"]);
    }

    #[test]
    fn the_daily_commands_come_first_and_search_is_among_them() {
        let help = command().render_help().to_string();
        let at = |text: &str| help.find(text).unwrap_or_else(|| panic!("{text}: {help}"));
        assert!(at("Every day:") < at("  remember") && at("  connect") < at("Put in:"), "{help}");
        assert!(at("recall, search") < at("Put in:"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}
