//! Rules of growth: what an agent learns from its memories, when a reminder is due, and when a job of the heartbeat runs.
//! Pure functions of values and `now`; the engine reads and writes.

mod experience;
mod solved_words;
mod near_cure;
mod attempts;
mod feedback;
pub(crate) mod patterns;
pub(crate) mod skill;
pub(crate) mod audit;
pub(crate) mod profile;
pub(crate) mod reflection;
pub(crate) mod trajectory;
pub(crate) mod schedule_record;
pub(crate) mod heartbeat;

pub(crate) use attempts::{
    ObservedAttempt, SessionTurn, calls_of_solution, observed_attempts, shown_failure,
};
pub(crate) use experience::{
    CureMatch, RETIRING_FAILURES, is_other_failure, is_retired, is_same_cure, match_error,
    report_outcome, success_rate, success_share,
};
pub use experience::{CureSource, ExperienceEdit, NewExperience};
pub(crate) use feedback::apply_feedback;
pub use feedback::{FeedbackRequest, FeedbackTally, FeedbackVerdict};
pub(crate) use near_cure::near_cure;
