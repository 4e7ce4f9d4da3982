//! Errors of the engine, by what the caller can do about them.

/// Boxed error from a layer below.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Result of every fallible call of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Failure of the database of an agent that has one of its own.
#[derive(Debug, thiserror::Error)]
#[error("{shown_url}: {source}")]
struct AgentDatabaseFailure {
    /// Address without the password.
    shown_url: String,
    source: BoxError,
}

/// Error that a call of the engine returns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The named thing does not exist in this scope.
    #[error("{what} `{id}` not found")]
    NotFound {
        /// Kind of thing that was looked for.
        what: &'static str,
        /// Id that the caller gave.
        id: String,
    },
    /// Nothing exists at this uri.
    #[error("there is nothing at `{uri}`")]
    NoSuchUri {
        /// Uri.
        uri: String,
        /// Nearest uris.
        hint: String,
    },
    /// A shortened id matches more than one memory.
    #[error("`{prefix}` fits {count} memories")]
    AmbiguousId {
        /// Shortened id as given.
        prefix: String,
        /// Number of memories that it matches.
        count: usize,
    },
    /// The input cannot be accepted as it is. Change it and try again.
    #[error("{message}")]
    Invalid {
        /// Problem with the input.
        message: String,
        /// Advice.
        hint: String,
    },
    /// Settings that cannot be used as they are. Change them and try again.
    #[error("{}", join_problems(problems))]
    InvalidConfig {
        /// Settings, each with the problem of its value.
        problems: Vec<(String, String)>,
    },
    /// Another writer changed the same memory first. Read it again and retry.
    #[error("{what} has been changed in the meantime")]
    Conflict {
        /// Memory or file that could not be changed.
        what: String,
    },
    /// The write was made before, by a request that was sent twice. Read its result in the journal.
    #[error("the write `{run}` was made before")]
    Repeated {
        /// Run of the write.
        run: String,
    },
    /// The caller acts for one user, and this concerns every user of the agent.
    #[error("only the owner may change {what}")]
    OwnerOnly {
        /// File or settings that users share.
        what: String,
    },
    /// A newer version of Everlore wrote the database.
    #[error("the database has schema {found}, this program knows schemas up to {known}")]
    SchemaTooNew {
        /// Schema of the file.
        found: u32,
        /// Newest schema that this program knows.
        known: u32,
    },
    /// The home can be read but not written.
    #[error("{path} is read-only here, so nothing was saved or changed")]
    ReadOnly {
        /// File that cannot be written.
        path: String,
    },
    /// Writes to an agent are stopped while its memories move to another database. Retrying helps.
    #[error("the memories of `{agent}` are moving to another database")]
    Sealed {
        /// Agent that moves.
        agent: String,
    },
    /// The stored data contradicts itself.
    #[error("stored data is damaged: {message}")]
    Damaged {
        /// Contradiction.
        message: String,
    },
    /// The database failed. Retrying may help.
    #[error("storage failed: {0}")]
    Store(#[source] BoxError),
    /// A model on another server failed to answer. Stored data is safe.
    #[error("{message}")]
    Remote {
        /// Problem, without any key.
        message: String,
        /// Advice.
        hint: String,
    },
    /// The input is longer than the context of the language model. Shorten it and ask again.
    #[error("{message}")]
    ContextTooLong {
        /// Message of the model's server.
        message: String,
        /// Advice.
        hint: String,
    },
    /// A model on another server was silent for too long. Ask again later, or do without it.
    #[error("{message}")]
    ModelSilent {
        /// Server or model, and how long it was silent.
        message: String,
        /// Advice.
        hint: String,
    },
    /// The language model cannot call tools. Ask again without them.
    #[error("{message}")]
    ToolsUnsupported {
        /// Message of the model's server.
        message: String,
        /// Advice.
        hint: String,
    },
    /// A file or stream failed.
    #[error("{what}: {source}")]
    Io {
        /// File or stream, and what was done with it.
        what: String,
        /// Error of the system.
        source: std::io::Error,
    },
}

impl Error {
    /// Creates the error for a `what` with this `id` that is not in the scope.
    pub fn not_found(what: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound { what, id: format!("{id}") }
    }

