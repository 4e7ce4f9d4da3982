//! Migration from other memory systems.
//!
//! One import:
//!
//! 1. `everlore import` calls `Engine::migrate`. `read_source` detects the format and reads the files
//!    (`files/importers/source_tree.rs`); the format (one file each in `files/importers/`) turns their bytes into
//!    drafts and reports what it skips, with location and reason.
//! 2. With `--layers`, `fill_layers` writes the parts that fit into layers without own text; the rest stay drafts.
//! 3. `group_by_scope` gives each user of the source its own scope, or refuses to mix several users.
//! 4. `ingest::import_drafts` (`ingest/external_import.rs`) converts each draft: `IncomingMemory::from_draft` validates
//!    and masks it and derives the id from its origin. Its metadata keeps a digest of its content, which later tells
//!    whether it changed there, here, or on both sides.
//! 5. `decide` compares it with what is stored, erased or deleted; additions and updates of all batches are one run.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use crate::{
    engine::Engine,
    error::{Error, Result},
    files::{
        importers::{ExternalDraft, ExternalFormat, ParsedImport, SkippedImport},
        layers::{Layer, LayerEdit, count_chars},
    },
    ingest::{self, ExternalImportOptions, ExternalImportReport},
    sync::{boxed, run_blocking},
    text::{secrets, suspect::is_suspect},
    types::{Actor, Scope, run_name},
};

/// Layers that another system may have.
const LAYERS: [Layer; 3] = [Layer::Soul, Layer::User, Layer::Memory];

/// Most users that an error names; more would bury the advice.
const MAX_NAMED: usize = 10;

/// Source and options of a migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationRequest {
    /// Format of the source; `None` detects it.
    pub format: Option<ExternalFormat>,
    /// File or folder.
    pub path: PathBuf,
    /// Set to report without writing anything.
    pub dry_run: bool,
    /// Set to fill empty layers from the source.
    pub layers: bool,
    /// Set to give each user of the source a scope of its own.
    pub map_users: bool,
}

/// Summary of a migration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MigrationSummary {
    /// Report of the imported memories.
    #[serde(flatten)]
    pub report: ExternalImportReport,
    /// Set for a dry run.
    pub dry_run: bool,
    /// Users whose memories changed: each undoes its own part of the run.
    pub users: Vec<String>,
    /// Layers that the source filled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<FilledLayer>,
}

/// Outcome for one layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilledLayer {
    /// Layer.
    pub layer: Layer,
    /// Parts written now.
    pub written: usize,
    /// Parts that it already contained.
    pub unchanged: usize,
    /// Parts that became memories instead.
    pub left_out: usize,
    /// Reason for the parts left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Engine {
    /// Imports the memories of another system into a scope and returns a summary. Repeating it changes nothing. Fails
    /// if memory is disabled for the agent, if the source cannot be read, or if it has several users and neither
    /// `map_users` nor the scope selects one.
    #[boxed]
    pub async fn migrate(
        &self,
        scope: &Scope,
        request: &MigrationRequest,
    ) -> Result<MigrationSummary> {
        self.check_enabled(scope)?;
        let (format, found) = read_source(request).await?;
        let mut report = ExternalImportReport::new(format);
        found.skipped.into_iter().for_each(|skipped| report.skip(skipped));
        let mut drafts = found.drafts;
        let layers = if request.layers {
            self.fill_layers(scope, &mut drafts, request.dry_run).await?
        } else {
            Vec::new()
        };
        let now = self.now().timestamp();
        let options = ExternalImportOptions {
            format,
            run: run_name("import", now),
            dry_run: request.dry_run,
            keep_secrets: !self.masks_secrets(scope),
        };
        let mut users = Vec::new();
        for (owner, drafts) in group_by_scope(scope, drafts, request.map_users, &mut report)? {
            let before = report.added() + report.updated;
            ingest::import_drafts(&*self.store, &owner, drafts, &options, now, &mut report).await?;
            if report.added() + report.updated > before {
                users.push(owner.user().to_owned());
            }
        }
        Ok(MigrationSummary { report, dry_run: request.dry_run, users, layers })
    }

    /// Writes parts that fit into layers without own text, and leaves the rest among the drafts.
    async fn fill_layers(
        &self,
        scope: &Scope,
        drafts: &mut Vec<ExternalDraft>,
        dry_run: bool,
    ) -> Result<Vec<FilledLayer>> {
        let mut filled = Vec::new();
        for layer in LAYERS {
            let is_part =
                |draft: &ExternalDraft| draft.layer.as_ref().is_some_and(|(of, _)| *of == layer);
            if !drafts.iter().any(is_part) {
                continue;
            }
            let now = self.read_layer(scope, layer).await?;
            let unwritten = self.layers(scope)?.is_default(layer, &now.text);
            let mut plan = LayerFillPlan::new(layer, &now.text, unwritten, now.usage.budget);
            let masks = self.masks_secrets(scope);
            drafts.retain(|draft| !is_part(draft) || !plan.try_take(draft, masks));
            if !plan.text.is_empty() && !dry_run {
                let (before, text) = (now.text.clone(), format!("{}\n", plan.text));
                let edit = LayerEdit::Write { before, text };
                self.edit_layer(scope, layer, edit, Actor::Person).await?;
            }
            filled.push(plan.into_filled_layer());
        }
        Ok(filled)
    }
}

