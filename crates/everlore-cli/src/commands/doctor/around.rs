//! What stands around the database: language models, hooks, the server, files that hold texts.

use std::time::Duration;

use everlore::config::ModelSettings;

use super::Check;
use crate::{
    chat_model,
    commands::{hook::Left, memory::copies},
    context::Context,
    unsaved,
    words::count,
};

/// How long a language model may take to list what there is: a server that is there answers within a second.
const ASKING: Duration = Duration::from_secs(5);

/// The language models of the settings: whether their servers are there, take the key and know the model.
pub(super) async fn language_models(cx: &Context) -> Vec<Check> {
    let config = &cx.settings.config;
    let mut chosen: Vec<ModelSettings> =
        config.chat_model().into_iter().chain(config.memory_model()).collect();
    chosen.dedup_by_key(|settings| (settings.provider.clone(), settings.model.clone()));
    let mut checks = Vec::new();
    for settings in chosen {
        checks.push(language_model(cx, settings).await);
    }
    checks
}

async fn language_model(cx: &Context, settings: ModelSettings) -> Check {
    let name = "language model";
    let told = format!("{}/{} of [{}]", settings.provider, settings.model, settings.section);
    let model = settings.model.clone();
    let timeout = settings.timeout.min(ASKING);
    match chat_model::list(cx, ModelSettings { timeout, ..settings }).await {
        Err(failure) => Check::failed(name, failure),
        Ok(models) if models.is_empty() || lists(&models, &model) => {
            Check::ok(name, format!("{told} can be asked"))
        }
        Ok(models) => Check::note(
            name,
            format!("{told}: its provider does not list this model among {}", models.len()),
            "check the name; some providers serve models that they do not list",
        ),
    }
}

/// Whether a model is listed, as it is or with the tag that is meant where none is given.
fn lists(models: &[String], model: &str) -> bool {
    let latest = format!("{model}:latest");
    models.iter().any(|listed| listed == model || *listed == latest)
}

/// Turns that hooks put down and nobody stored.
pub(super) fn hooks(cx: &Context) -> Vec<Check> {
    let Left { waiting, refused, folder } = Left::of(&cx.home);
    let folder = folder.display();
    let turns = |number| count(number, "turn", "turns");
    let waiting = (waiting > 0).then(|| {
        let home = cx.home.display();
        Check::note(
            "hooks",
            format!("{} of hooks in {folder} not stored yet", turns(waiting)),
            format!("the next event of an agent stores them; at once: everlore --home '{home}' hook claude-code store"),
        )
    });
    let refused = (refused > 0).then(|| {
        Check::problem(
            "hooks",
            format!("{} of hooks could not be stored: {folder}/*.refused", turns(refused)),
            "they are kept as JSON: bring in what is worth it with `everlore observe`, then delete them",
        )
    });
    waiting.into_iter().chain(refused).collect()
}

/// The server of the home, if one runs: whether it is this program, with these settings.
#[cfg(feature = "server")]
pub(super) fn server(cx: &Context) -> Option<Check> {
    let running = everlore_server::running(&cx.home)?;
    let told =
        format!("{} answers at {} (process {})", running.version, running.url(), running.pid);
    let other = match () {
        () if running.version != env!("CARGO_PKG_VERSION") => Some("of another version"),
        () if running.settings != cx.settings.digest() => Some("with other settings"),
        () => None,
    };
    Some(match other {
        None => Check::ok("server", told),
        Some(other) => Check::note(
            "server",
            format!("{told}; it was started {other}, so hooks work without it"),
            "start it again with `everlore serve`",
        ),
    })
}

#[cfg(not(feature = "server"))]
pub(super) fn server(_: &Context) -> Option<Check> {
    None
}

/// Files that hold texts outside the database.
pub(super) fn leftovers(cx: &Context) -> Vec<Check> {
    let unsaved = unsaved::files(&cx.home).into_iter().map(|path| {
        let scope = unsaved::owner(&path).unwrap_or_default();
        Check::problem(
            "unsaved",
            format!("{} holds what could not be saved", path.display()),
            format!("bring it in with: {}", unsaved::command(&cx.home, &scope, &path)),
        )
    });
    let copies = copies(&cx.home).into_iter().map(|name| {
        let advice = "delete it when you no longer need it; texts forgotten since are still in it";
        Check::note("backup", format!("{name} is a copy made before an update"), advice)
    });
    unsaved.chain(copies).collect()
}
