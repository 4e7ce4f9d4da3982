//! The read path.
