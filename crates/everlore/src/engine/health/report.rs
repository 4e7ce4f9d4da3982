//! Report of the state of everything.

use serde::Serialize;

use crate::{
    engine::{HeartbeatStatus, Layer},
    types::Timestamp,
};

/// State of everything, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HealthReport {
    /// State by the gravest warning.
    pub status: HealthStatus,
    /// Version of the engine.
    pub version: String,
    /// Time of the report.
    pub at: Timestamp,
    /// Memories of the scope.
    pub memories: MemoryHealth,
    /// Search index of the scope.
    pub index: IndexHealth,
    /// Capture queue of the scope.
    pub capture: CaptureHealth,
    /// Drafts in quarantine.
    pub quarantine: usize,
    /// Proposals that wait for a decision.
    pub proposals: usize,
    /// Reminders of the scope.
    pub reminders: ReminderHealth,
    /// Spending of background work today.
    pub today: SpendingHealth,
    /// Sizes of the layers; empty without a home.
    pub layers: Vec<LayerHealth>,
    /// Database; only for its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreHealth>,
    /// Vectors of all scopes; only for the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<EmbeddingHealth>,
    /// Jobs that run by themselves; only for the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<HeartbeatStatus>,
    /// Files of the home that wait for somebody; only for the owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileHealth>,
    /// Things to look at, the gravest first.
    pub warnings: Vec<HealthWarning>,
}

/// State in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// Nothing to do.
    Ok,
    /// Something waits for a person.
    Attention,
    /// Something does not work.
    Problem,
}

crate::types::variant_names! { pub HealthStatus: Ok = "ok", Attention = "attention", Problem = "problem" }

/// Thing to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HealthWarning {
    /// Part that it is about, by its name in the report.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub about: &'static str,
    /// Severity.
    pub severity: HealthSeverity,
    /// State in plain words.
    pub message: String,
    /// Next step.
    pub advice: String,
}

/// Severity of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum HealthSeverity {
    /// Something waits for a person.
    Note,
    /// Something does not work.
    Problem,
}

/// Number of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MemoryHealth {
    /// Statements that take part in recall.
    pub active: usize,
    /// Statements that were archived or superseded.
    pub put_away: usize,
    /// Turns.
    pub turns: usize,
    /// Records: schedules, proposals and tool calls.
    pub records: usize,
}

/// Search index: the newest memories, looked up in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct IndexHealth {
    /// Memories that were looked up.
    pub checked: usize,
    /// Memories that were not found.
    pub missing: usize,
}

/// Capture queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CaptureHealth {
    /// Sessions with unread turns.
    pub sessions: usize,
    /// Unread turns.
    pub turns: usize,
    /// Reason why rules replaced the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Reminders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReminderHealth {
    /// Schedules that still run.
    pub scheduled: usize,
    /// Reminders that are due and were not told yet.
    pub due: usize,
    /// Next run as local time with its offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Schedules that nobody vouches for, which are never told.
    pub unverified: usize,
}

/// Spending of background work today.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SpendingHealth {
    /// Calls of a model for this scope.
    pub calls: u64,
    /// Tokens of this scope, read and written.
    pub tokens: u64,
    /// Cost of this scope, in the currency of the prices.
    pub cost: f64,
    /// Most tokens a day, of all scopes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_tokens: Option<u64>,
    /// Highest cost of a day, of all scopes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_cost: Option<f64>,
    /// Set when the budget of the day is spent.
    pub capped: bool,
}

/// Size of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LayerHealth {
    /// Layer.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub layer: Layer,
    /// Characters.
    pub chars: usize,
    /// Most characters.
    pub budget: usize,
}

/// Database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StoreHealth {
    /// Address, without a password.
    pub url: String,
    /// Kind of database, such as `sqlite`.
    pub backend: String,
    /// Version of its schema; 0 for a store without one.
    pub schema: u32,
    /// Size in bytes, if the store knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Set when writes are refused.
    pub read_only: bool,
}

/// Vectors of all scopes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EmbeddingHealth {
    /// Model whose vectors the store holds.
    pub model: Option<String>,
    /// Memories with a vector.
    pub embedded: usize,
    /// Memories without a vector.
    pub waiting: usize,
    /// Set while recall goes by words alone because the embedding server failed.
    pub paused: bool,
    /// Set when the settings name another model than that of the stored vectors.
    #[serde(rename = "other_model")]
    pub is_other_model: bool,
}

/// Files of the home that wait for somebody.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FileHealth {
    /// Turns in the hook spool.
    pub spooled: usize,
    /// Turns in the hook spool that should have been stored by now.
    pub overdue: usize,
    /// Turns that the store refused.
    pub refused: usize,
    /// Files with input that could not be saved.
    pub unsaved: usize,
    /// Backups of the database, which still hold texts forgotten since.
    pub backups: Vec<String>,
}
