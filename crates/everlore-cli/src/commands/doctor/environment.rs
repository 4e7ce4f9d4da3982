//! What stands around the database: language models, hooks, the server, files that hold texts.

use std::time::Duration;

use everlore::config::ModelSettings;

use super::DoctorCheck;
use crate::{
    chat_model,
    cli_context::CliContext,
    commands::{hook::SpoolBacklog, memory::database_copies},
    render::pluralize,
    rescue_log,
};

/// How long a language model may take to list what there is: a server that is there answers within a second.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// The language models of the settings: whether their servers are there, take the key and know the model.
pub(super) async fn check_language_models(cx: &CliContext) -> Vec<DoctorCheck> {
    let config = &cx.settings.config;
    let mut chosen: Vec<ModelSettings> =
        config.chat_model().into_iter().chain(config.memory_model()).collect();
    chosen.dedup_by_key(|settings| (settings.provider.clone(), settings.model.clone()));
    let mut checks = Vec::new();
    for settings in chosen {
        checks.push(check_language_model(cx, settings).await);
    }
    checks
}

async fn check_language_model(cx: &CliContext, settings: ModelSettings) -> DoctorCheck {
    let name = "language model";
    let told = format!("{}/{} of [{}]", settings.provider, settings.model, settings.section);
    let model = settings.model.clone();
    let timeout = settings.timeout.min(LIST_TIMEOUT);
    match chat_model::list_models(cx, ModelSettings { timeout, ..settings }).await {
        Err(failure) => DoctorCheck::from_error(name, failure),
        Ok(models) if models.is_empty() || is_listed(&models, &model) => {
            DoctorCheck::ok(name, format!("{told} can be asked"))
        }
        Ok(models) => DoctorCheck::note(
            name,
            format!("{told}: its provider does not list this model among {}", models.len()),
            "check the name; some providers serve models that they do not list",
        ),
    }
}

/// Whether a model is listed, as it is or with the tag that is meant where none is given.
fn is_listed(models: &[String], model: &str) -> bool {
    let latest = format!("{model}:latest");
    models.iter().any(|listed| listed == model || *listed == latest)
}

/// Turns that hooks put down and nobody stored.
pub(super) fn check_hooks(cx: &CliContext) -> Vec<DoctorCheck> {
    let SpoolBacklog { overdue: waiting, refused, folder } = SpoolBacklog::scan(&cx.home);
    let folder = folder.display();
    let turns = |number| pluralize(number, "turn", "turns");
    let waiting = (waiting > 0).then(|| {
        let home = cx.home.display();
        DoctorCheck::note(
            "hooks",
            format!("{} of hooks in {folder} not stored yet", turns(waiting)),
            format!("the next event of an agent stores them; at once: everlore --home '{home}' hook claude-code store"),
        )
    });
    let refused = (refused > 0).then(|| {
        DoctorCheck::problem(
            "hooks",
            format!("{} of hooks could not be stored: {folder}/*.refused", turns(refused)),
            "they are kept as JSON: bring in what is worth it with `everlore observe`, then delete them",
        )
    });
    waiting.into_iter().chain(refused).collect()
}

/// The server of the home, if one runs: whether it is this program, with these settings.
#[cfg(feature = "server")]
pub(super) fn check_server(cx: &CliContext) -> Option<DoctorCheck> {
    let running = everlore_server::find_running(&cx.home)?;
    let told =
        format!("{} answers at {} (process {})", running.version, running.url(), running.pid);
    let other = match () {
        () if running.version != env!("CARGO_PKG_VERSION") => Some("of another version"),
        () if running.settings != cx.settings.digest() => Some("with other settings"),
        () => None,
    };
    Some(match other {
        None => DoctorCheck::ok("server", told),
        Some(other) => DoctorCheck::note(
            "server",
            format!("{told}; it was started {other}, so hooks work without it"),
            "start it again with `everlore serve`",
        ),
    })
}

#[cfg(not(feature = "server"))]
pub(super) fn check_server(_: &CliContext) -> Option<DoctorCheck> {
    None
}

/// Files that hold texts outside the database.
pub(super) fn check_leftover_files(cx: &CliContext) -> Vec<DoctorCheck> {
    let unsaved = rescue_log::rescue_files(&cx.home).into_iter().map(|path| {
        let scope = rescue_log::rescued_scope(&path).unwrap_or_default();
        DoctorCheck::problem(
            "unsaved",
            format!("{} holds what could not be saved", path.display()),
            format!("bring it in with: {}", rescue_log::import_command(&cx.home, &scope, &path)),
        )
    });
    let copies = database_copies(&cx.home).into_iter().map(|name| {
        let advice = "delete it when you no longer need it; texts forgotten since are still in it";
        DoctorCheck::note("backup", format!("{name} is a copy made before an update"), advice)
    });
    unsaved.chain(copies).collect()
}
