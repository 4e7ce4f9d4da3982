//! Word rows in four bits per value: groups of 32 values share a half-precision scale.

use std::borrow::Cow;

use super::safetensors::half_to_f32;

/// Values that share a scale.
const GROUP_SIZE: usize = 32;

/// Bytes of a scale.
const SCALE_BYTES: usize = 2;

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

    /// Returns the bytes of a row with so many values.
    pub(super) fn row_bytes(width: usize) -> usize {
        width / 2 + width / GROUP_SIZE * SCALE_BYTES
    }

    /// Unpacks a row: byte j of a group holds value j in the low and value j + 16 in the high four bits.
    pub(super) fn unpack(&self, index: usize, row: &mut [f32]) {
        let size = Self::row_bytes(self.width);
        let bytes = &self.bytes[index * size..][..size];
        let (scales, values) = bytes.split_at(self.width / GROUP_SIZE * SCALE_BYTES);
        let scales = scales.as_chunks::<SCALE_BYTES>().0.iter();
        let groups = row.chunks_exact_mut(GROUP_SIZE).zip(values.chunks_exact(GROUP_SIZE / 2));
        for ((row, values), scale) in groups.zip(scales) {
            let scale = half_to_f32(u16::from_le_bytes(*scale));
            let (low, high) = row.split_at_mut(GROUP_SIZE / 2);
            for ((low, high), &byte) in low.iter_mut().zip(high).zip(values) {
                *low = scale * (f32::from(byte & 15) - 8.0);
                *high = scale * (f32::from(byte >> 4) - 8.0);
            }
        }
    }
}
