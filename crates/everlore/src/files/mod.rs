//! What people keep in files: documents, taken apart into pieces worth recalling.
//!
//! Nothing here touches the file system: bytes come in, values go out.

pub mod documents;
