//! TOML settings edited in place: one table goes in or out, comments and everything else stay.

use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

/// Table `[parent.name]` with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TomlSection {
    pub(super) parent: &'static str,
    pub(super) name: &'static str,
    pub(super) values: Vec<(&'static str, TomlSetting)>,
}

/// Value of a TOML key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TomlSetting {
    Text(String),
    List(Vec<String>),
}

/// Returns the text with the section; `None` if it cannot be parsed.
pub(super) fn insert_section(text: &str, section: &TomlSection) -> Option<String> {
    let mut document: DocumentMut = text.parse().ok()?;
    let parent = document.entry(section.parent).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let parent = parent.as_table_mut()?;
    let mut table = Table::new();
    for (name, setting) in &section.values {
        table.insert(name, value(to_toml_value(setting)));
    }
    if parent.get(section.name).is_some_and(|existing| is_same(existing, section)) {
        return Some(text.to_owned());
    }
    parent.insert(section.name, Item::Table(table));
    Some(document.to_string())
}

/// Returns the text without the section; `None` if it cannot be parsed.
pub(super) fn remove_section(text: &str, section: &TomlSection) -> Option<String> {
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

/// Returns `true` if the text has the section.
pub(super) fn has_section(text: &str, section: &TomlSection) -> bool {
    let document = text.parse::<DocumentMut>().ok();
    document.is_some_and(|document| {
        document.get(section.parent).and_then(|parent| parent.get(section.name)).is_some()
    })
}

fn is_same(existing: &Item, section: &TomlSection) -> bool {
    section.values.iter().all(|(name, setting)| {
        let written = existing.get(name).and_then(Item::as_value);
        written
            .is_some_and(|written| without_decor(written) == without_decor(&to_toml_value(setting)))
    })
}

fn without_decor(value: &Value) -> String {
    let mut value = value.clone();
    value.decor_mut().clear();
    value.to_string()
}

fn to_toml_value(setting: &TomlSetting) -> Value {
    match setting {
        TomlSetting::Text(text) => text.as_str().into(),
        TomlSetting::List(texts) => {
            Value::Array(texts.iter().map(String::as_str).collect::<Array>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> TomlSection {
        TomlSection {
            parent: "mcp_servers",
            name: "everlore",
            values: vec![
                ("command", TomlSetting::Text("/opt/我的 apps/everlore".into())),
                ("args", TomlSetting::List(vec!["mcp".into()])),
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
            let edited = insert_section(text, &section()).unwrap();
            assert!(
                has_section(&edited, &section()) && edited.contains("[mcp_servers.everlore]"),
                "{edited}"
            );
            assert!(text.lines().all(|line| edited.contains(line)), "{edited}");
            assert_eq!(insert_section(&edited, &section()).unwrap(), edited);
            assert_eq!(remove_section(&edited, &section()).unwrap(), text);
        }
        assert_eq!(insert_section("a = ", &section()), None);
    }
}
