//! Tests of the `everlore` binary as people and programs run it: one process per command, in temporary homes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod home;
mod home_of_0_1_0;
mod random;
#[cfg(feature = "server")]
mod skipped;
mod transcript;
mod answers;
mod why_not;
mod experience;
mod growth_words;
mod trajectory;
mod skill;
mod checks;
mod chinese;
mod failures;
mod text_round_trip;
mod erasure;
mod everything;
mod supersession;
mod undo;
mod secrets;
mod capture;
#[cfg(all(feature = "remote", unix))]
mod memory_agent;
mod transfer;
mod import;
mod ingest;
mod vault;
mod repair;
mod damage;
#[cfg(unix)]
mod special_files;
mod observe_stream;
mod concurrency;
mod kill;
mod kill_commands;
mod layers;
mod lifecycle;
#[cfg(all(feature = "remote", unix))]
mod schedule;
mod memory_vault;
mod prompt;
mod embed;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod chat_model;
#[cfg(all(feature = "remote", unix))]
mod terminal;
#[cfg(all(feature = "remote", unix))]
mod chat;
#[cfg(all(feature = "remote", unix))]
mod chat_terminal;
#[cfg(all(feature = "remote", unix))]
mod onboard;
#[cfg(all(feature = "remote", unix))]
mod manners;
mod domains;
mod agent;
mod calibrate;
#[cfg(feature = "local-model")]
mod models;
mod readme;
mod readme_zh;
mod mistakes;
mod picture;
mod pages;
mod guides;
mod book;
mod docs_zh;
#[cfg(target_os = "linux")]
mod no_network;
#[cfg(feature = "server")]
mod serve;
#[cfg(feature = "server")]
mod mcp;
mod hooks;
#[cfg(unix)]
mod read_only;
mod connect;
mod connect_ways;
mod hints;
mod plugin;
mod tool;
mod fs;
#[cfg(feature = "server")]
mod identity;
#[cfg(all(feature = "server", feature = "mem0", feature = "openviking"))]
mod hostile;
mod docs_examples;
#[cfg(feature = "server")]
mod clients;
mod dependencies;
#[cfg(feature = "server")]
mod compose;
#[cfg(all(feature = "postgres", feature = "server", target_os = "linux", target_arch = "x86_64"))]
mod server_database;
#[cfg(unix)]
mod requirements;
