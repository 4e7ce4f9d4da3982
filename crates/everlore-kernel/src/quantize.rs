//! Between single precision and eight bits: rows are quantized before a matrix product, and its sums dequantized after.

use crate::{SimdTask, run_widest};

/// Quantizes each row to integers up to 127 and writes its scale.
pub fn quantize_rows(numbers: &[f32], width: usize, values: &mut [i16], scales: &mut [f32]) {
    run_widest(QuantizeTask { numbers, width, values, scales });
}

struct QuantizeTask<'a> {
    numbers: &'a [f32],
    width: usize,
    values: &'a mut [i16],
    scales: &'a mut [f32],
}

impl SimdTask for QuantizeTask<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { numbers, width, values, scales } = self;
        let rows = numbers.chunks_exact(width).zip(values.chunks_exact_mut(width));
        for ((row, values), scale) in rows.zip(scales) {
            *scale = largest_size(row) / f32::from(i8::MAX);
            let each = if *scale > 0.0 { scale.recip() } else { 0.0 };
            for (value, number) in values.iter_mut().zip(row) {
                *value = round_to_nearest(number * each) as i32 as i16;
            }
        }
    }
}

/// Dequantizes integer sums by the scales of their row and column, and adds the bias of the column.
pub fn dequantize(sums: &[i32], rows: &[f32], columns: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; sums.len()];
    run_widest(DequantizeTask { sums, rows, columns, bias, out: &mut out });
    out
}

struct DequantizeTask<'a> {
    sums: &'a [i32],
    rows: &'a [f32],
    columns: &'a [f32],
    bias: &'a [f32],
    out: &'a mut [f32],
}

impl SimdTask for DequantizeTask<'_> {
    #[inline(always)]
    fn run(self) {
        let width = self.columns.len();
        let rows = self.out.chunks_exact_mut(width).zip(self.sums.chunks_exact(width));
        for ((out, sums), scale) in rows.zip(self.rows) {
            let columns = self.columns.iter().zip(self.bias);
            for ((out, sum), (column, bias)) in out.iter_mut().zip(sums).zip(columns) {
                *out = *sum as f32 * scale * column + bias;
            }
        }
    }
}

/// Adds a low-rank product to `out`: each row gets the rows of `tall`, each times its share.
pub fn add_low_rank(shares: &[f32], rank: usize, tall: &[f32], out: &mut [f32]) {
    run_widest(LowRankTask { shares, rank, tall, out });
}

struct LowRankTask<'a> {
    shares: &'a [f32],
    rank: usize,
    tall: &'a [f32],
    out: &'a mut [f32],
}

impl SimdTask for LowRankTask<'_> {
    #[inline(always)]
    fn run(self) {
        let width = self.tall.len() / self.rank;
        let rows = self.out.chunks_exact_mut(width).zip(self.shares.chunks_exact(self.rank));
        for (row, shares) in rows {
            for (tall, share) in self.tall.chunks_exact(width).zip(shares) {
                row.iter_mut().zip(tall).for_each(|(sum, value)| *sum += share * value);
            }
        }
    }
}

/// Returns the largest size of a number, found in eight lanes at once; NaN counts as nothing.
#[inline(always)]
fn largest_size(numbers: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let (wholes, rest) = numbers.as_chunks::<8>();
    let mut lanes = [0.0f32; 8];
    for whole in wholes {
        for (lane, number) in lanes.iter_mut().zip(whole) {
            *lane = larger(*lane, number.abs());
        }
    }
    rest.iter().map(|number| number.abs()).chain(lanes).fold(0.0, larger)
}

/// Rounds to the nearest integer, for sizes below four million: the sum with `NO_FRACTIONS` has no bits for fractions.
#[inline(always)]
pub(crate) fn round_to_nearest(x: f32) -> f32 {
    const NO_FRACTIONS: f32 = 12_582_912.0;
    (x + NO_FRACTIONS) - NO_FRACTIONS
}
