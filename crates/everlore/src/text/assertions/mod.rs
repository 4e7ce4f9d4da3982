//! Assertions of a text, as far as words can tell: its clauses without questions, what they deny, whom they are about, and
//! the figures, days and places they name. A model's statement is compared with its evidence by these.

pub(crate) mod clauses;
pub(crate) mod denials;
pub(crate) mod figures;
pub(crate) mod calendar;
pub(crate) mod subjects;
pub(crate) mod objects;
