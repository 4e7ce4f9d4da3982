//! `everlore doctor`: checks the home, the settings and the database, and mends what can be mended.

use std::{
    fs,
    io::{self, Write},
    path::Path,
    time::Duration,
};

use clap::Args;
use everlore::{
    config::ModelSettings,
    store::{Store, sqlite::SCHEMA_VERSION},
};
use serde::Serialize;
use serde_json::json;

use super::{hook::Left, layer::findings, memory::copies};
use crate::{
    chat_model,
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    own_settings, unsaved,
    words::{count, size, visible},
};

/// How long a language model may take to list what there is: a server that is there answers within a second.
const ASKING: Duration = Duration::from_secs(5);

/// Problems of one scope told one by one; more would say the same.
const MAX_TOLD: usize = 5;

/// Check the home, the settings and the database, and say what to do
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Build the index again where it does not agree with the memories, and close files to other users
    #[arg(long)]
    repair: bool,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Check {
    check: String,
    status: State,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Worth knowing, nothing is wrong.
    Note,
    Problem,
}

impl DoctorArgs {
    /// Makes all checks and prints them.
    pub(crate) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let mut checks = vec![home(cx)];
        checks.extend(permissions(cx, self.repair));
        checks.extend(settings(cx));
        checks.extend(own_settings(cx));
        if cx.database().exists() {
            checks.extend(self.database(cx).await);
        }
        checks.extend(layers(cx));
        checks.extend(language_models(cx).await);
        checks.extend(hooks(cx));
        checks.extend(server(cx));
        checks.extend(leftovers(cx));
        let well = checks.iter().all(|check| check.status != State::Problem);
        if out.is_json() {
            out.json(&json!({ "ok": well, "checks": checks }))?;
        } else {
            for check in &checks {
                out.text(&check.told())?;
            }
        }
        Ok(Exit::well(well))
    }

    /// Checks the file, then every scope in it; what cannot be checked is a problem of its own.
    async fn database(&self, cx: &Context) -> Vec<Check> {
        let store = match cx.store().await {
            Ok(store) => store,
            Err(failure) => return vec![Check::failed("database", failure)],
        };
        let bytes = fs::metadata(cx.database()).map_or(0, |data| data.len());
        let schema = format!("schema {SCHEMA_VERSION}, {}", size(bytes));
        let mut checks = vec![Check::ok("database", schema), integrity(store.integrity().await)];
        match store.scopes().await {
            Ok(scopes) => {
                for scope in scopes {
                    let check = self.scope(store, &scope).await;
                    let name = format!("memories of {scope}");
                    checks.push(check.unwrap_or_else(|failure| Check::failed(&name, failure)));
                }
            }
            Err(error) => checks.push(Check::failed("memories", error.into())),
        }
        checks
    }

    /// Compares rows, index and journal of one scope; builds the index again if asked to and needed.
    async fn scope(&self, store: &impl Store, scope: &everlore::Scope) -> Result<Check> {
        let name = format!("memories of {scope}");
        let mut problems = store.check(scope).await?;
        let mut mended = "";
        if !problems.is_empty() && self.repair {
            store.reindex(scope).await?;
            problems = store.check(scope).await?;
            mended = "; the index was built again";
        }
        if problems.is_empty() {
            let counts = store.count(scope).await?;
            let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
            let memories = count(memories, "memory", "memories");
            let message = format!(
                "rows, index and journal agree: {memories}, {}{mended}",
                count(counts.changes, "change", "changes")
            );
            return Ok(Check::ok(name, message));
        }
        let told: Vec<_> = problems.iter().take(MAX_TOLD).map(String::as_str).collect();
        let hint = if self.repair {
            "building the index again did not help; restore a backup or an export"
        } else {
            "build the index again with `everlore doctor --repair`"
        };
        let faults = count(problems.len(), "fault", "faults");
        Ok(Check::problem(name, format!("{faults}: {}{mended}", told.join("; ")), hint))
    }
}

impl Check {
    fn new(check: impl Into<String>, status: State, message: impl Into<String>) -> Self {
        Self { check: check.into(), status, message: message.into(), hint: None }
    }

    fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(check, State::Ok, message)
    }

    fn note(check: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::new(check, State::Note, message) }
    }

    fn problem(
        check: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { hint: Some(hint.into()), ..Self::new(check, State::Problem, message) }
    }

    fn failed(check: &str, failure: Failure) -> Self {
        match failure {
            Failure::Told(told) => Self::problem(check, told.message, told.hint),
            Failure::BrokenPipe => Self::problem(check, "the stream ended", "try again"),
        }
    }

    fn told(&self) -> String {
        let mark = match self.status {
            State::Ok => "ok     ",
            State::Note => "note   ",
            State::Problem => "PROBLEM",
        };
        let hint = self.hint.as_ref().map(|hint| format!("          {hint}\n")).unwrap_or_default();
        format!("{mark}   {}: {}\n{hint}", self.check, visible(&self.message))
    }
}

