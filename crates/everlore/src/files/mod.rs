//! Files of people and agents: documents, split into chunks worth recalling; the layers of an agent; vaults, with a
//! file for each memory; the memory folder of an agent; and the files of other memory systems (`importers`).
//!
//! `markdown`, `documents` and `sections` are pure: bytes in, values out. The others read and write files.

pub mod atomic_file;
pub mod home;
pub mod agent_settings;
mod markdown;
pub mod documents;
pub mod sections;
pub mod layers;
pub mod front_matter;
pub mod vault;
pub mod memory_folder;
pub mod importers;
