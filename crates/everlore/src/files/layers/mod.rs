//! The layers of an agent.
