//! What people and agents keep in files: documents, taken apart into pieces worth recalling, and the folder that an agent
//! keeps for itself.
//!
//! `documents` never touches the file system: bytes come in, values go out.

pub mod documents;
pub mod memory_folder;
