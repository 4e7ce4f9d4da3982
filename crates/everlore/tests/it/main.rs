//! Integration tests.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;
mod architecture;
mod bm25;
mod recall;
mod reflection;
mod skills;
mod periods;
mod identity;
mod records;
mod schedules;
mod reminders;
mod heartbeat;
mod trajectories;
mod health;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod databases;
mod why_not;
mod told;
#[cfg(feature = "local-model")]
mod failed_tools;
mod profile_decisions;
mod checks;
mod pack;
mod documents;
#[cfg(feature = "local-model")]
mod encoder;
mod everyday;
mod visible_context;
mod small_homes;
#[cfg(feature = "local-model")]
mod growing_home;
mod audit;
mod calibration;
mod isolation;
mod export;
mod migrate;
mod sqlite;
mod corpus;
mod hostile;
mod suspect;
mod secrets;
mod settings;
mod agent_settings;
mod context;
mod scenarios;
mod capture;
mod attribution;
#[cfg(feature = "remote")]
mod capture_kill;
mod semantic;
mod prompt;
mod memory_folder;
mod fs;
mod tiers;
mod tools;
mod tools_core;
#[cfg(feature = "compat-tools")]
mod tools_compat;
#[cfg(feature = "compat-tools")]
mod tools_reference;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod chat_model;
#[cfg(feature = "remote")]
mod remote_engine;
mod layers;
mod lifecycle;
mod growth;
mod growth_undo;
mod decisions;
mod poisoning;
mod interfaces;
mod linear;
mod spelling;
mod rerank;
mod round_trips;
#[cfg(feature = "local-model")]
mod local_model;
