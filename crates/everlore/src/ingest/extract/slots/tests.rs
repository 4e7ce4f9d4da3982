//! Tests of slot patterns.
