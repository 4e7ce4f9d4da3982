//! The shapes of checks, for the description. The tests of `schema` hold them against the real ones.

#![expect(dead_code, reason = "they are read by the description only")]

use utoipa::ToSchema;

/// A check to be set: exactly one of path, file, command, until and days. Only the owner's token may set one of the first three.
#[derive(ToSchema)]
pub(super) struct NewCheck {
    /// Something must be at this path, given from the root.
    path: Option<String>,
    /// This file must have the same bytes as when the check is set.
    file: Option<String>,
    /// With file: the SHA-256 of its bytes; taken from the file if left out.
    sha256: Option<String>,
    /// This program, with these arguments and no shell, must exit with 0.
    command: Option<Vec<String>>,
    /// With command: where it is run.
    folder: Option<String>,
    /// With command: what it must print.
    prints: Option<String>,
    /// It holds until this day, which is included, or this moment.
    until: Option<String>,
    /// It is to be verified again after so many days.
    days: Option<u32>,
}

/// What a check tells now, beside the check itself.
#[derive(ToSchema)]
pub(super) struct Verified {
    /// Whether the memory still holds.
    verdict: Verdict,
    /// Why.
    why: String,
    #[schema(required = false)]
    path: String,
    #[schema(required = false)]
    file: String,
    #[schema(required = false)]
    sha256: String,
    #[schema(required = false)]
    command: Vec<String>,
    #[schema(required = false)]
    folder: String,
    #[schema(required = false)]
    prints: String,
    #[schema(required = false)]
    until: String,
    #[schema(required = false)]
    days: u32,
}

/// Whether a memory holds by its check.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(super) enum Verdict {
    Fresh,
    Stale,
    Unverifiable,
}
