//! Construction of new memories: from files, and from edits on both sides.

use crate::{
    files::vault::{VaultPage, slug},
    store::directory::vault_scan::ScannedFile,
    types::{Memory, MemoryId, MemorySource, Origin, Scope, Timestamp},
};

/// Copies the memory's version into a memory of its own, where its file was edited too.
pub(super) fn conflict_copy(scope: &Scope, memory: &Memory, now: Timestamp) -> Memory {
    let day = now.strftime("%Y-%m-%d").to_string();
    let id = MemoryId::new(now);
    let mut copy = Memory {
        id,
        uri: new_uri(scope, memory, id),
        name: conflict_name(&memory.name, &day),
        version: 1,
        created_at: now,
        updated_at: now,
        superseded_by: None,
        ..memory.clone()
    };
    copy.metadata.insert("conflict_of".into(), memory.id.to_string().into());
    copy
}

/// Returns the name of a conflict copy. Conflicts of conflicts keep one mark.
fn conflict_name(name: &str, day: &str) -> String {
    let base = name.split(" (conflict ").next().unwrap_or(name);
    // Room for the mark, within the longest name that a memory may have.
    let base: String = base.chars().take(150).collect();
    format!("{base} (conflict {day})")
}

/// Builds a new memory from a file.
pub(super) fn memory_from_page(
    scope: &Scope,
    id: MemoryId,
    file: &str,
    page: &VaultPage,
    scanned: &ScannedFile,
    now: Timestamp,
) -> Memory {
    let modified = Timestamp::from_nanosecond(scanned.stat.modified.into()).unwrap_or(now);
    let at = page.created.or(page.modified).unwrap_or(modified).min(now);
    let stem = file.trim_end_matches(".md");
    let stem = stem.strip_prefix(page.kind.as_str()).unwrap_or(stem);
    let title = stem.replace(['_', '-'], " ").trim().to_owned();
    let blank = Memory::with_content(
        scope,
        page.kind,
        String::new(),
        MemorySource::new(Origin::Import),
        at,
        now,
    );
    let name = if title.is_empty() { page.kind.to_string() } else { title };
    let mut memory = Memory { id, name, ..blank };
    page.apply_to(&mut memory);
    memory.uri = new_uri(scope, &memory, id);
    memory
}

/// Returns `agent://{agent}/{kind}/{category}/{slug}`, where the slug ends with a part of the id, so that no two
/// collide.
fn new_uri(scope: &Scope, memory: &Memory, id: MemoryId) -> String {
    let agent = scope.agent().replace(char::is_whitespace, "-");
    let category = memory.tags.first().map(|tag| slug(tag)).filter(|tag| !tag.is_empty());
    let category = category.unwrap_or_else(|| "general".to_owned());
    let tail: String = id.as_bytes()[10..].iter().map(|byte| format!("{byte:02x}")).collect();
    let slug: String = slug(&memory.name).replace('_', "-").chars().take(48).collect();
    format!("agent://{agent}/{}/{category}/{slug}-{tail}", memory.kind)
}
