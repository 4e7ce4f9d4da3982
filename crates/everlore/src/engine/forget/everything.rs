//! Removal of everything of a user or of an agent: deleted, which can be undone, or forgotten for good; with a preview.

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::receipt::VaultErasure;
use crate::{
    engine::{Engine, EngineAdmin, SCAN_PAGE},
    error::{Error, Result},
    files::{
        home::{agent_folder, scope_folder},
        pending_text::{erase_spooled, erase_typed, erase_unsaved},
        skill_folder::SKILL_FOLDERS,
        vault::unregister_vaults,
    },
    store::{JournalQuery, ListOrder, ListQuery, MemoryFilter},
    sync::{boxed, run_blocking},
    types::{
        Change, ChangeAuthor, ErasureReceipt, Fingerprint, Kind, MemoryId, QuarantinedDraft, Scope,
    },
};

/// Memories erased in one write: an erasure overwrites pages, and other writers wait for it.
const ERASED_PER_WRITE: usize = 200;

/// Owner of the memories to remove: an agent, a user, or one user with one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RemovalTarget {
    /// Agent; all agents of the user if left out.
    pub agent: Option<String>,
    /// User; all users of the agent if left out.
    pub user: Option<String>,
}

/// Way of removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RemovalMode {
    /// The journal keeps the memories, so that it can be undone; files stay.
    Delete,
    /// Memories, journal images, drafts, layers, vault files and pending saves are erased for good.
    Forget,
}

/// Request to remove everything of an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// Owner.
    pub target: RemovalTarget,
    /// Way.
    pub mode: RemovalMode,
    /// Set to report what would be removed, and to change nothing.
    pub dry_run: bool,
}

/// Receipt of a removal, or its preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovalReport {
    /// Way.
    pub mode: RemovalMode,
    /// Set for a preview.
    pub dry_run: bool,
    /// Agents and users that lose memories.
    pub scopes: Vec<ScopeRemoval>,
    /// Things that stay, in words.
    pub stays: Vec<String>,
    /// Backups of the database in the home, which still hold the texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<String>,
}

/// Removal in one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeRemoval {
    /// Agent.
    pub agent: String,
    /// User.
    pub user: String,
    /// Memories by kind, whatever their status.
    pub memories: Vec<KindCount>,
    /// Quarantined drafts.
    pub drafts: usize,
    /// Files and folders of the home.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Turns and lines that waited to be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<usize>,
    /// Run that undoes a deletion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Erased records, by place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<ErasureReceipt>,
    /// Vaults that were synced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vaults: Vec<VaultErasure>,
}

/// Number of memories of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// Kind.
    pub kind: Kind,
    /// Number.
    pub count: usize,
}

impl RemovalTarget {
    fn includes(&self, scope: &Scope) -> bool {
        self.agent.as_deref().is_none_or(|agent| agent == scope.agent())
            && self.user.as_deref().is_none_or(|user| user == scope.user())
    }
}

impl ScopeRemoval {
    /// Returns the number of memories.
    pub fn total(&self) -> usize {
        self.memories.iter().map(|kind| kind.count).sum()
    }
}

impl EngineAdmin<'_> {
    /// Deletes or forgets everything of an agent, of a user, or of one user with one agent; with `dry_run`, only
    /// reports it. Fails if the target names nobody, or if the store or a file fails.
    pub async fn remove_everything(self, removal: &Removal) -> Result<RemovalReport> {
        let target = &removal.target;
        if target.agent.is_none() && target.user.is_none() {
            return Err(Error::invalid("nobody is named", "name an agent or a user"));
        }
        let mut included = self.scopes().await?;
        included.retain(|scope| target.includes(scope));
        let mut scopes = Vec::new();
        for scope in self.engine.with_named(included, target)? {
            scopes.push(self.engine.remove_scope(&scope, removal).await?);
        }
        if !removal.dry_run && removal.mode == RemovalMode::Forget && target.user.is_none() {
            self.engine.remove_soul(target).await?;
        }
        let (backups, mut stays) = (self.engine.backup_names(), what_stays(removal));
        if !removal.dry_run && removal.mode == RemovalMode::Forget {
            stays.extend(self.engine.foreign_files(&scopes));
        }
        Ok(RemovalReport { mode: removal.mode, dry_run: removal.dry_run, scopes, stays, backups })
    }
}

fn what_stays(removal: &Removal) -> Vec<String> {
    let mut stays = vec![
        "memories of other agents and users".to_owned(),
        "settings of agents and API keys".to_owned(),
    ];
    match removal.mode {
        RemovalMode::Delete => {
            stays.push(
                "the journal, which can undo it, layers, daily log and vault files".to_owned(),
            );
        }
        RemovalMode::Forget => {
            stays.push("a journal without texts, and tombstones that keep imports out".to_owned());
            if removal.target.user.is_some() {
                stays.push("SOUL.md of the agents".to_owned());
            }
        }
    }
    stays
}

