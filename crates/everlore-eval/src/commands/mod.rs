//! One file for each subcommand.

pub(crate) mod bench;
pub(crate) mod corpus;
pub(crate) mod gate;
pub(crate) mod layouts;
pub(crate) mod official;
pub(crate) mod quality;
pub(crate) mod retrieval;
pub(crate) mod scale;