    /// Creates the error for an unacceptable input, with advice.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), hint: hint.into() }
    }

    /// Creates the error for stored data that contradicts itself.
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::Damaged { message: message.into() }
    }

    /// Wraps a failure of the database.
    pub fn store(source: impl Into<BoxError>) -> Self {
        Self::Store(source.into())
    }

    /// Wraps a failure of the database that an agent has for itself; `shown_url` is its address without the password.
    pub(crate) fn agent_store(shown_url: impl Into<String>, source: BoxError) -> Self {
        if source.is::<AgentDatabaseFailure>() {
            return Self::Store(source);
        }
        Self::store(AgentDatabaseFailure { shown_url: shown_url.into(), source })
    }

    /// Wraps a failure to read or write `what`.
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// Returns a short, stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } | Self::NoSuchUri { .. } => "not_found",
            Self::AmbiguousId { .. } => "ambiguous",
            Self::Invalid { .. } | Self::InvalidConfig { .. } => "invalid",
            Self::Conflict { .. } | Self::Repeated { .. } => "conflict",
            Self::OwnerOnly { .. } => "role",
            Self::SchemaTooNew { .. } => "too_new",
            Self::ReadOnly { .. } => "read_only",
            Self::Sealed { .. } => "moving",
            Self::Damaged { .. } => "damaged",
            Self::Store(_) => "store",
            Self::Remote { .. } | Self::ModelSilent { .. } | Self::ToolsUnsupported { .. } => {
                "remote"
            }
            Self::ContextTooLong { .. } => "too_long",
            Self::Io { .. } => "io",
        }
    }

    /// Returns what the person or program can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotFound { what, .. } => missing_hint(what),
            Self::AmbiguousId { .. } => "give more characters of the id",
            Self::InvalidConfig { .. } => {
                "nothing was changed; docs/reference/configuration.md lists every setting and its values"
            }
            Self::Invalid { hint, .. }
            | Self::NoSuchUri { hint, .. }
            | Self::Remote { hint, .. }
            | Self::ModelSilent { hint, .. }
            | Self::ToolsUnsupported { hint, .. }
            | Self::ContextTooLong { hint, .. } => hint,
            Self::Conflict { .. } => "read it again and repeat the change",
            Self::Repeated { .. } => "nothing is to be done; the journal has its result",
            Self::OwnerOnly { .. } => {
                "all users of the agent share it: the owner changes it with the token from server.token, or on the machine with `everlore layer` and `everlore agent`"
            }
            Self::SchemaTooNew { .. } => "update everlore, or open another home with --home",
            Self::ReadOnly { .. } => {
                "reading works; to write, allow this user to write there, or use another home with --home"
            }
            Self::Sealed { .. } => {
                "nothing was changed: try again in some seconds; `everlore agent show` tells how far the move is"
            }
            Self::Damaged { .. } => {
                "run `everlore doctor` to see what is affected and how to repair it"
            }
            Self::Store(source) if source.is::<AgentDatabaseFailure>() => {
                "check that this database runs and accepts its user, then try again; it holds the memories of this agent alone (`everlore agent show`), and `everlore doctor` checks every database"
            }
            Self::Store(_) => {
                "check free disk space and permissions of the home folder, then try again; `everlore doctor` checks the database"
            }
            Self::Io { .. } => "check that the path exists and that you may read and write it",
        }
    }
}

/// Returns how to find a thing of this sort.
fn missing_hint(what: &str) -> &'static str {
    match what {
        "change" | "run" => {
            "list the changes with `everlore memory history`, those of a layer with `everlore layer history LAYER`"
        }
        "skill" => "list the skills with `everlore skill list`",
        "workflow" => "list the workflows with `everlore workflow list`",
        "proposal" => "list the proposals with `everlore proposals list`",
        "session" => "list the conversations with `everlore trajectory list`",
        "schedule" => "list the reminders with `everlore schedule list`",
        "draft" => "list the drafts with `everlore quarantine list`",
        "document" | "uri" => "see what there is with `everlore fs tree`",
        _ => {
            "list the memories with `everlore list`; only ids of the current agent and user are found"
        }
    }
}

fn join_problems(problems: &[(String, String)]) -> String {
    let lines: Vec<_> =
        problems.iter().map(|(key, problem)| format!("`{key}`: {problem}")).collect();
    lines.join("; ")
}
