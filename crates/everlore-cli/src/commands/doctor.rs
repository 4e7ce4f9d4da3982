//! `everlore doctor`: checks the home, the settings and the database, and mends what can be mended.

mod environment;

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use clap::Args;
use everlore::store::{Store, sqlite::SCHEMA_VERSION};
use serde::Serialize;
use serde_json::json;

use self::environment::{check_hooks, check_language_models, check_leftover_files, check_server};
use super::layer::layer_findings;
use crate::{
    agent_settings,
    cli_context::CliContext,
    error::{CliError, Exit, Result},
    output::Output,
    render::{format_bytes, pluralize, sanitize},
};

/// Problems of one scope told one by one; more would say the same.
const MAX_LISTED_PROBLEMS: usize = 5;

/// Check the home, the settings and the database, and say what to do
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Build the index again where it does not agree with the memories, and close files to other users
    #[arg(long)]
    repair: bool,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct DoctorCheck {
    check: String,
    status: CheckStatus,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum CheckStatus {
    Ok,
    /// Worth knowing, nothing is wrong.
    Note,
    Problem,
}

impl DoctorArgs {
    /// Makes all checks and prints them.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut checks = vec![check_home(cx)];
        checks.extend(check_permissions(cx, self.repair));
        checks.extend(check_settings(cx));
        checks.extend(check_agent_settings(cx));
        if cx.database_path().exists() {
            checks.extend(self.check_database(cx).await);
        }
        checks.extend(check_layers(cx));
        checks.extend(check_language_models(cx).await);
        checks.extend(check_hooks(cx));
        checks.extend(check_server(cx));
        checks.extend(check_leftover_files(cx));
        let well = checks.iter().all(|check| check.status != CheckStatus::Problem);
        if out.is_json() {
            out.json(&json!({ "ok": well, "checks": checks }))?;
        } else {
            for check in &checks {
                out.text(&check.render_line())?;
            }
        }
        Ok(Exit::from_success(well))
    }

    /// Checks the file, then every scope in it; what cannot be checked is a problem of its own.
    async fn check_database(&self, cx: &CliContext) -> Vec<DoctorCheck> {
        let store = match cx.store().await {
            Ok(store) => store,
            Err(failure) => return vec![DoctorCheck::from_error("database", failure)],
        };
        let bytes = fs::metadata(cx.database_path()).map_or(0, |data| data.len());
        let schema = format!("schema {SCHEMA_VERSION}, {}", format_bytes(bytes));
        let mut checks = vec![
            DoctorCheck::ok("database", schema),
            check_integrity(store.admin().integrity().await),
        ];
        match store.admin().scopes().await {
            Ok(scopes) => {
                for scope in scopes {
                    let check = self.check_scope(store, &scope).await;
                    let name = format!("memories of {scope}");
                    checks.push(
                        check.unwrap_or_else(|failure| DoctorCheck::from_error(&name, failure)),
                    );
                }
            }
            Err(error) => checks.push(DoctorCheck::from_error("memories", error.into())),
        }
        checks
    }

    /// Compares rows, index and journal of one scope; builds the index again if asked to and needed.
    async fn check_scope(
        &self,
        store: &impl Store,
        scope: &everlore::Scope,
    ) -> Result<DoctorCheck> {
        let name = format!("memories of {scope}");
        let mut problems = store.index().check(scope).await?;
        let mut mended = "";
        if !problems.is_empty() && self.repair {
            store.index().reindex(scope).await?;
            problems = store.index().check(scope).await?;
            mended = "; the index was built again";
        }
        if problems.is_empty() {
            let counts = store.memories().count(scope).await?;
            let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
            let memories = pluralize(memories, "memory", "memories");
            let message = format!(
                "rows, index and journal agree: {memories}, {}{mended}",
                pluralize(counts.changes, "change", "changes")
            );
            return Ok(DoctorCheck::ok(name, message));
        }
        let told: Vec<_> = problems.iter().take(MAX_LISTED_PROBLEMS).map(String::as_str).collect();
        let hint = if self.repair {
            "building the index again did not help; restore a backup or an export"
        } else {
            "build the index again with `everlore doctor --repair`"
        };
        let faults = pluralize(problems.len(), "fault", "faults");
        Ok(DoctorCheck::problem(name, format!("{faults}: {}{mended}", told.join("; ")), hint))
    }
}

impl DoctorCheck {
    fn new(check: impl Into<String>, status: CheckStatus, message: impl Into<String>) -> Self {
        Self { check: check.into(), status, message: message.into(), hint: None }
    }

    fn ok(check: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(check, CheckStatus::Ok, message)
    }