/// What SQLite itself says of the file.
fn integrity(found: everlore::Result<Vec<String>>) -> Check {
    let advice = "stop every everlore process, copy the home folder, export what can be read with `everlore memory \
        export`, and import it into a new home";
    match found {
        Ok(faults) => match faults.first() {
            None => Check::ok("integrity", "SQLite finds the file sound"),
            Some(first) => {
                let faults = count(faults.len(), "fault", "faults");
                Check::problem("integrity", format!("{faults}: {first}"), advice)
            }
        },
        Err(error) => Check::problem("integrity", error.to_string(), advice),
    }
}

fn home(cx: &Context) -> Check {
    let path = cx.home.display();
    match fs::metadata(&cx.home) {
        Ok(data) if !data.is_dir() => Check::problem(
            "home",
            format!("{path} is not a folder"),
            "name another one with --home or EVERLORE_HOME",
        ),
        Ok(_) => match try_to_write(&cx.home) {
            Ok(()) => Check::ok("home", path.to_string()),
            Err(error) => Check::problem(
                "home",
                format!("{path} cannot be written to: {error}"),
                "check free disk space and the permissions of the folder",
            ),
        },
        Err(_) => Check::ok("home", format!("{path} is not there yet; the first save makes it")),
    }
}

/// Writes as much as a save may need, and takes it away again.
fn try_to_write(home: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(home)?;
    file.write_all(&[0; 256 * 1024])?;
    file.flush()
}

/// Whether others on this machine can read what is stored; with `repair` they no longer can.
#[cfg(unix)]
fn permissions(cx: &Context, repair: bool) -> Option<Check> {
    use std::os::unix::fs::PermissionsExt;
    let open =
        |path: &Path| fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
    let close = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let (home, database) = (cx.home.as_path(), cx.database());
    if !home.is_dir() {
        return None;
    }
    if repair && open(home) && close(home, 0o700).is_ok() && open(&database) {
        // The second check below tells whether it worked.
        let _ = close(&database, 0o600);
    }
    let exposed: Vec<_> = [home, &database].into_iter().filter(|path| open(path)).collect();
    Some(match exposed.first() {
        // A closed folder protects what is in it.
        None => Check::ok("permissions", "only you can read the memories"),
        Some(first) if *first != home => Check::ok("permissions", "only you can read the memories"),
        Some(_) => Check::problem(
            "permissions",
            format!("others on this machine can look into {}", home.display()),
            "close it with `everlore doctor --repair`",
        ),
    })
}

#[cfg(not(unix))]
fn permissions(_: &Context, _: bool) -> Option<Check> {
    None
}

fn settings(cx: &Context) -> Vec<Check> {
    let settings = &cx.settings;
    let problems =
        settings.problems.iter().map(|(message, hint)| Check::problem("settings", message, hint));
    let warnings = settings
        .warnings
        .iter()
        .map(|warning| Check::note("settings", warning, "correct the name, or delete it"));
    let mut checks: Vec<_> = problems.chain(warnings).collect();
    if checks.is_empty() {
        let from = if settings.path.exists() { "read" } else { "absent, so the defaults hold" };
        checks.push(Check::ok("settings", format!("{} ({from})", settings.path.display())));
    }
    checks
}

/// The settings of agents that have their own.
fn own_settings(cx: &Context) -> Vec<Check> {
    let (files, found) = own_settings::findings(cx);
    let told = found.into_iter().map(|(problem, message)| match problem {
        true => Check::problem("agents", message, "mend the file, or delete it to use the home's"),
        false => Check::note("agents", message, "correct the name, or delete it"),
    });
    let mut checks: Vec<_> = told.collect();
    if checks.is_empty() && files > 0 {
        let agents = count(files, "agent", "agents");
        checks.push(Check::ok("agents", format!("{agents} with settings of their own")));
    }
    checks
}

/// The files of the layers: readable, and within their budgets.
fn layers(cx: &Context) -> Vec<Check> {
    let (files, found) = findings(cx);
    let told = found.into_iter().map(|finding| match finding.problem {
        true => Check::problem("layers", finding.message, finding.hint),
        false => Check::note("layers", finding.message, finding.hint),
    });
    let mut checks: Vec<_> = told.collect();
    if checks.is_empty() {
        checks.push(Check::ok("layers", format!("{files}, all within their budgets")));
    }
    checks
}

/// The language models of the settings: whether their servers are there, take the key and know the model.
async fn language_models(cx: &Context) -> Vec<Check> {
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
fn hooks(cx: &Context) -> Vec<Check> {
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
fn server(cx: &Context) -> Option<Check> {
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
fn server(_: &Context) -> Option<Check> {
    None
}

/// Files that hold texts outside the database.
fn leftovers(cx: &Context) -> Vec<Check> {
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
