//! Where memories are kept.
