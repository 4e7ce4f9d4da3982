//! Bringing in what other memory systems keep.

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
    sync::run_blocking,
    text::secrets,
    types::{Actor, Scope},
};

/// The layers that another system may have.
const LAYERS: [Layer; 3] = [Layer::Soul, Layer::User, Layer::Memory];

/// Users named when an export has several; more would bury the advice.
const MAX_NAMED: usize = 10;

/// What to import, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationRequest {
    /// Which system wrote it; told by what is there if left out.
    pub format: Option<ExternalFormat>,
    /// A file or a folder.
    pub path: PathBuf,
    /// Only say what would happen.
    pub dry_run: bool,
    /// Fill empty layers with those of the other system.
    pub layers: bool,
    /// Give each user of the source a scope of its own.
    pub map_users: bool,
}

/// What an import did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MigrationSummary {
    /// What became memories.
    #[serde(flatten)]
    pub report: ExternalImportReport,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// The users whose memories changed: each undoes its own part of the run.
    pub users: Vec<String>,
    /// What went into layers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<FilledLayer>,
}

/// What became of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FilledLayer {
    /// Which.
    pub layer: Layer,
    /// Parts written into it now.
    pub written: usize,
    /// Parts that were in it already.
    pub unchanged: usize,
    /// Parts that became memories instead.
    pub left_out: usize,
    /// Why, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Engine {
    /// Brings the memories of a scope to what another system says. Doing so again changes nothing.
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
        let layers = match request.layers {
            true => self.fill_layers(scope, &mut drafts, request.dry_run).await?,
            false => Vec::new(),
        };
        let now = self.now().timestamp();
        let options = ExternalImportOptions {
            format,
            run: ingest::new_import_run(now),
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

    /// Writes what fits into layers that say nothing yet, and leaves the rest among the drafts.
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

/// What goes into one layer.
struct LayerFillPlan<'a> {
    layer: Layer,
    now: &'a str,
    unwritten: bool,
    budget: usize,
    text: String,
    counts: [usize; 3],
}

impl<'a> LayerFillPlan<'a> {
    fn new(layer: Layer, now: &'a str, unwritten: bool, budget: usize) -> Self {
        Self { layer, now, unwritten, budget, text: String::new(), counts: [0; 3] }
    }

    /// Takes a part if the layer holds it already or has room for it.
    fn try_take(&mut self, draft: &ExternalDraft, masks: bool) -> bool {
        let Some((_, part)) = &draft.layer else { return false };
        let part = if masks { secrets::mask(part).0.into_owned() } else { part.clone() };
        let longer = match self.text.is_empty() {
            true => part.clone(),
            false => format!("{}\n\n{part}", self.text),
        };
        // The file ends with a line break.
        let fits = self.unwritten && count_chars(&longer) < self.budget;
        let held = self.now.contains(part.trim());
        let outcome = if held {
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
        let why = match self.unwritten {
            true => format!("only {} characters fit", self.budget),
            false => "the layer has a text of its own, which stays as it is".to_owned(),
        };
        let reason = (left_out > 0).then_some(why);
        FilledLayer { layer: self.layer, written, unchanged, left_out, reason }
    }
}

/// The drafts of each scope. Memories of several users are never mixed unasked.
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

/// Every user gets its own scope; what belongs to nobody goes to the chosen one.
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
            // The scope may be the chosen one, which already has what belongs to nobody.
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
        "choose one with --user NAME, or give each a scope of its own with --map-users",
    )
}

fn user_label(user: Option<&str>) -> String {
    user.map_or_else(|| "nobody".to_owned(), |user| format!("user `{user}`"))
}
