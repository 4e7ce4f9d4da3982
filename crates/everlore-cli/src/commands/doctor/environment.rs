//! Checks of the environment: language models, the hook spool, the server, leftover files.

use std::time::Duration;

use everlore::{config::ModelSettings, internal::files::pending_text::database_backups};

use super::DoctorCheck;
use crate::{CliContext, chat_model, commands::hook::SpoolBacklog, render::pluralize, rescue_log};

/// Timeout for listing a provider's models; a reachable server answers within a second.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks that the providers of the settings answer, accept the key and have the model.
pub(super) async fn check_language_models(cx: &CliContext) -> Vec<DoctorCheck> {
    let config = &cx.settings.config;
    let mut models: Vec<ModelSettings> =
        [config.chat_model(), config.memory_model(), config.summary_model()]
            .into_iter()
            .flatten()
            .collect();
    models.dedup_by_key(|settings| (settings.provider.clone(), settings.model.clone()));
    let mut checks = Vec::new();
    for settings in models {
        checks.push(check_language_model(cx, settings).await);
    }
    checks
}

async fn check_language_model(cx: &CliContext, settings: ModelSettings) -> DoctorCheck {
    let name = "language model";
    let label = format!("{}/{} of [{}]", settings.provider, settings.model, settings.section);
    let model = settings.model.clone();
    let timeout = settings.timeout.min(LIST_TIMEOUT);
    match chat_model::list_models(cx, ModelSettings { timeout, ..settings }).await {
        Err(error) => DoctorCheck::from_error(name, error),
        Ok(models) if models.is_empty() || is_listed(&models, &model) => {
            DoctorCheck::ok(name, format!("{label} is available"))
        }
        Ok(models) => DoctorCheck::note(
            name,
            format!("{label}: its provider does not list this model among {}", models.len()),
            "check the name; some providers serve models that they do not list",
        ),
    }
}

/// Returns `true` if a model is listed, also with the default tag `latest`.
fn is_listed(models: &[String], model: &str) -> bool {
    let latest = format!("{model}:latest");
    models.iter().any(|listed| listed == model || *listed == latest)
}

/// Checks the hook spool for turns that were not stored.
pub(super) fn check_hooks(cx: &CliContext) -> Vec<DoctorCheck> {
    let SpoolBacklog { overdue, refused, folder } = SpoolBacklog::scan(&cx.home);
    let folder = folder.display();
    let turns = |number| pluralize(number, "turn", "turns");
    let overdue = (overdue > 0).then(|| {
        let home = cx.home.display();
        DoctorCheck::note(
            "hooks",
            format!("{} of hooks in {folder} not stored yet", turns(overdue)),
            format!("the next event of an agent stores them; at once: everlore --home '{home}' hook claude-code drain"),
        )
    });
    let refused = (refused > 0).then(|| {
        DoctorCheck::problem(
            "hooks",
            format!("{} of hooks could not be stored: {folder}/*.refused", turns(refused)),
            "they are JSON files: store what you need with `everlore observe`, then delete them",
        )
    });
    overdue.into_iter().chain(refused).collect()
}

/// Checks that a running server has this program's version and settings.
#[cfg(feature = "server")]
pub(super) fn check_server(cx: &CliContext) -> Option<DoctorCheck> {
    let running = everlore_server::find_running(&cx.home)?;
    let label =
        format!("{} answers at {} (process {})", running.version, running.url(), running.pid);
    let difference = if running.version != env!("CARGO_PKG_VERSION") {
        Some("is another version")
    } else if running.settings != cx.settings.digest() {
        Some("has other settings")
    } else {
        None
    };
    Some(match difference {
        None => DoctorCheck::ok("server", label),
        Some(difference) => DoctorCheck::note(
            "server",
            format!("{label}; it {difference}, so hooks work without it"),
            "restart it with `everlore serve`",
        ),
    })
}

#[cfg(not(feature = "server"))]
pub(super) fn check_server(_: &CliContext) -> Option<DoctorCheck> {
    None
}

/// Reports rescue logs and backups, which hold texts outside the database.
pub(super) fn check_leftover_files(cx: &CliContext) -> Vec<DoctorCheck> {
    let unsaved = rescue_log::rescue_files(&cx.home).into_iter().map(|path| {
        let scope = rescue_log::rescued_scope(&path).unwrap_or_default();
        DoctorCheck::problem(
            "unsaved",
            format!("{} has input that could not be saved", path.display()),
            format!("import it with: {}", rescue_log::import_command(&cx.home, &scope, &path)),
        )
    });
    let copies = database_backups(&cx.home).into_iter().map(|path| {
        let advice = "delete it when you no longer need it; texts forgotten since are still in it";
        let message = format!("{} is a backup made before an update", path.display());
        DoctorCheck::note("backup", message, advice)
    });
    unsaved.chain(copies).collect()
}
