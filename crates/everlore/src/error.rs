//! What can go wrong, told apart by what the caller can do about it.

/// A boxed error from a layer below.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The result of every fallible call of the engine.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything the engine can answer instead of a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The named thing does not exist in this scope.
    #[error("{what} `{id}` not found")]
    NotFound {
        /// The kind of thing that was looked for.
        what: &'static str,
        /// What the caller called it.
        id: String,
    },
    /// Nothing stands at this uri.
    #[error("there is nothing at `{uri}`")]
    NoSuchUri {
        /// The uri.
        uri: String,
        /// What is near.
        hint: String,
    },
    /// A shortened id fits more than one memory.
    #[error("`{prefix}` fits {count} memories")]
    AmbiguousId {
        /// The shortened id as given.
        prefix: String,
        /// How many memories it fits.
        count: usize,
    },
    /// The input cannot be accepted as it is. Change it and try again.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
        /// What to do instead.
        hint: String,
    },
    /// Settings that cannot be used as they are. Change them and try again.
    #[error("{}", join_problems(problems))]
    InvalidConfig {
        /// Each setting, and what is wrong with its value.
        problems: Vec<(String, String)>,
    },
    /// Somebody else changed the same memory first. Read it again and retry.
    #[error("{what} was changed by someone else meanwhile")]
    Conflict {
        /// What could not be changed.
        what: String,
    },
    /// The database was written by a newer version of Everlore.
    #[error("the database has schema {found}, this program knows schemas up to {known}")]
    SchemaTooNew {
        /// The schema found in the file.
        found: u32,
        /// The newest schema this program knows.
        known: u32,
    },
    /// The memory can only be read where it is.
    #[error("{place} cannot be written to from here, so nothing is saved or changed")]
    ReadOnly {
        /// The file.
        place: String,
    },
    /// The stored data contradicts itself.
    #[error("stored data is damaged: {message}")]
    Damaged {
        /// What does not fit.
        message: String,
    },
    /// The database failed. Retrying may help.
    #[error("storage failed: {0}")]
    Store(#[source] BoxError),
    /// A model on another server did not give what it was asked for. What was stored is safe.
    #[error("{message}")]
    Remote {
        /// What went wrong, without any key.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A language model cannot read so much at once. Shorten it and ask again.
    #[error("{message}")]
    ContextTooLong {
        /// What the model's server says.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A file or stream failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being read or written.
        what: String,
        /// The cause given by the system.
        source: std::io::Error,
    },
}

impl Error {
    /// Says that `what` called `id` is not in the scope.
    pub fn not_found(what: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound { what, id: format!("{id}") }
    }

    /// Says what is wrong with an input and what to do instead.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Invalid { message: message.into(), hint: hint.into() }
    }

    /// Says that the stored data contradicts itself.
    pub fn damaged(message: impl Into<String>) -> Self {
        Self::Damaged { message: message.into() }
    }

    /// Wraps a failure of the database.
    pub fn store(source: impl Into<BoxError>) -> Self {
        Self::Store(source.into())
    }

    /// Wraps a failure to read or write `what`.
    pub fn io(what: impl Into<String>, source: std::io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    /// A short, stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } | Self::NoSuchUri { .. } => "not_found",
            Self::AmbiguousId { .. } => "ambiguous",
            Self::Invalid { .. } | Self::InvalidConfig { .. } => "invalid",
            Self::Conflict { .. } => "conflict",
            Self::SchemaTooNew { .. } => "too_new",
            Self::ReadOnly { .. } => "read_only",
            Self::Damaged { .. } => "damaged",
            Self::Store(_) => "store",
            Self::Remote { .. } => "remote",
            Self::ContextTooLong { .. } => "too_long",
            Self::Io { .. } => "io",
        }
    }

    /// What the person or program can do about it.
    pub fn hint(&self) -> &str {
        match self {
            Self::NotFound { .. } => {
                "list what there is with `everlore memory list`; ids are looked up in the current agent and user only"
            }
            Self::AmbiguousId { .. } => "give more characters of the id",
            Self::InvalidConfig { .. } => {
                "nothing was changed; docs/reference/configuration.md lists every setting with what it takes"
            }
            Self::Invalid { hint, .. }
            | Self::NoSuchUri { hint, .. }
            | Self::Remote { hint, .. }
            | Self::ContextTooLong { hint, .. } => hint,
            Self::Conflict { .. } => "read it again and repeat the change",
            Self::SchemaTooNew { .. } => "update everlore, or open another home with --home",
            Self::ReadOnly { .. } => {
                "reading works; to write, give this user the right to it, or name another home with --home"
            }
            Self::Damaged { .. } => {
                "run `everlore doctor` to see what is affected and how to repair it"
            }
            Self::Store(_) => {
                "check free disk space and permissions of the home folder, then try again; `everlore doctor` checks the database"
            }
            Self::Io { .. } => "check that the path exists and that you may read and write it",
        }
    }
}

fn join_problems(problems: &[(String, String)]) -> String {
    let told: Vec<_> =
        problems.iter().map(|(key, problem)| format!("`{key}`: {problem}")).collect();
    told.join("; ")
}
