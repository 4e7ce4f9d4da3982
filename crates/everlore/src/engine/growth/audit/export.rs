//! Audit of another system's export: read into memory, audited, and not stored.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::PathBuf,
};

use serde_json::json;

use super::{AuditReport, conflicts, conflicts::ConflictIndex};
use crate::{
    engine::Engine,
    error::Result,
    files::importers::{ExternalDraft, ExternalFormat, ParsedImport},
    growth::audit::{AuditContext, AuditScan, Fault, conflict_fault, no_speaker_fault},
    sync::run_blocking,
    types::{Kind, Memory, MemoryId, MemorySource, Origin, Scope, Timestamp, VALID_UNTIL_KEY},
};

/// Export of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSource {
    /// Format; `None` detects it.
    pub format: Option<ExternalFormat>,
    /// File or folder.
    pub path: PathBuf,
}

impl Engine {
    /// Audits an export of another system. Reads it into memory and stores nothing. Fails if it cannot be read.
    pub async fn audit_export(&self, scope: &Scope, source: &AuditSource) -> Result<AuditReport> {
        let context = AuditContext {
            now: self.now().timestamp(),
            zone: self.zone.clone(),
            prompts: Vec::new(),
            injected: 0,
        };
        let (source, scope) = (source.clone(), scope.clone());
        run_blocking(move || {
            let format = source.format.map_or_else(|| ExternalFormat::detect(&source.path), Ok)?;
            Ok(audit_drafts(format.read(&source.path)?, format, &scope, context))
        })
        .await
    }
}

fn audit_drafts(
    found: ParsedImport,
    format: ExternalFormat,
    scope: &Scope,
    context: AuditContext,
) -> AuditReport {
    let now = context.now;
    let drafts: Vec<ExternalDraft> = match format {
        ExternalFormat::McpGraph => found.drafts.iter().flat_map(observations).collect(),
        ExternalFormat::Mem0 => found.drafts,
        _ => found.drafts.into_iter().flat_map(list_items).collect(),
    };
    let labels = unique_labels(&drafts, format);
    let memories: Vec<Memory> =
        drafts.iter().map(|draft| draft_memory(draft, scope, now)).collect();
    let mut audit = AuditScan::new(context);
    for (draft, memory) in drafts.iter().zip(&memories) {
        audit.read(memory);
        if is_unattributed(draft, format) {
            audit.add(no_speaker_fault(memory));
        }
    }
    let by_id: HashMap<MemoryId, &Memory> = memories.iter().map(|it| (it.id, it)).collect();
    let members = |ids: &[MemoryId]| ids.iter().map(|id| by_id[id]).collect::<Vec<_>>();
    for group in audit.groups() {
        audit.compare(&group, &members(group.ids()));
    }
    for (newer, older) in contradictions(&memories) {
        audit.add(conflict_fault(by_id[&newer], by_id[&older]));
    }
    let statements = audit.statements();
    let faults: Vec<Fault> = audit.finish();
    let label_of: HashMap<MemoryId, String> =
        memories.iter().map(|memory| memory.id).zip(labels).collect();
    let label = |id: &MemoryId| label_of.get(id).cloned().unwrap_or_default();
    AuditReport { skipped: found.skipped, ..AuditReport::new(&faults, statements, label) }
}

/// Returns the pairs of which the newer one contradicts the older one, as they stand or with the user as their subject.
fn contradictions(memories: &[Memory]) -> BTreeSet<(MemoryId, MemoryId)> {
    let told: Vec<Memory> = memories.iter().map(with_subject).collect();
    let pairs_of = |memories: &[Memory]| -> Vec<(MemoryId, MemoryId)> {
        let by_id: HashMap<MemoryId, &Memory> = memories.iter().map(|it| (it.id, it)).collect();
        let mut index = ConflictIndex::default();
        memories.iter().for_each(|memory| index.add(memory));
        let groups = index.groups();
        let members = groups.iter().map(|ids| ids.iter().map(|id| by_id[id]).collect::<Vec<_>>());
        let faults = members.flat_map(|members| conflicts::find(&members));
        faults.map(|fault| (fault.ids[0], fault.ids[1])).collect()
    };
    pairs_of(memories).into_iter().chain(pairs_of(&told)).collect()
}

