//! Trajectories: the steps of a conversation in order, with tool calls, outcome, models and tokens.
//!
//! A trajectory is a view of stored turns and call records.
//!
//! 1. `steps.rs` puts the turns and calls of a conversation in order.
//! 2. `outcome.rs` judges how it ended.
//! 3. `compress.rs` fits it into a token budget.
//! 4. `atif.rs`, `sharegpt.rs` and `openai.rs` write it in the formats of other systems.

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
