//! What people and agents keep in files: documents, taken apart into pieces worth recalling, the layers of an agent,
//! vaults, a file a memory, the folder that an agent keeps for itself, and what other systems wrote (`foreign`).
//!
//! `documents` and `sections` only take texts apart: bytes come in, values go out. The others read and write files.

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
