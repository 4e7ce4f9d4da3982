//! Word rows in four bits per value: groups of 32 values share a half-precision scale.

use std::borrow::Cow;

use everlore_kernel::{add_packed_row, packed_row_bytes};

/// Rows of one width, packed as `tools/embedder/int4.py` documents.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PackedRows {
    bytes: Cow<'static, [u8]>,
    pub(super) width: usize,
}

impl PackedRows {
    pub(super) fn new(bytes: Cow<'static, [u8]>, width: usize) -> Self {
        Self { bytes, width }
    }

    /// Unpacks a row.
    pub(super) fn unpack(&self, index: usize, row: &mut [f32]) {
        let size = packed_row_bytes(self.width);
        row.fill(0.0);
        add_packed_row(row, &self.bytes[index * size..][..size]);
    }
}