impl Engine {
    /// Adds the scope that a target names, or names with `default`, if it has files and no memories.
    fn with_named(&self, mut scopes: Vec<Scope>, target: &RemovalTarget) -> Result<Vec<Scope>> {
        let default = Scope::default();
        let named = Scope::new(
            target.agent.as_deref().unwrap_or(default.agent()),
            target.user.as_deref().unwrap_or(default.user()),
        )?;
        let has_files = self.scope_folders(&named).iter().any(|folder| folder.exists());
        if has_files && !scopes.contains(&named) {
            scopes.push(named);
        }
        Ok(scopes)
    }

    #[boxed]
    async fn remove_scope(&self, scope: &Scope, removal: &Removal) -> Result<ScopeRemoval> {
        let mut report = self.preview_scope(scope, removal.mode).await?;
        match removal.mode {
            _ if removal.dry_run => {}
            RemovalMode::Delete => self.delete_scope(scope, &mut report).await?,
            RemovalMode::Forget => self.forget_scope(scope, &mut report).await?,
        }
        Ok(report)
    }

    async fn preview_scope(&self, scope: &Scope, mode: RemovalMode) -> Result<ScopeRemoval> {
        let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
        for (kind, _, count) in self.store.memories().count(scope).await?.memories {
            *counts.entry(kind).or_default() += count;
        }
        let folders = match mode {
            RemovalMode::Delete => Vec::new(),
            RemovalMode::Forget => self.scope_folders(scope),
        };
        let files = folders.iter().filter(|path| path.exists());
        let files = files.map(|path| self.name_in_home(path)).collect();
        Ok(ScopeRemoval {
            agent: scope.agent().to_owned(),
            user: scope.user().to_owned(),
            memories: counts.into_iter().map(|(kind, count)| KindCount { kind, count }).collect(),
            drafts: self.store.queue().quarantined(scope).await?.len(),
            files,
            pending: None,
            run: None,
            removed: None,
            vaults: Vec::new(),
        })
    }

    async fn delete_scope(&self, scope: &Scope, report: &mut ScopeRemoval) -> Result<()> {
        let id = MemoryId::new(self.now().timestamp());
        let run = format!("delete-everything-{id}");
        let author = ChangeAuthor { run: Some(run.clone()), ..self.author.clone() };
        let mut page = all_memories(SCAN_PAGE);
        let mut ids = Vec::new();
        loop {
            let found = self.store.memories().list(scope, &page).await?;
            let Some(last) = found.last() else { break };
            page.after = Some(last.id);
            ids.extend(found.iter().map(|memory| memory.id));
        }
        if !ids.is_empty() {
            self.on_behalf_of(author).delete_listed(scope, &ids).await?;
            report.run = Some(run);
        }
        Ok(())
    }

    /// Erases all memories of a scope, deleted ones too, then its drafts and files. Files come last: after an
    /// interruption the preview still names them.
    async fn forget_scope(&self, scope: &Scope, report: &mut ScopeRemoval) -> Result<()> {
        let (mut removed, mut texts) = (ErasureReceipt::default(), HashSet::new());
        loop {
            let found = self.store.memories().list(scope, &all_memories(ERASED_PER_WRITE)).await?;
            if found.is_empty() {
                break;
            }
            texts.extend(found.iter().map(|memory| memory.fingerprint()));
            let ids: Vec<MemoryId> = found.iter().map(|memory| memory.id).collect();
            removed += self.erase_batch(scope, &ids).await?;
        }
        for ids in self.deleted_memories(scope).await?.chunks(ERASED_PER_WRITE) {
            removed += self.erase_batch(scope, ids).await?;
        }
        let drafts = self.store.queue().quarantined(scope).await?;
        let drafts: Vec<MemoryId> = drafts.iter().map(QuarantinedDraft::id).collect();
        if !drafts.is_empty() {
            self.store.queue().drop_quarantined(scope, &drafts).await?;
        }
        report.removed = Some(removed);
        report.vaults = self.erase_from_vaults(scope).await?;
        self.unregister_erased(scope, &report.vaults).await?;
        report.pending = Some(self.remove_scope_files(scope, texts).await?);
        Ok(())
    }

    async fn erase_batch(&self, scope: &Scope, ids: &[MemoryId]) -> Result<ErasureReceipt> {
        let changes = ids.iter().copied().map(Change::Erase).collect();
        let applied = self.store.apply(self.forget_write(scope, changes)).await?;
        let mut removed = ErasureReceipt::default();
        applied.into_iter().filter_map(|change| change.erasure).for_each(|it| removed += it);
        Ok(removed)
    }

