//! What people keep in files: documents, taken apart into pieces worth recalling, and the layers of an agent.
//!
//! `documents` and `sections` only take texts apart: bytes come in, values go out. `layers` reads and writes files.

pub mod documents;
pub mod sections;
pub mod layers;
