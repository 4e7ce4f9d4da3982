//! `everlore doctor`: checks the home, the settings and the database, and repairs what it can.

mod environment;

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use clap::Args;
use everlore::{Engine, Scope};
use serde::Serialize;
use serde_json::json;

use self::environment::{check_hooks, check_language_models, check_leftover_files, check_server};
use super::layer::{LayerFinding, layer_findings};
use crate::{
    CliContext, CliError, Exit, Output, Result, agent_settings,
    home_store::{DATABASE_FILE, HomeStore},
    messages::translate,
    render::{format_bytes, pad_width, pluralize, sanitize},
};

/// Most problems of one scope that are listed.
const MAX_LISTED_PROBLEMS: usize = 5;

/// Check the home, the settings and the database, and suggest what to do
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Rebuild an index that disagrees with the memories, and make files private
    #[arg(long)]
    repair: bool,
}

/// Result of one check.
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
    /// Remark; nothing is wrong.
    Note,
    Problem,
}

impl DoctorArgs {
    /// Runs all checks and prints the results.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut checks = vec![check_home(cx)];
        checks.extend(check_permissions(cx, self.repair));
        checks.extend(check_settings(cx));
        checks.extend(check_agent_settings(cx));
        if !cx.store.is_missing() {
            checks.extend(self.check_database(cx).await);
        }
        checks.extend(check_layers(cx));
        checks.extend(check_language_models(cx).await);
        checks.extend(check_hooks(cx));
        checks.extend(check_server(cx));
        checks.extend(check_leftover_files(cx));
        let healthy = checks.iter().all(|check| check.status != CheckStatus::Problem);
        if out.is_json() {
            out.json(&json!({ "ok": healthy, "checks": checks }))?;
        } else {
            for check in &checks {
                out.text(&check.render_line())?;
            }
        }
        Ok(Exit::from_success(healthy))
    }

    /// Checks the file, then every scope in it; a check that fails is a problem of its own.
    async fn check_database(&self, cx: &CliContext) -> Vec<DoctorCheck> {
        let engine = match cx.engine().await {
            Ok(engine) => engine,
            Err(error) => {
                return vec![DoctorCheck::from_error("database", cx.store.explain(error))];
            }
        };
        let schema = engine.admin().store_info().schema;
        let size = cx.store.bytes().map_or_else(|| cx.store.to_string(), format_bytes);
        let faults = engine.admin().integrity().await;
        let mut checks = vec![
            DoctorCheck::ok("database", format!("schema {schema}, {size}")),
            check_integrity(faults, &cx.store),
        ];
        match engine.admin().scopes().await {
            Ok(scopes) => {
                for scope in scopes {
                    let check = self.check_scope(engine, &scope).await;
                    let name = format!("memories of {scope}");
                    checks
                        .push(check.unwrap_or_else(|error| DoctorCheck::from_error(&name, error)));
                }
            }
            Err(error) => checks.push(DoctorCheck::from_error("memories", error.into())),
        }
        checks
    }

    /// Compares rows, index and journal of one scope; with `repair`, rebuilds an index that disagrees.
    async fn check_scope(&self, engine: &Engine, scope: &Scope) -> Result<DoctorCheck> {
        let name = format!("memories of {scope}");
        let mut problems = index_problems(engine, scope).await?;
        let mut repaired = String::new();
        if !problems.is_empty() && self.repair {
            let count = engine.admin().rebuild_index(scope).await?;
            let count = pluralize(count, "memory", "memories");
            problems = index_problems(engine, scope).await?;
            repaired = format!("; the index was rebuilt from {count}");
        }
        if problems.is_empty() {
            let counts = engine.count(scope).await?;
            let memories: usize = counts.memories.iter().map(|(_, _, count)| count).sum();
            let memories = pluralize(memories, "memory", "memories");
            let message = format!(
                "rows, index and journal agree: {memories}, {}{repaired}",
                pluralize(counts.changes, "change", "changes")
            );
            return Ok(DoctorCheck::ok(name, message));
        }
        let listed: Vec<_> =
            problems.iter().take(MAX_LISTED_PROBLEMS).map(String::as_str).collect();
        let hint = if self.repair {
            "rebuilding the index did not help; restore a backup or an export"
        } else {
            "rebuild the index with `everlore doctor --repair`"
        };
        let count = pluralize(problems.len(), "fault", "faults");
        Ok(DoctorCheck::problem(name, format!("{count}: {}{repaired}", listed.join("; ")), hint))
    }
}

/// Compares rows, index and journal. An index that cannot be read at all is one problem, which rebuilding may solve.
async fn index_problems(engine: &Engine, scope: &Scope) -> Result<Vec<String>> {
    match engine.admin().check_index(scope).await {
        Err(error @ everlore::Error::Damaged { .. }) => Ok(vec![error.to_string()]),
        problems => Ok(problems?),
    }
}

