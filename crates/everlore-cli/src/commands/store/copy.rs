//! `everlore store copy`: every scope of a database into another one, change by change, then verified.

use std::{
    io::{BufReader, Seek},
    path::Path,
};

use clap::Args;
use everlore::{Engine, Scope, engine::CopyProblem};
use serde::Serialize;
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    cli::StoreArg,
    home_store::{self, HomeStore},
    render::pluralize,
};

/// Copy all memories with their journal from one database to another, and compare both
///
/// Every change is repeated in its order with its own time, author and reason, so history and undo work as before. The
/// source stays as it is and may be used meanwhile. A copy that was interrupted goes on when it is repeated; repeated
/// later, it adds what is new. Both must not be changed while they are compared. Layers, agent settings and keys are files
/// of the home: a home that changes to a server database takes them along by itself.
#[derive(Debug, Args)]
pub(crate) struct StoreCopyArgs {
    /// Database to copy [default: that of the home]
    #[arg(long, value_name = "URL")]
    from: Option<StoreArg>,
    /// Database to copy to; its tables are created where needed
    #[arg(long, value_name = "URL")]
    to: StoreArg,
    /// Only the memories of this agent, of all its users
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Copy of one scope.
#[derive(Debug, Serialize)]
struct CopiedScope {
    agent: String,
    user: String,
    memories: usize,
    changes: usize,
    /// Differences that were found; none if the copy is equal.
    problems: Vec<CopyProblem>,
}

impl StoreCopyArgs {
    /// Copies every scope, compares it and prints the result.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let source = match &self.from {
            Some(url) => named_store(cx, url, "--from")?,
            None => cx.store.clone(),
        };
        let target = named_store(cx, &self.to, "--to")?;
        if source == target {
            return Err(CliError::invalid(
                "both are the same database",
                "name another one with --to",
            ));
        }
        if source.is_missing() {
            return Err(CliError::invalid(format!("there is no {source}"), "check the path"));
        }
        let failed = |store: &HomeStore, error| store.explain(error);
        let from = cx.open_store(&source).await.map_err(|error| failed(&source, error))?;
        let to = cx.open_store(&target).await.map_err(|error| failed(&target, error))?;
        if source == cx.store {
            note_agents_elsewhere(cx.engine().await?, out);
        }
        let copied = copy_scopes(&from, &to, self.only.as_deref(), out).await;
        to.flush(cx.settings.config.embedding.linger).await;
        from.admin().close().await;
        to.admin().close().await;
        print_copy(&copied?, &source, &target, out)
    }
}

/// Says which agents a copy of the home's database does not have.
fn note_agents_elsewhere(engine: &Engine, out: &mut Output) {
    let agents = engine.agents_elsewhere();
    if !agents.is_empty() {
        out.note(&format!(
            "note: these agents have databases of their own, which are not copied, and a home with the copy would not know of them; move them home first with `everlore agent move NAME --to home`: {}",
            agents.join(", ")
        ));
    }
}

/// Returns the database that an option names.
fn named_store(cx: &CliContext, url: &StoreArg, option: &str) -> Result<HomeStore> {
    let url = home_store::absolute(url.0.clone(), Path::new(""))
        .map_err(|error| CliError::io(option, error))?;
    match url.validate() {
        Ok(()) if !url.is_empty() => Ok(HomeStore::chosen(&cx.home, &url)),
        Ok(()) => Err(CliError::invalid(format!("{option} names no database"), "use sqlite:PATH")),
        Err(problem) => {
            Err(CliError::invalid(format!("{option} {problem}"), "see docs/databases.md"))
        }
    }
}

async fn copy_scopes(
    from: &Engine,
    to: &Engine,
    only: Option<&str>,
    out: &mut Output,
) -> Result<Vec<CopiedScope>> {
    let mut copied = Vec::new();
    let mut scopes = from.admin().scopes().await?;
    scopes.retain(|scope| only.is_none_or(|agent| scope.agent() == agent));
    for scope in scopes {
        copy_scope(from, to, &scope).await?;
        from.copy_queue(to, &scope).await?;
        let counts = from.count(&scope).await?;
        let problems = from.compare_scope(to, &scope).await?;
        let memories = counts.memories.iter().map(|(_, _, count)| count).sum();
        let (agent, user) = (scope.agent().to_owned(), scope.user().to_owned());
        if !out.is_json() {
            out.note(&format!("{scope}: {}", pluralize(memories, "memory", "memories")));
        }
        copied.push(CopiedScope { agent, user, memories, changes: counts.changes, problems });
    }
    Ok(copied)
}

/// Replays the journal of a scope. Changes that the target has already are left out.
async fn copy_scope(from: &Engine, to: &Engine, scope: &Scope) -> Result<()> {
    let failed = |error| CliError::io("a temporary file", error);
    // Without a name, so that nothing is left however the process ends.
    let mut journal = tempfile::tempfile().map_err(failed)?;
    from.export(scope, true, &mut journal, &mut |_| ()).await?;
    journal.rewind().map_err(failed)?;
    to.import_copy(scope, BufReader::new(journal), &mut |_| ()).await?;
    Ok(())
}

fn print_copy(
    copied: &[CopiedScope],
    source: &HomeStore,
    target: &HomeStore,
    out: &mut Output,
) -> Result<Exit> {
    let is_equal = copied.iter().all(|scope| scope.problems.is_empty());
    if out.is_json() {
        let (from, to) = (source.to_string(), target.to_string());
        out.json(&json!({ "from": from, "to": to, "equal": is_equal, "scopes": copied }))?;
        return Ok(Exit::from_success(is_equal));
    }
    for scope in copied {
        for problem in &scope.problems {
            out.say(&format!("differs: {}/{}: {problem}", scope.agent, scope.user))?;
        }
    }
    let memories = copied.iter().map(|scope| scope.memories).sum();
    let memories = pluralize(memories, "memory", "memories");
    let outcome = if is_equal { "both are equal" } else { "both differ" };
    out.say(&format!("copied: {memories} from {source} to {target}; {outcome}"))?;
    out.note(if is_equal {
        "use it with --store, EVERLORE_STORE or store.url; the source is as it was"
    } else {
        "a target that held other memories keeps them; copy into an empty database"
    });
    Ok(Exit::from_success(is_equal))
}
