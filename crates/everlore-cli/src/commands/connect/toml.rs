//! Editing a TOML file: one table goes in or out, comments and everything else stay.

use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// A table with its values: texts, or lists of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) parent: &'static str,
    pub(super) name: &'static str,
    pub(super) values: Vec<(&'static str, Setting)>,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    Text(String),
    List(Vec<String>),
}

/// The text with the section in it; none if it cannot be edited.
pub(super) fn with(text: &str, section: &Section) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let parent = document.entry(section.parent).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let parent = parent.as_table_mut()?;
    let mut table = Table::new();
    for (name, setting) in &section.values {
        table.insert(name, value(item(setting)));
    }
    if parent.get(section.name).is_some_and(|there| same(there, section)) {
        return Some(text.to_owned());
    }
    parent.insert(section.name, Item::Table(table));
    Some(document.to_string())
}

/// The text without the section.
pub(super) fn without(text: &str, section: &Section) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let Some(parent) = document.get_mut(section.parent) else { return Some(text.to_owned()) };
    let Some(parent) = parent.as_table_mut() else { return Some(text.to_owned()) };
    if parent.remove(section.name).is_none() {
        return Some(text.to_owned());
    }
    if parent.is_empty() && parent.is_implicit() {
        document.remove(section.parent);
    }
    Some(document.to_string())
}

/// Whether the section is there.
pub(super) fn has(text: &str, section: &Section) -> bool {
    let document = text.parse::<DocumentMut>().ok();
    document.is_some_and(|document| {
        document.get(section.parent).and_then(|parent| parent.get(section.name)).is_some()
    })
}

fn same(there: &Item, section: &Section) -> bool {
    section.values.iter().all(|(name, setting)| {
        let written = there.get(name).and_then(Item::as_value);
        written.is_some_and(|written| plain(written) == plain(&item(setting)))
    })
}

fn plain(value: &Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

fn item(setting: &Setting) -> Value {
    match setting {
        Setting::Text(text) => text.as_str().into(),
        Setting::List(texts) => Value::Array(texts.iter().map(String::as_str).collect::<Array>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Section {
        Section {
            parent: "mcp_servers",
            name: "everlore",
            values: vec![
                ("command", Setting::Text("/opt/我的 apps/everlore".into())),
                ("args", Setting::List(vec!["mcp".into()])),
            ],
        }
    }

    #[test]
    fn comments_and_other_tables_stay() {
        for text in [
            "",
            "# mine\nmodel = \"o\" # why\n",
            "model = \"o\"\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[tui]\ntheme = \"dark\"\n",
        ] {
            let laid = with(text, &section()).unwrap();
            assert!(has(&laid, &section()) && laid.contains("[mcp_servers.everlore]"), "{laid}");
            assert!(text.lines().all(|line| laid.contains(line)), "{laid}");
            assert_eq!(with(&laid, &section()).unwrap(), laid);
            assert_eq!(without(&laid, &section()).unwrap(), text);
        }
        assert_eq!(with("a = ", &section()), None);
    }
}
