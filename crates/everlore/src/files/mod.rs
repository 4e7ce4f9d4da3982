//! Files of people and agents: documents, split into chunks worth recalling; the layers of an agent; vaults, with a
//! file for each memory; the memory folder of an agent; and the files of other memory systems (`importers`).
//!
//! `markdown`, `documents` and `sections` are pure: bytes in, values out. The others read and write files.

pub(crate) mod atomic_file;
pub(crate) mod regular_file;
pub(crate) mod private_file;
pub(crate) mod home;
pub(crate) mod agent_settings;
mod markdown;
pub(crate) mod documents;
pub(crate) mod sections;
pub(crate) mod layers;
pub(crate) mod front_matter;
pub(crate) mod skill_folder;
pub(crate) mod vault;
pub(crate) mod memory_folder;
pub(crate) mod importers;
pub(crate) mod pending_text;
