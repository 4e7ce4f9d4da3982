//! Numbers of a tensor from the bytes of its file, little-endian.

/// Reads single-precision floats.
pub fn read_f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Reads half-precision floats.
pub fn read_f16s(bytes: &[u8]) -> Vec<f32> {
    read_u16s(bytes).map(half_to_f32).collect()
}

/// Reads floats that are the upper half of a single-precision one.
pub fn read_bf16s(bytes: &[u8]) -> Vec<f32> {
    read_u16s(bytes).map(|half| f32::from_bits(u32::from(half) << 16)).collect()
}

/// Reads 8-bit integers.
pub fn read_i8s(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

/// Converts a half-precision float.
fn half_to_f32(half: u16) -> f32 {
    // The exponent biases of the two formats differ by 112.
    const UP: f32 = f32::from_bits((112 + 127) << 23);
    let size = f32::from_bits(u32::from(half & 0x7fff) << 13) * UP;
    if half & 0x8000 == 0 { size } else { -size }
}

fn read_u16s(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two))
}

/// Values of a row of four bits that share a half-precision scale.
const PACKED_GROUP: usize = 32;

/// Bytes of a packed row: its scales, then its values.
pub const fn packed_row_bytes(width: usize) -> usize {
    width / 2 + width / PACKED_GROUP * 2
}

/// Adds a packed row to `sums`: byte j of a group holds value j in the low and value j + 16 in the high four bits.
pub fn add_packed_row(sums: &mut [f32], row: &[u8]) {
    let (scales, values) = row.split_at(sums.len() / PACKED_GROUP * 2);
    let groups = sums.as_chunks_mut::<PACKED_GROUP>().0.iter_mut();
    let values = values.as_chunks::<{ PACKED_GROUP / 2 }>().0;
    for ((sums, bits), scale) in groups.zip(values).zip(scales.as_chunks().0) {
        let scale = half_to_f32(u16::from_le_bytes(*scale));
        let (low, high) = sums.split_at_mut(PACKED_GROUP / 2);
        for ((low, high), &byte) in low.iter_mut().zip(high).zip(bits) {
            *low += scale * (f32::from(byte & 15) - 8.0);
            *high += scale * (f32::from(byte >> 4) - 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_as_it_was_written() {
        let cases = [
            (0, 0.0),
            (0x3c00, 1.0),
            (0x3555, 0.333_251_95),
            (0x0001, 5.960_464_5e-8),
            (0x7bff, 65504.0),
        ];
        for (half, value) in cases {
            assert_eq!(half_to_f32(half), value);
        }
    }

    #[test]
    fn halves_and_their_scales_are_read_as_they_are_defined() {
        assert_eq!(read_f16s(&[0x00, 0x3c, 0x00, 0xc0]), [1.0, -2.0]);
        assert_eq!(read_bf16s(&[0x80, 0x3f, 0x00, 0xc0]), [1.0, -2.0]);
        assert_eq!(read_i8s(&[0xff, 7]), [-1, 7]);
        let mut row = vec![0x00, 0x38];
        row.extend([0x9a; PACKED_GROUP / 2]);
        let mut sums = [1.0; PACKED_GROUP];
        add_packed_row(&mut sums, &row);
        assert_eq!((row.len(), sums[0], sums[31]), (packed_row_bytes(PACKED_GROUP), 2.0, 1.5));
    }
}
