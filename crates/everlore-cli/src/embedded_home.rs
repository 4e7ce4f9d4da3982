//! A home opened inside another program, such as Python: with the settings, models and files of the command line.

use std::{ffi::OsString, fmt, path::PathBuf};

use clap::Parser;
use everlore::{Engine, Scope};

use crate::{
    cli::Cli,
    cli_context::CliContext,
    error::{CliError, Result},
};

/// Home, agent and user to open; what is left out comes from the environment and the settings, as for a command.
#[derive(Debug, Clone, Default)]
pub struct HomeOptions {
    /// Home folder.
    pub home: Option<PathBuf>,
    /// Agent whose memory is used.
    pub agent: Option<String>,
    /// User whom the memory is about.
    pub user: Option<String>,
}

/// Open home with its engine.
pub struct EmbeddedHome {
    context: CliContext,
    engine: Engine,
}

/// Reason why a home cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeError {
    /// Short, stable word for programs.
    pub code: &'static str,
    /// Description of the error.
    pub message: String,
    /// Advice for the user.
    pub hint: String,
}

impl EmbeddedHome {
    /// Opens the home as `everlore remember` does; creates it where needed.
    pub async fn open(options: &HomeOptions) -> Result<Self, HomeError> {
        let context = context(options)?;
        let opened = context.capture_engine().await;
        let engine = opened.map_err(|error| context.store.explain(error))?;
        Ok(Self { context, engine })
    }

    /// Returns the engine, with the chat model of the settings.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the agent and the user.
    pub fn scope(&self) -> &Scope {
        &self.context.scope
    }

    /// Waits a little for embeddings in flight and closes the store.
    pub async fn close(&self) {
        self.context.close().await;
    }
}

/// Loads the settings. The command decides what else happens: a save creates the home and replays failed saves.
fn context(options: &HomeOptions) -> Result<CliContext> {
    let mut args: Vec<OsString> = vec!["everlore".into()];
    let home = options.home.as_ref().map(|home| home.clone().into_os_string());
    let named = [
        ("--home", home),
        ("--agent", options.agent.as_ref().map(OsString::from)),
        ("--user", options.user.as_ref().map(OsString::from)),
    ];
    for (option, value) in named {
        if let Some(value) = value {
            let mut arg = OsString::from(format!("{option}="));
            arg.push(value);
            args.push(arg);
        }
    }
    args.extend(["remember".into(), "-".into()]);
    let cli = Cli::try_parse_from(args).map_err(|usage| {
        CliError::invalid(usage.kind().to_string(), "check path, agent and user")
    })?;
    CliContext::new(&cli.global, &cli.command)
}

impl From<CliError> for HomeError {
    fn from(error: CliError) -> Self {
        match error {
            CliError::Reported(report) => {
                Self { code: report.code, message: report.message, hint: report.hint }
            }
            CliError::BrokenPipe => Self {
                code: "io",
                message: "the connection to the database was closed".to_owned(),
                hint: "try again".to_owned(),
            },
        }
    }
}

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.hint)
    }
}

impl std::error::Error for HomeError {}

#[cfg(test)]
mod tests {
    use everlore::RememberRequest;

    use super::*;

    #[tokio::test]
    async fn a_home_opens_with_the_scope_of_the_options() {
        let folder = tempfile::tempdir().unwrap();
        let options = HomeOptions {
            home: Some(folder.path().join("home")),
            agent: Some("assistant".into()),
            user: Some("小美".into()),
        };
        let home = EmbeddedHome::open(&options).await.unwrap();
        let (engine, scope) = (home.engine(), home.scope());
        engine.remember(scope, RememberRequest::new("我喜欢喝龙井茶")).await.unwrap();
        let found = engine.recall(&engine.recall_request(scope, "喝什么茶？")).await.unwrap();
        assert_eq!(found.hits[0].memory.scope, Scope::new("assistant", "小美").unwrap());
        home.close().await;
        assert!(folder.path().join("home/everlore.db").exists());
    }

    #[tokio::test]
    async fn a_bad_scope_is_refused_with_advice() {
        let folder = tempfile::tempdir().unwrap();
        let (home, agent) = (Some(folder.path().to_owned()), Some("a/b".to_owned()));
        let options = HomeOptions { home, agent, user: None };
        let Err(error) = EmbeddedHome::open(&options).await else { panic!("it was accepted") };
        assert_eq!(error.code, "invalid");
        assert!(!error.hint.is_empty() && error.message.contains("slash"), "{error}");
    }
}