    fn note(check: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..Self::new(check, CheckStatus::Note, message) }
    }

    fn problem(
        check: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { hint: Some(hint.into()), ..Self::new(check, CheckStatus::Problem, message) }
    }

    fn from_error(check: &str, failure: CliError) -> Self {
        match failure {
            CliError::Reported(told) => Self::problem(check, told.message, told.hint),
            CliError::BrokenPipe => Self::problem(check, "the stream ended", "try again"),
        }
    }

    fn render_line(&self) -> String {
        let mark = match self.status {
            CheckStatus::Ok => "ok     ",
            CheckStatus::Note => "note   ",
            CheckStatus::Problem => "PROBLEM",
        };
        let hint = self.hint.as_ref().map(|hint| format!("          {hint}\n")).unwrap_or_default();
        format!("{mark}   {}: {}\n{hint}", self.check, sanitize(&self.message))
    }
}

/// What SQLite itself says of the file.
fn check_integrity(found: everlore::Result<Vec<String>>) -> DoctorCheck {
    let advice = "stop every everlore process, copy the home folder, export what can be read with `everlore memory \
        export`, and import it into a new home";
    match found {
        Ok(faults) => match faults.first() {
            None => DoctorCheck::ok("integrity", "SQLite finds the file sound"),
            Some(first) => {
                let faults = pluralize(faults.len(), "fault", "faults");
                DoctorCheck::problem("integrity", format!("{faults}: {first}"), advice)
            }
        },
        Err(error) => DoctorCheck::problem("integrity", error.to_string(), advice),
    }
}

fn check_home(cx: &CliContext) -> DoctorCheck {
    let path = cx.home.display();
    match fs::metadata(&cx.home) {
        Ok(data) if !data.is_dir() => DoctorCheck::problem(
            "home",
            format!("{path} is not a folder"),
            "name another one with --home or EVERLORE_HOME",
        ),
        Ok(_) => match probe_write(&cx.home) {
            Ok(()) => DoctorCheck::ok("home", path.to_string()),
            Err(error) => DoctorCheck::problem(
                "home",
                format!("{path} cannot be written to: {error}"),
                "check free disk space and the permissions of the folder",
            ),
        },
        Err(_) => {
            DoctorCheck::ok("home", format!("{path} is not there yet; the first save makes it"))
        }
    }
}

/// Writes as much as a save may need, and takes it away again.
fn probe_write(home: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(home)?;
    file.write_all(&[0; 256 * 1024])?;
    file.flush()
}

/// Whether others on this machine can read what is stored; with `repair` they no longer can.
#[cfg(unix)]
fn check_permissions(cx: &CliContext, repair: bool) -> Option<DoctorCheck> {
    use std::os::unix::fs::PermissionsExt;
    let open =
        |path: &Path| fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
    let close = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let (home, database) = (cx.home.as_path(), cx.database_path());
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
        None => DoctorCheck::ok("permissions", "only you can read the memories"),
        Some(first) if *first != home => {
            DoctorCheck::ok("permissions", "only you can read the memories")
        }
        Some(_) => DoctorCheck::problem(
            "permissions",
            format!("others on this machine can look into {}", home.display()),
            "close it with `everlore doctor --repair`",
        ),
    })
}

#[cfg(not(unix))]
fn check_permissions(_: &CliContext, _: bool) -> Option<DoctorCheck> {
    None
}

fn check_settings(cx: &CliContext) -> Vec<DoctorCheck> {
    let settings = &cx.settings;
    let problems = settings
        .problems
        .iter()
        .map(|(message, hint)| DoctorCheck::problem("settings", message, hint));
    let warnings = settings
        .warnings
        .iter()
        .map(|warning| DoctorCheck::note("settings", warning, "correct the name, or delete it"));
    let mut checks: Vec<_> = problems.chain(warnings).collect();
    if checks.is_empty() {
        let from = if settings.path.exists() { "read" } else { "absent, so the defaults hold" };
        checks.push(DoctorCheck::ok("settings", format!("{} ({from})", settings.path.display())));
    }
    checks
}

/// The settings of agents that have their own.
fn check_agent_settings(cx: &CliContext) -> Vec<DoctorCheck> {
    let (files, found) = agent_settings::findings(cx);
    let told = found.into_iter().map(|(problem, message)| match problem {
        true => {
            DoctorCheck::problem("agents", message, "mend the file, or delete it to use the home's")
        }
        false => DoctorCheck::note("agents", message, "correct the name, or delete it"),
    });
    let mut checks: Vec<_> = told.collect();
    if checks.is_empty() && files > 0 {
        let agents = pluralize(files, "agent", "agents");
        checks.push(DoctorCheck::ok("agents", format!("{agents} with settings of their own")));
    }
    checks
}

/// The files of the layers: readable, and within their budgets.
fn check_layers(cx: &CliContext) -> Vec<DoctorCheck> {
    let (files, found) = layer_findings(cx);
    let told = found.into_iter().map(|finding| match finding.problem {
        true => DoctorCheck::problem("layers", finding.message, finding.hint),
        false => DoctorCheck::note("layers", finding.message, finding.hint),
    });
    let mut checks: Vec<_> = told.collect();
    if checks.is_empty() {
        checks.push(DoctorCheck::ok("layers", format!("{files}, all within their budgets")));
    }
    checks
}
