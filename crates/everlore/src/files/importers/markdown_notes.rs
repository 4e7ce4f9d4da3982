//! Markdown notes, split at headings into parts worth a memory each.

use std::collections::HashMap;

use super::{ExternalDraft, ParsedImport, SourceFile};
use crate::{
    files::{layers::Layer, sections::MarkdownSections},
    types::{Kind, MAX_NAME_CHARS},
};

/// Words in a heading that decide the kind of its text, in both languages.
#[rustfmt::skip]
const HEADING_KEYWORDS: [(Kind, &[&str]); 4] = [
    (Kind::Feedback, &["rule", "lesson", "feedback", "style", "convention", "guideline", "boundar", "correction",
        "规则", "教训", "反馈", "风格", "约定", "规范", "原则", "纠正"]),
    (Kind::User, &["preference", "about me", "about the user", "about you", "user", "profile", "personal", "family",
        "偏好", "喜好", "用户", "关于我", "个人", "家人", "习惯"]),
    (Kind::Project, &["project", "goal", "decision", "todo", "status", "plan", "roadmap", "architecture",
        "项目", "目标", "决定", "决策", "计划", "进度", "待办", "架构"]),
    (Kind::Reference, &["link", "resource", "reference", "tools", "account", "docs", "contact",
        "链接", "资源", "参考", "工具", "文档", "联系"]),
];

/// Notes of one file.
pub(super) struct MarkdownNotes<'a> {
    pub(super) file: &'a SourceFile,
    pub(super) source: &'a str,
    /// Kind of all parts; if `None`, decided by heading and text.
    pub(super) kind: Option<Kind>,
    pub(super) layer: Option<Layer>,
    pub(super) tags: Vec<String>,
}

impl MarkdownNotes<'_> {
    /// Imports each part of the text that is not empty.
    pub(super) fn import_into(&self, text: &str, import: &mut ParsedImport) {
        let sections = MarkdownSections::parse(text);
        let mut occurrences: HashMap<String, usize> = HashMap::new();
        let before = import.drafts.len();
        for (heading, part, body) in sections.headed_texts() {
            let nth = occurrences.entry(heading.to_owned()).or_insert(0);
            *nth += 1;
            if body.trim().is_empty() {
                continue;
            }
            let location = match heading {
                "" => self.file.path.clone(),
                heading => format!("{}: {}", self.file.path, shorten_title(heading)),
            };
            if is_blank_form(body) {
                import.skip(location, "it is an empty template");
                continue;
            }
            let name = (!heading.is_empty()).then(|| shorten_title(heading));
            import.drafts.push(ExternalDraft {
                location,
                source: self.source.to_owned(),
                key: Some(format!("{heading}\n{nth}")),
                kind: self.kind.or_else(|| kind_from_heading(heading)),
                name,
                content: body.trim().to_owned(),
                tags: self.tags.clone(),
                layer: self.layer.map(|layer| (layer, part.trim().to_owned())),
                ..ExternalDraft::default()
            });
        }
        if import.drafts.len() == before && text.trim().is_empty() {
            import.skip(&self.file.path, "it is empty");
        }
    }
}

/// Returns the kind that a heading announces.
pub(super) fn kind_from_heading(heading: &str) -> Option<Kind> {
    let heading = heading.to_lowercase();
    let fits = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    HEADING_KEYWORDS.iter().find(|(_, words)| fits(words)).map(|(kind, _)| *kind)
}

/// Shortens a heading to a title.
pub(super) fn shorten_title(heading: &str) -> String {
    let line = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_NAME_CHARS {
        return line;
    }
    let start: String = line.chars().take(MAX_NAME_CHARS - 1).collect();
    format!("{start}…")
}

/// Returns `true` if a text has nothing but labels, hints in italics and thematic breaks: `- **Name:**`.
fn is_blank_form(body: &str) -> bool {
    let mut lines = body.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let has_label = body.lines().any(|line| is_label(line.trim()));
    has_label && lines.all(|line| is_label(line) || is_hint(line))
}

fn is_label(line: &str) -> bool {
    let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) else {
        return false;
    };
    let item = item.trim_end_matches('*');
    item.ends_with(':') || item.ends_with('：')
}

fn is_hint(line: &str) -> bool {
    let is_rule = line.len() > 2 && line.chars().all(|c| c == '-' || c == '*' || c == '_');
    is_rule || line.len() > 1 && line.starts_with('_') && line.ends_with('_')
}
