//! Qualities that ranked lists do not show: whole periods, updates, extraction, and abstention.

pub(crate) mod periods;
pub(crate) mod updates;
pub(crate) mod abstention;
pub(crate) mod extraction;
pub(crate) mod changes;
pub(crate) mod dialogues;
pub(crate) mod gate;
pub(crate) mod need;
pub(crate) mod homes;
pub(crate) mod injection;
