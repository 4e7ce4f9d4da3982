//! Generates `config.example.toml` and `docs/reference/configuration.md` from the comments on the structs, and fails if
//! the files differ.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Value;

use super::{Config, SecretString};

/// Sources of the settings structs.
const SOURCES: [&str; 14] = [
    include_str!("mod.rs"),
    include_str!("embedding.rs"),
    include_str!("memory.rs"),
    include_str!("layers.rs"),
    include_str!("prompt.rs"),
    include_str!("memory_agent.rs"),
    include_str!("chat.rs"),
    include_str!("recall.rs"),
    include_str!("upkeep.rs"),
    include_str!("heartbeat.rs"),
    include_str!("trajectories.rs"),
    include_str!("checks.rs"),
    include_str!("server.rs"),
    include_str!("store.rs"),
];

const EXAMPLE_HEAD: &str = "\
# Every setting of Everlore at its default. Copy what you want to change to config.toml in the home folder.
# Made from the comments in crates/everlore/src/config; do not edit by hand.
";

const DOCS_HEAD: &str = "\
# Configuration

<!-- Made from the comments in crates/everlore/src/config. Update with: UPDATE_DOCS=1 cargo test -p everlore config -->

Settings are read from `config.toml` in the home folder (`~/.everlore` unless `EVERLORE_HOME` or `--home` says otherwise).
Every setting has a default, so the file may be empty or absent. Flags beat environment variables, which beat the file.

A variable sets any value: its name is `EVERLORE_`, then the sections and the setting in capitals with two underscores
between them. `EVERLORE_MEMORY__INJECT__TOKEN_BUDGET=1000` sets `token_budget` in `[memory.inject]`. An empty
variable counts as not set. `EVERLORE_HOME`, `EVERLORE_CONFIG`, `EVERLORE_AGENT`, `EVERLORE_USER` and `EVERLORE_STORE` are
read by the command line itself.

A setting that does not exist is reported, with its line and the name that was probably meant, and ignored. A value of
the wrong type or out of range is an error that names the line or the setting.

An agent may override some of these settings, and a list of domain terms is a file of its own: see the
[configuration guide](../configuration-guide.md). [`config.example.toml`](../../config.example.toml) has every setting at its
default, as a file to copy from.
";

/// `[section]` with the settings directly in it.
struct SectionDoc {
    path: String,
    about: String,
    settings: Vec<SettingDoc>,
}

struct SettingDoc {
    name: String,
    default: Value,
    about: String,
}

#[test]
fn the_example_file_is_up_to_date() {
    assert_up_to_date("config.example.toml", &example());
}

fn example() -> String {
    let parts = sections().iter().map(example_section).collect::<String>();
    format!("{EXAMPLE_HEAD}{parts}")
}

#[test]
fn the_configuration_reference_is_up_to_date() {
    let parts = sections().iter().map(docs_section).collect::<String>();
    assert_up_to_date("docs/reference/configuration.md", &format!("{DOCS_HEAD}{parts}"));
}

#[test]
fn the_example_file_is_the_default_config_and_names_every_setting() {
    let text = example();
    let (config, warnings) = Config::parse(&text).unwrap();
    assert_eq!((config, warnings), (Config::default(), vec![]));
    let named = toml::from_str::<Value>(&text).unwrap();
    let all = Value::try_from(Config::default()).unwrap();
    assert_eq!(named, all, "a setting is missing from config.example.toml");
}

#[test]
fn the_defaults_pass_their_own_checks() {
    assert_eq!(Config::default().validate(), []);
}

#[test]
fn no_secret_has_a_default() {
    assert_eq!(Config::default().memory_agent.api_key, SecretString::default());
    assert_eq!(Config::default().embedding.api_key, SecretString::default());
    assert_eq!(Config::default().chat.api_key, SecretString::default());
}

fn assert_up_to_date(name: &str, expected: &str) {
    let path = root().join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    let advice =
        "is out of date: run `UPDATE_DOCS=1 cargo test -p everlore config` and commit the result";
    assert!(found == expected, "{name} {advice}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example_section(section: &SectionDoc) -> String {
    let settings = section.settings.iter().map(|setting| {
        format!("\n{}{} = {}\n", comment_lines(&setting.about), setting.name, setting.default)
    });
    format!(
        "\n{}[{}]\n{}",
        comment_lines(&section.about),
        section.path,
        settings.collect::<String>()
    )
}

fn docs_section(section: &SectionDoc) -> String {
    let rows = section.settings.iter().map(|setting| {
        format!("| `{}` | `{}` | {} |\n", setting.name, setting.default, setting.about)
    });
    format!(
        "\n## `[{}]`\n\n{}\n\n| setting | default | what it does |\n|---|---|---|\n{}",
        section.path,
        section.about,
        rows.collect::<String>()
    )
}

/// Breaks a text into comment lines of at most 110 characters.
fn comment_lines(text: &str) -> String {
    let mut lines = vec![String::from("#")];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 110 => *line += &format!(" {word}"),
            _ => lines.push(format!("# {word}")),
        }
    }
    lines.join("\n") + "\n"
}

/// Returns all sections in the order of the structs.
fn sections() -> Vec<SectionDoc> {
    let defaults = Value::try_from(Config::default()).unwrap();
    let mut all = Vec::new();
    collect_sections("", "Config", &defaults, &mut all);
    all
}

fn collect_sections(path: &str, type_name: &str, defaults: &Value, all: &mut Vec<SectionDoc>) {
    let (about, fields) = struct_docs(type_name);
    let (inner, own): (Vec<FieldDoc>, Vec<FieldDoc>) =
        fields.into_iter().partition(|field| defaults[&field.name].is_table());
    let settings = own.into_iter().map(|field| SettingDoc {
        default: defaults[&field.name].clone(),
        name: field.name,
        about: field.about,
    });
    if !path.is_empty() {
        all.push(SectionDoc { path: path.to_owned(), about, settings: settings.collect() });
    }
    for field in inner {
        let path =
            if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        collect_sections(&path, &field.type_name, &defaults[&field.name], all);
    }
}

struct FieldDoc {
    name: String,
    type_name: String,
    about: String,
}

/// Returns the comment on a struct and its documented fields, read from our own source.
fn struct_docs(type_name: &str) -> (String, Vec<FieldDoc>) {
    let opening = format!("pub struct {type_name} ");
    let (above, body) = SOURCES.iter().find_map(|source| source.split_once(&opening)).unwrap();
    let body = body.lines().map(str::trim).skip(1).take_while(|line| *line != "}");
    let comments = above.lines().map(str::trim).rev();
    let comments = comments.skip_while(|line| line.is_empty() || line.starts_with("#["));
    let mut about: Vec<&str> = comments.map_while(|line| line.strip_prefix("/// ")).collect();
    about.reverse();
    (about.join(" "), field_docs(body))
}

fn field_docs<'a>(body: impl Iterator<Item = &'a str>) -> Vec<FieldDoc> {
    let mut fields = Vec::new();
    let mut about: Vec<&str> = Vec::new();
    for line in body {
        if let Some(text) = line.strip_prefix("/// ") {
            about.push(text);
        } else if let Some(field) = line.strip_prefix("pub ") {
            let (name, rest) = field.split_once(": ").unwrap();
            let type_name = rest.split([',', ' ']).next().unwrap();
            let about = std::mem::take(&mut about).join(" ");
            fields.push(FieldDoc { name: name.to_owned(), type_name: type_name.to_owned(), about });
        }
    }
    fields
}
