//! Claude Code: memory folders with an index and a file for each memory, and the instructions in `CLAUDE.md`.

use super::{
    ExternalDraft, ImportDecision, ParsedImport, SourceFile,
    markdown_notes::{MarkdownNotes, shorten_title},
};
use crate::{
    files::{
        front_matter::{FrontMatter, YamlValue},
        vault::VaultPage,
    },
    types::Kind,
};

/// Folder in a memory folder with what a team shares.
const TEAM_FOLDER: &str = "team";

/// Classifies a file. Memory folders are named themselves, or lie in a project or in the folder of all projects.
pub(super) fn classify_file(path: &str) -> ImportDecision {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_page = name.ends_with(".md") && !name.starts_with('.');
    let is_read = match name {
        "CLAUDE.md" | "CLAUDE.local.md" => matches!(folder, "" | ".claude"),
        // The README of a project is not about the agent.
        "README.md" | "CHANGELOG.md" | "AGENTS.md" | "CONTRIBUTING.md" => false,
        _ => folder.is_empty() || is_memory_folder(folder) || is_rules_folder(folder),
    };
    if is_page && is_read { ImportDecision::Import } else { ImportDecision::Ignore }
}

/// Returns `true` for a folder that may hold something.
pub(super) fn descends_into(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let inside = parts.iter().position(|part| *part == ".claude").map_or(0, |at| at + 1);
    matches!(
        parts[inside..],
        [] | ["memory" | "projects" | "agent-memory" | "agent-memory-local" | TEAM_FOLDER]
            | ["memory", TEAM_FOLDER]
            | ["projects" | "agent-memory" | "agent-memory-local", _]
            | ["projects", _, "memory"]
            | ["projects", _, "memory", TEAM_FOLDER]
            | ["rules", ..]
    )
}

fn is_memory_folder(folder: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').filter(|part| *part != ".claude").collect();
    let own = parts.strip_suffix(&[TEAM_FOLDER]).unwrap_or(&parts);
    parts == [TEAM_FOLDER]
        || matches!(own, ["memory"] | ["projects", _, "memory"])
        || matches!(parts[..], ["agent-memory" | "agent-memory-local", _])
}

fn is_rules_folder(folder: &str) -> bool {
    folder.trim_start_matches(".claude/").split('/').next() == Some("rules")
}

/// Parses a file. Without `all_pages`, a file among a project's own files must declare itself a memory.
pub(super) fn parse(file: &SourceFile, source: &str, all_pages: bool, import: &mut ParsedImport) {
    let text = match file.text() {
        Ok(text) => text,
        Err(skipped) => return import.skipped.push(skipped),
    };
    let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    match file.name() {
        "MEMORY.md" => import_index(file, source, &text, import),
        "CLAUDE.md" | "CLAUDE.local.md" => import_instructions(file, source, &text, import),
        _ if is_rules_folder(folder) => import_instructions(file, source, &text, import),
        _ if matches!(folder, "" | TEAM_FOLDER)
            && !all_pages
            && VaultPage::parse(&text).is_err() => {}
        _ => import_page(file, source, &text, import),
    }
}

/// Imports the text of an index beside its links, as notes; the links only point to files.
fn import_index(file: &SourceFile, source: &str, text: &str, import: &mut ParsedImport) {
    let notes: String = text.split_inclusive('\n').filter(|line| !is_index_link(line)).collect();
    if notes.trim().is_empty() {
        return;
    }
    MarkdownNotes { file, source, kind: None, layer: None, tags: project_tags(&file.path) }
        .import_into(&notes, import);
}

/// Returns `true` if a line of the index stands for a file: `- [Title](file.md): summary`.
fn is_index_link(line: &str) -> bool {
    let item = line.trim_start().trim_start_matches(['-', '*', ' ']);
    let target =
        item.strip_prefix('[').and_then(|rest| rest.split_once("](")).map(|(_, rest)| rest);
    target
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(target, _)| target.ends_with(".md") && !target.contains("://"))
}

/// Imports instructions as rules for the agent, unless their heading says otherwise.
fn import_instructions(file: &SourceFile, source: &str, text: &str, import: &mut ParsedImport) {
    let body = match FrontMatter::parse(text) {
        Ok(Some(matter)) => matter.body().to_owned(),
        _ => text.to_owned(),
    };
    for (number, line) in body.lines().enumerate() {
        let word = line.trim().trim_start_matches("- ").split_whitespace().next();
        if let Some(path) = word.and_then(|word| word.strip_prefix('@')).filter(|p| is_path(p)) {
            let location = format!("{}:{}", file.path, number + 1);
            import.skip(location, format!("`{path}` is not followed; import that file by itself"));
        }
    }
    let from = import.drafts.len();
    let notes =
        MarkdownNotes { file, source, kind: None, layer: None, tags: vec!["instructions".into()] };
    notes.import_into(&body, import);
    for draft in &mut import.drafts[from..] {
        draft.kind = draft.kind.or(Some(Kind::Feedback));
    }
}

fn is_path(text: &str) -> bool {
    text.contains('/') || text.ends_with(".md")
}

/// Imports a file as one memory. Bad front matter costs the file its type, not its text.
fn import_page(file: &SourceFile, source: &str, text: &str, import: &mut ParsedImport) {
    let stem = file.name().trim_end_matches(".md").to_owned();
    let mut draft = ExternalDraft {
        location: file.path.clone(),
        source: source.to_owned(),
        key: Some(String::new()),
        name: Some(shorten_title(&stem.replace(['_', '-'], " "))),
        tags: project_tags(&file.path),
        ..ExternalDraft::default()
    };
    match (VaultPage::parse(text), FrontMatter::parse(text)) {
        (Ok(page), _) => {
            draft.name = page.name.or(draft.name);
            draft.description = page.description.unwrap_or_default();
            draft.kind = Some(page.kind);
            draft.tags.extend(page.tags.unwrap_or_default());
            draft.at = page.modified.or(page.created);
            draft.content = page.content;
        }
        (Err(_), Ok(Some(matter))) => {
            draft.name =
                text_value(&matter, "name").map(|name| shorten_title(&name)).or(draft.name);
            draft.description = text_value(&matter, "description").unwrap_or_default();
            draft.kind = kind_from_name(&stem);
            draft.content = matter.body().trim().to_owned();
        }
        (Err(_), Ok(None)) => {
            draft.kind = kind_from_name(&stem);
            draft.content = text.trim().to_owned();
        }
        (Err(_), Err(error)) => return import.skip(&file.path, error.to_string()),
    }
    if draft.content.is_empty() {
        return import.skip(&file.path, "it is empty");
    }
    import.drafts.push(draft);
}

fn text_value(matter: &FrontMatter<'_>, key: &str) -> Option<String> {
    match matter.get(key)? {
        YamlValue::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// Returns the kind in a file name: `feedback_testing.md`.
fn kind_from_name(stem: &str) -> Option<Kind> {
    let kind: Kind = stem.split(['_', '-']).next()?.parse().ok()?;
    kind.is_statement().then_some(kind)
}

/// Returns the project or the agent that a memory folder belongs to, as tags.
fn project_tags(path: &str) -> Vec<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| *part != ".claude").collect();
    match parts[..] {
        ["projects" | "agent-memory" | "agent-memory-local", name, ..] => vec![shorten_title(name)],
        _ => Vec::new(),
    }
}
