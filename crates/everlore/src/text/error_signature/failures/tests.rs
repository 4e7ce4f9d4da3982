//! The table of known failures is read whole, and its names are unique.

use std::collections::HashSet;

use super::{TABLE, entry::Rank};

#[test]
fn the_table_is_read_and_names_are_unique() {
    let names: HashSet<&str> = TABLE.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), TABLE.len());
    assert!(TABLE.len() > 500, "{}", TABLE.len());
    assert!(
        TABLE.iter().all(|entry| entry.has_wordings()),
        "each entry has wordings without empty phrases"
    );
    assert!(TABLE.iter().any(|entry| entry.rank == Rank::General));
}