async fn read_source(request: &MigrationRequest) -> Result<(ExternalFormat, ParsedImport)> {
    let (format, path) = (request.format, request.path.clone());
    run_blocking(move || {
        let format = format.map_or_else(|| ExternalFormat::detect(&path), Ok)?;
        Ok((format, format.read(&path)?))
    })
    .await
}

/// Plan of filling one layer.
struct LayerFillPlan<'a> {
    layer: Layer,
    now: &'a str,
    unwritten: bool,
    budget: usize,
    text: String,
    counts: [usize; 3],
    /// Parts left out because they read like instructions to the model.
    suspect: usize,
}

impl<'a> LayerFillPlan<'a> {
    fn new(layer: Layer, now: &'a str, unwritten: bool, budget: usize) -> Self {
        Self { layer, now, unwritten, budget, text: String::new(), counts: [0; 3], suspect: 0 }
    }

    /// Takes a part if the layer contains it already, or has room for it and nothing speaks against it.
    fn try_take(&mut self, draft: &ExternalDraft, masks: bool) -> bool {
        let Some((_, part)) = &draft.layer else { return false };
        let part = if masks { secrets::mask(part).0.into_owned() } else { part.clone() };
        let longer =
            if self.text.is_empty() { part.clone() } else { format!("{}\n\n{part}", self.text) };
        // The file ends with a line break.
        let has_room = self.unwritten && count_chars(&longer) < self.budget;
        // Parts that are harmless alone may read like an instruction together; none of `self.text` does.
        let is_suspect = is_suspect(&part) || has_room && is_suspect(&longer);
        self.suspect += usize::from(is_suspect);
        let fits = has_room && !is_suspect;
        let is_present = !is_suspect && self.now.contains(part.trim());
        let outcome = if is_present {
            1
        } else if fits {
            0
        } else {
            2
        };
        self.counts[outcome] += 1;
        if outcome == 0 {
            self.text = longer;
        }
        outcome < 2
    }

    fn into_filled_layer(self) -> FilledLayer {
        let [written, unchanged, left_out] = self.counts;
        let why = if !self.unwritten {
            "the layer already has a text, which was not changed".to_owned()
        } else if self.suspect == left_out {
            "they read like instructions to the model".to_owned()
        } else {
            format!("only {} characters fit", self.budget)
        };
        let reason = (left_out > 0).then_some(why);
        FilledLayer { layer: self.layer, written, unchanged, left_out, reason }
    }
}

/// Groups drafts by scope. Mixes the memories of several users only on request.
fn group_by_scope(
    scope: &Scope,
    drafts: Vec<ExternalDraft>,
    map_users: bool,
    report: &mut ExternalImportReport,
) -> Result<Vec<(Scope, Vec<ExternalDraft>)>> {
    let mut by_user: BTreeMap<Option<String>, Vec<ExternalDraft>> = BTreeMap::new();
    for draft in drafts {
        by_user.entry(draft.user.clone()).or_default().push(draft);
    }
    if map_users {
        return scope_per_user(scope, by_user, report);
    }
    if by_user.len() < 2 {
        return Ok(by_user.into_values().map(|drafts| (scope.clone(), drafts)).collect());
    }
    let own = Some(scope.user().to_owned());
    if !by_user.contains_key(&own) {
        return Err(several_users_error(scope, &by_user));
    }
    let mut chosen = Vec::new();
    for (user, drafts) in by_user {
        if user == own {
            chosen = drafts;
            continue;
        }
        for draft in drafts {
            let reason = format!("it belongs to {}", user_label(user.as_deref()));
            report.skip(SkippedImport { location: draft.location, reason });
        }
    }
    Ok(vec![(scope.clone(), chosen)])
}

/// Groups drafts by user, one scope each; drafts without a user go to the chosen scope.
fn scope_per_user(
    scope: &Scope,
    by_user: BTreeMap<Option<String>, Vec<ExternalDraft>>,
    report: &mut ExternalImportReport,
) -> Result<Vec<(Scope, Vec<ExternalDraft>)>> {
    let mut scopes: Vec<(Scope, Vec<ExternalDraft>)> = Vec::new();
    for (user, drafts) in by_user {
        let owner =
            user.as_deref().map_or(Ok(scope.clone()), |user| Scope::new(scope.agent(), user));
        match owner {
            // The user may be the chosen scope's, which already has the drafts without a user.
            Ok(owner) => match scopes.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, known)) => known.extend(drafts),
                None => scopes.push((owner, drafts)),
            },
            Err(error) => drafts.into_iter().for_each(|draft| {
                report.skip(SkippedImport { location: draft.location, reason: error.to_string() });
            }),
        }
    }
    Ok(scopes)
}

fn several_users_error(
    scope: &Scope,
    by_user: &BTreeMap<Option<String>, Vec<ExternalDraft>>,
) -> Error {
    let mut names: Vec<String> = by_user
        .iter()
        .take(MAX_NAMED)
        .map(|(user, drafts)| format!("{} ({})", user_label(user.as_deref()), drafts.len()))
        .collect();
    if by_user.len() > names.len() {
        names.push(format!("and {} more", by_user.len() - names.len()));
    }
    Error::invalid(
        format!(
            "it holds memories of {} users, and none is called `{}`: {}",
            by_user.len(),
            scope.user(),
            names.join(", ")
        ),
        "choose one with --user NAME, or import each into a separate scope with --map-users",
    )
}

fn user_label(user: Option<&str>) -> String {
    user.map_or_else(|| "no user".to_owned(), |user| format!("user `{user}`"))
}
