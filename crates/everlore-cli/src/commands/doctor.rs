//! `everlore doctor`: checks the home, the settings and the database, and mends what can be mended.

mod around;

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use clap::Args;
use everlore::store::{Store, sqlite::SCHEMA_VERSION};
use serde::Serialize;
use serde_json::json;

use self::around::{hooks, language_models, leftovers, server};
use super::layer::findings;
use crate::{
    context::Context,
    failure::{Exit, Failure, Result},
    output::Output,
    own_settings,
    words::{count, size, visible},
};

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