    /// Returns the memories that only the journal still knows.
    async fn deleted_memories(&self, scope: &Scope) -> Result<Vec<MemoryId>> {
        let mut page = JournalQuery { limit: Some(SCAN_PAGE), ..JournalQuery::default() };
        let (mut ids, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let lines = self.store.journal().entries(scope, &page).await?;
            let Some(last) = lines.last() else { return Ok(ids) };
            page.before = Some(last.seq);
            let held = lines.iter().filter(|line| line.before.is_some() || line.after.is_some());
            ids.extend(held.map(|line| line.id).filter(|id| seen.insert(*id)));
        }
    }

    /// Removes layers, daily log, own vault, skills, pending saves and typed lines of a scope; returns the number of saves.
    async fn remove_scope_files(
        &self,
        scope: &Scope,
        texts: HashSet<Fingerprint>,
    ) -> Result<usize> {
        let Some(home) = self.home.clone() else { return Ok(0) };
        let (folders, own) = (self.scope_folders(scope), self.user_folder(scope));
        let scope = scope.clone();
        let removed = run_blocking(move || {
            let failed = |error| Error::io("a file of the home", error);
            let spooled = erase_spooled(&home, &scope, &|_| true).map_err(failed)?;
            let unsaved = erase_unsaved(&home, &scope, &|_| true).map_err(failed)?;
            let is_erased = |line: &str| texts.contains(&Fingerprint::of(line));
            erase_typed(&home, &is_erased).map_err(failed)?;
            folders.iter().try_for_each(|folder| remove_folder(folder)).map_err(failed)?;
            // The names of users are theirs, too; `users` goes with the last of them.
            let users = own.as_deref().and_then(Path::parent);
            own.iter().map(PathBuf::as_path).chain(users).for_each(remove_if_empty);
            Ok(spooled + unsaved)
        });
        self.write_files(removed).await
    }

    /// Removes the identity of an agent, with its history.
    async fn remove_soul(&self, target: &RemovalTarget) -> Result<()> {
        let (Some(home), Some(agent)) = (&self.home, &target.agent) else { return Ok(()) };
        let folder = agent_folder(home, agent);
        let removed = run_blocking(move || {
            let history = fs::read_dir(folder.join(".history")).into_iter().flatten().flatten();
            let history = history.map(|entry| entry.path()).filter(|path| is_soul(path));
            let removed = history
                .chain([folder.join("SOUL.md")])
                .try_for_each(|path| crate::files::atomic_file::remove_if_exists(&path));
            removed.map_err(|error| Error::io("SOUL.md", error))
        });
        self.write_files(removed).await
    }

    /// Returns the folders of a scope's layers, daily log, own vault, skills and workflows.
    fn scope_folders(&self, scope: &Scope) -> Vec<PathBuf> {
        let Some(home) = &self.home else { return Vec::new() };
        let folder = scope_folder(home, scope);
        let names = ["memories", "vault"].into_iter().chain(SKILL_FOLDERS);
        names.map(|name| folder.join(name)).collect()
    }

    /// Returns the folder that belongs to the user of a scope alone; the default user has none.
    fn user_folder(&self, scope: &Scope) -> Option<PathBuf> {
        let folder = scope_folder(self.home.as_deref()?, scope);
        (scope.user() != Scope::default().user()).then_some(folder)
    }

    /// Takes the vaults of a scope off the registry, except those whose files could not be erased.
    async fn unregister_erased(&self, scope: &Scope, vaults: &[VaultErasure]) -> Result<()> {
        let Some(home) = self.home.clone() else { return Ok(()) };
        let failed = vaults.iter().filter(|vault| vault.failure.is_some());
        let failed: Vec<PathBuf> = failed.map(|vault| PathBuf::from(&vault.folder)).collect();
        let scope = scope.clone();
        self.write_files(run_blocking(move || unregister_vaults(&home, &scope, &failed))).await
    }

    /// Describes the folders of removed users that hold files of somebody else.
    fn foreign_files(&self, scopes: &[ScopeRemoval]) -> Vec<String> {
        let scopes = scopes.iter().filter_map(|it| Scope::new(&it.agent, &it.user).ok());
        let folders = scopes.filter_map(|scope| self.user_folder(&scope));
        let left = folders.filter(|folder| folder.exists());
        left.map(|folder| {
            format!("{}: files that Everlore did not write", self.name_in_home(&folder))
        })
        .collect()
    }

    fn name_in_home(&self, path: &Path) -> String {
        let home = self.home.as_deref().unwrap_or(Path::new(""));
        path.strip_prefix(home).unwrap_or(path).display().to_string()
    }
}

fn is_soul(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("SOUL"))
}

fn all_memories(limit: usize) -> ListQuery {
    let filter = MemoryFilter::default();
    ListQuery { filter, after: None, order: ListOrder::OldestFirst, limit }
}

/// Removes a folder that holds nothing; another one stays, and is reported.
fn remove_if_empty(folder: &Path) {
    let _ = fs::remove_dir(folder);
}

/// Removes a folder with all in it; a missing one is no error.
fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
