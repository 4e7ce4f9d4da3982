//! Subcommands, one file each.

pub(crate) mod agent_move;
pub(crate) mod audit;
pub(crate) mod bench;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod cluster;
pub(crate) mod changes;
pub(crate) mod dialogues;
pub(crate) mod extract;
pub(crate) mod gate;
pub(crate) mod growth_model;
pub(crate) mod homes;
pub(crate) mod injection;
pub(crate) mod hooks;
pub(crate) mod latency;
pub(crate) mod life;
pub(crate) mod load;
pub(crate) mod mcp;
pub(crate) mod need;
pub(crate) mod pgvector;
pub(crate) mod prompt;
pub(crate) mod provider;
pub(crate) mod proxy;
pub(crate) mod replay;
pub(crate) mod retrieval;
pub(crate) mod scale;
pub(crate) mod sources;