/// Returns a memory that names the user as its subject, if it leaves it out: "Lives in Austin".
fn with_subject(memory: &Memory) -> Memory {
    let begins = |verb: &&str| memory.content.starts_with(*verb);
    let Some(verb) = SUBJECTLESS.iter().find(|verb| begins(verb)) else { return memory.clone() };
    let rest = &memory.content[verb.len()..];
    Memory { content: format!("User {}{rest}", verb.to_lowercase()), ..memory.clone() }
}

/// Beginnings of statements of which the user is the subject.
const SUBJECTLESS: [&str; 14] = [
    "Lives ", "Works ", "Is ", "Has ", "Likes ", "Prefers ", "Loves ", "Hates ", "Uses ", "Owns ",
    "Speaks ", "Studies ", "Drives ", "Eats ",
];

/// Splits an entity of a knowledge graph into its observations, each with the name of the entity.
fn observations(entity: &ExternalDraft) -> Vec<ExternalDraft> {
    let name = entity.name.clone().unwrap_or_default();
    let observation = |line: &str| {
        let line = line.trim_start_matches("- ");
        let is_named = line.to_lowercase().contains(&name.to_lowercase());
        let content = if is_named { line.to_owned() } else { format!("{name}: {line}") };
        ExternalDraft { content, ..entity.clone() }
    };
    entity.content.lines().map(observation).collect()
}

/// Splits a note that holds a list into its items; another note stays whole.
fn list_items(note: ExternalDraft) -> Vec<ExternalDraft> {
    let mut items: Vec<String> = Vec::new();
    for line in note.content.lines() {
        let bare = line.trim_start();
        match (bare.strip_prefix("- ").or_else(|| bare.strip_prefix("* ")), items.last_mut()) {
            (Some(item), _) => items.push(item.to_owned()),
            (None, Some(last)) => *last = format!("{last}\n{line}"),
            // Text before the first item is no list.
            (None, None) if !bare.is_empty() => return vec![note],
            (None, None) => {}
        }
    }
    if items.len() < 2 {
        return vec![note];
    }
    let item = |content: String| ExternalDraft { content, name: None, ..note.clone() };
    items.into_iter().map(|content| item(content.trim_end().to_owned())).collect()
}

/// Returns a name for each draft: the id that the other system knows it by, or else where it stands.
fn unique_labels(drafts: &[ExternalDraft], format: ExternalFormat) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut label = |draft: &ExternalDraft| {
        let key = draft.key.clone().filter(|_| format == ExternalFormat::Mem0);
        let name = key.unwrap_or_else(|| draft.location.clone());
        let mut unique = name.clone();
        let mut number = 1;
        while !seen.insert(unique.clone()) {
            number += 1;
            unique = format!("{name} ({number})");
        }
        unique
    };
    drafts.iter().map(&mut label).collect()
}

/// Converts a draft into a memory that is only compared and never stored.
fn draft_memory(draft: &ExternalDraft, scope: &Scope, now: Timestamp) -> Memory {
    let source = MemorySource {
        speaker: draft.speaker.clone(),
        role: draft.role,
        ..MemorySource::new(Origin::Import)
    };
    let kind = draft.kind.unwrap_or(Kind::Knowledge);
    let at = draft.at.unwrap_or(now);
    let mut memory = Memory::with_content(scope, kind, draft.content.clone(), source, at, now);
    memory.name = draft.name.clone().unwrap_or_default();
    memory.description.clone_from(&draft.description);
    memory.tags.clone_from(&draft.tags);
    if let Some(end) = draft.expires_at {
        memory.metadata.insert(VALID_UNTIL_KEY.to_owned(), json!(end));
    }
    memory
}

/// Returns `true` if nothing tells whose a memory is. The files of the other formats belong to one person or agent.
fn is_unattributed(draft: &ExternalDraft, format: ExternalFormat) -> bool {
    let has_agent = draft.metadata.contains_key("agent_id");
    let is_named = draft.user.is_some() || draft.speaker.is_some() || draft.role.is_some();
    format == ExternalFormat::Mem0 && !is_named && !has_agent
}
