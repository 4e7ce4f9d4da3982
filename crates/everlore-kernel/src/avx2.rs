//! Matrix products and dot products with AVX2 instructions.

use std::arch::x86_64::*;

/// Numbers multiplied by one instruction.
pub(super) const LANES: usize = 16;

/// Rows of `a` and of `b` in a tile: as many as there are registers for.
const ROWS_A: usize = 4;
const ROWS_B: usize = 2;

/// Types that a register can load as signed bytes.
trait Byte {}
impl Byte for i8 {}
impl Byte for u8 {}

#[target_feature(enable = "avx2")]
pub(super) fn matmul(a: &[i16], b: &[i8], width: usize, out: &mut [i32]) {
    let columns = b.len() / width;
    let rows_a = a.len() / width;
    for first_b in (0..columns).step_by(ROWS_B) {
        for first_a in (0..rows_a).step_by(ROWS_A) {
            // A tile beyond the last row repeats that row; its products are not written.
            let a: [&[[i16; LANES]]; ROWS_A] =
                std::array::from_fn(|row| row_lanes(a, width, (first_a + row).min(rows_a - 1)));
            let b: [&[[i8; LANES]]; ROWS_B] =
                std::array::from_fn(|row| row_lanes(b, width, (first_b + row).min(columns - 1)));
            let sums = dot_tile(a, b);
            for (row, sums) in (first_a..rows_a).zip(&sums) {
                for (column, sum) in (first_b..columns).zip(sums) {
                    out[row * columns + column] = *sum;
                }
            }
        }
    }
}

/// Returns the dot product of two vectors of bytes.
#[target_feature(enable = "avx2")]
pub(super) fn dot(query: &[i8], stored: &[u8]) -> i32 {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (stored, stored_rest) = stored.as_chunks::<LANES>();
    let mut sum = _mm256_setzero_si256();
    for index in 0..query.len().min(stored.len()) {
        let products = _mm256_madd_epi16(load_widened(&query[index]), load_widened(&stored[index]));
        sum = _mm256_add_epi32(sum, products);
    }
    horizontal_sum(sum) + super::dot_bytes(query_rest, stored_rest)
}

#[inline]
fn row_lanes<T>(rows: &[T], width: usize, row: usize) -> &[[T; LANES]] {
    rows[row * width..][..width].as_chunks().0
}

#[inline]
#[target_feature(enable = "avx2")]
fn dot_tile(a: [&[[i16; LANES]]; ROWS_A], b: [&[[i8; LANES]]; ROWS_B]) -> [[i32; ROWS_B]; ROWS_A] {
    let mut sums = [[_mm256_setzero_si256(); ROWS_B]; ROWS_A];
    let [a0, a1, a2, a3] = a;
    let [b0, b1] = b;
    for (((((a0, a1), a2), a3), b0), b1) in a0.iter().zip(a1).zip(a2).zip(a3).zip(b0).zip(b1) {
        let b = [load_widened(b0), load_widened(b1)];
        for (sums, a) in sums.iter_mut().zip([a0, a1, a2, a3]) {
            let a = load_i16(a);
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(a, b));
            }
        }
    }
    sums.map(|sums| sums.map(|sum| horizontal_sum(sum)))
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_i16(numbers: &[i16; LANES]) -> __m256i {
    #[expect(unsafe_code, reason = "there is no safe way to load a register")]
    // SAFETY: the array is as long as the register, and the load asks for no alignment.
    unsafe {
        _mm256_loadu_si256(numbers.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_widened<T: Byte>(numbers: &[T; LANES]) -> __m256i {
    #[expect(unsafe_code, reason = "there is no safe way to load a register")]
    // SAFETY: the array is as long as the register, and the load asks for no alignment.
    let bytes = unsafe { _mm_loadu_si128(numbers.as_ptr().cast()) };
    _mm256_cvtepi8_epi16(bytes)
}

#[inline]
#[target_feature(enable = "avx2")]
fn horizontal_sum(sums: __m256i) -> i32 {
    let halves = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    let quarters = _mm_add_epi32(halves, _mm_shuffle_epi32::<0b1110>(halves));
    _mm_cvtsi128_si32(_mm_add_epi32(quarters, _mm_shuffle_epi32::<1>(quarters)))
}
