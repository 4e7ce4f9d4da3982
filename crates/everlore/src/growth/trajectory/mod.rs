//! Trajectories: the steps of a conversation in order, with tool calls, outcome, models and tokens.
//!
//! A trajectory is a view of stored turns and call records. `outcome.rs` judges how it ended, `compress.rs` fits it into
//! a token budget, and `atif.rs`, `sharegpt.rs` and `openai.rs` write it in the formats of other systems.

mod steps;
mod outcome;
mod compress;
mod export;
mod atif;
mod sharegpt;
mod openai;

pub use compress::{MIN_TRAJECTORY_BUDGET, TrajectorySavings};
pub use export::TrajectoryFormat;
pub use outcome::{TrajectoryOutcome, TrajectoryOutcomeKind};
pub use steps::{LinkedExperience, Trajectory, TrajectoryStep, TrajectorySummary};