/// Width of the mark before a check.
const MARK_CELLS: usize = 9;

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

    fn from_error(check: &str, error: CliError) -> Self {
        match error {
            CliError::Reported(report) => Self::problem(check, report.message, report.hint),
            CliError::BrokenPipe => Self::problem(check, "the stream ended", "try again"),
        }
    }

    fn render_line(&self) -> String {
        let mark = match self.status {
            CheckStatus::Ok => "ok",
            CheckStatus::Note => "note",
            CheckStatus::Problem => "PROBLEM",
        };
        let mark = pad_width(&translate(mark), MARK_CELLS);
        let hint = self.hint.as_ref().map(|hint| format!("          {}\n", translate(hint)));
        let (check, message) = (translate(&self.check), translate(&self.message));
        format!("{mark} {check}: {}\n{}", sanitize(&message), hint.unwrap_or_default())
    }
}

/// Reports the integrity check of SQLite itself, or that a server database answers.
fn check_integrity(faults: everlore::Result<Vec<String>>, store: &HomeStore) -> DoctorCheck {
    let advice = "stop every everlore process, copy the home folder, export what can be read with `everlore memory \
        export`, and import it into a new home";
    match faults {
        Ok(faults) => match faults.first() {
            None if store.is_server() => DoctorCheck::ok("integrity", "the database answers"),
            None => DoctorCheck::ok("integrity", "SQLite finds no faults"),
            Some(first) => {
                let count = pluralize(faults.len(), "fault", "faults");
                DoctorCheck::problem("integrity", format!("{count}: {first}"), advice)
            }
        },
        Err(error) if store.is_server() => {
            DoctorCheck::from_error("integrity", store.explain(error.into()))
        }
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
            DoctorCheck::ok("home", format!("{path} does not exist yet; the first save creates it"))
        }
    }
}

/// Writes a temporary file as large as a save may need.
fn probe_write(home: &Path) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(home)?;
    file.write_all(&[0; 256 * 1024])?;
    file.flush()
}

/// Checks that other users of this machine cannot read the home; `repair` makes it private.
#[cfg(unix)]
fn check_permissions(cx: &CliContext, repair: bool) -> Option<DoctorCheck> {
    use std::os::unix::fs::PermissionsExt;
    let is_open =
        |path: &Path| fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
    let close = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    let (home, database) = (cx.home.as_path(), cx.home.join(DATABASE_FILE));
    if !home.is_dir() {
        return None;
    }
    if repair && is_open(home) && close(home, 0o700).is_ok() && is_open(&database) {
        // The check below finds out if it worked.
        let _ = close(&database, 0o600);
    }
    let exposed: Vec<_> = [home, &database].into_iter().filter(|path| is_open(path)).collect();
    Some(match exposed.first() {
        // A private folder protects the files in it.
        None => DoctorCheck::ok("permissions", "only you can read the memories"),
        Some(first) if *first != home => {
            DoctorCheck::ok("permissions", "only you can read the memories")
        }
        Some(_) => DoctorCheck::problem(
            "permissions",
            format!("other users of this machine can read {}", home.display()),
            "make it private with `everlore doctor --repair`",
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
        let from = if settings.path.exists() { "read" } else { "absent, so the defaults apply" };
        checks.push(DoctorCheck::ok("settings", format!("{} ({from})", settings.path.display())));
    }
    checks
}

/// Checks the override files of agents.
fn check_agent_settings(cx: &CliContext) -> Vec<DoctorCheck> {
    let (files, findings) = agent_settings::findings(cx);
    let check = |(is_problem, message): (bool, String)| {
        if is_problem {
            let hint = "fix the file, or delete it to use the settings of the home";
            DoctorCheck::problem("agents", message, hint)
        } else {
            DoctorCheck::note("agents", message, "correct the name, or delete it")
        }
    };
    let mut checks: Vec<_> = findings.into_iter().map(check).collect();
    if checks.is_empty() && files > 0 {
        let agents = pluralize(files, "agent", "agents");
        checks.push(DoctorCheck::ok("agents", format!("{agents} with settings of their own")));
    }
    checks
}

/// Checks that the layer files are readable and within their budgets.
fn check_layers(cx: &CliContext) -> Vec<DoctorCheck> {
    let (files, findings) = layer_findings(cx);
    let check = |finding: LayerFinding| {
        if finding.problem {
            DoctorCheck::problem("layers", finding.message, finding.hint)
        } else {
            DoctorCheck::note("layers", finding.message, finding.hint)
        }
    };
    let mut checks: Vec<_> = findings.into_iter().map(check).collect();
    if checks.is_empty() {
        checks.push(DoctorCheck::ok("layers", format!("{files}, all within their budgets")));
    }
    checks
}
