//! Settings of `[layers]`: the files SOUL, USER, MEMORY and DAILY.

use super::validate::settings;

settings! {
    /// Layered files of an agent: SOUL.md, USER.md, MEMORY.md and the daily log. A budget is in characters; a change that
    /// would exceed it is refused. A file that a person made longer by hand is cut at its end, in the prompt only.
    pub struct LayersConfig in "layers" {
        /// Most characters of SOUL.md, which says who the agent is. From 100 to 100000.
        pub soul_chars: usize = 2_000, in 100..=100_000;
        /// Most characters of USER.md, which says who the user is. From 100 to 100000.
        pub user_chars: usize = 1_400, in 100..=100_000;
        /// Most characters of MEMORY.md, the agent's notes. From 100 to 100000.
        pub memory_chars: usize = 2_200, in 100..=100_000;
        /// Most characters of one day of the daily log. From 100 to 100000.
        pub daily_chars: usize = 1_000, in 100..=100_000;
        /// Days of the daily log in the prompt, today included; older days are archived and stay searchable. From 1 to 31.
        pub daily_days: usize = 2, in 1..=31;
        /// `true` keeps agents from changing SOUL.md. People still can. Keys of users never can, nor agents with several
        /// users.
        pub soul_read_only: bool = false;
    }
}
