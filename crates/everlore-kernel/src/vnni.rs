//! Matrix products with AVX-512 VNNI instructions, which multiply 64 bytes and add them up four by four at once.
//!
//! One factor of the instruction is unsigned: weights are stored 128 higher, and 128 times the sum of a row of inputs
//! is subtracted from its products.

use std::arch::x86_64::*;

/// Columns of a block: a register holds a sum for each.
const LANES: usize = 16;

/// Inputs that one instruction multiplies and adds for each column.
const STEP: usize = 4;

/// Bytes of a register.
const BYTES: usize = LANES * STEP;

/// Rows of inputs and blocks of columns in a tile: as many sums as leave registers for their factors.
const ROWS: usize = 4;
const BLOCKS: usize = 4;

/// Added to weights to make them unsigned.
const OFFSET: i32 = 128;

/// Returns `true` if the processor has the instructions.
pub(super) fn is_supported() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512vnni")
}

/// Weights in blocks of 16 columns; in a block, four bytes of each column follow one another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BlockedWeights {
    columns: usize,
    steps: usize,
    bytes: Vec<[u8; BYTES]>,
}

impl BlockedWeights {
    /// Lays out rows of this width, one for each column of the product; `None` if four do not divide the width.
    pub(super) fn new(values: &[i8], width: usize) -> Option<Self> {
        if width == 0 || !width.is_multiple_of(STEP) {
            return None;
        }
        let (columns, steps) = (values.len() / width, width / STEP);
        let mut bytes = vec![[0; BYTES]; columns.div_ceil(LANES) * steps];
        let blocks = bytes.chunks_exact_mut(steps).zip(values.chunks(LANES * width));
        for (block, rows) in blocks {
            for (lane, row) in rows.chunks_exact(width).enumerate() {
                for (stored, four) in block.iter_mut().zip(row.as_chunks::<STEP>().0) {
                    stored.as_chunks_mut::<STEP>().0[lane] = four.map(raised);
                }
            }
        }
        Some(Self { columns, steps, bytes })
    }

    /// Returns the weights as they came.
    pub(super) fn to_rows(&self) -> Vec<i8> {
        let row = |column: usize| {
            let (block, lane) = (column / LANES, column % LANES);
            let steps = &self.bytes[block * self.steps..][..self.steps];
            steps.iter().flat_map(move |step| &step[lane * STEP..][..STEP])
        };
        let bytes = (0..self.columns).flat_map(row);
        bytes.map(|byte| (i32::from(*byte) - OFFSET) as i8).collect()
    }

    /// Multiplies rows of inputs; `out` gets a row for each.
    #[target_feature(enable = "avx512f,avx512vnni")]
    pub(super) fn matmul(&self, a: &[i16], out: &mut [i32]) {
        let inputs = Inputs::new(a, self.steps);
        let rows = inputs.offsets.len();
        for first_row in (0..rows).step_by(ROWS) {
            match rows - first_row {
                1 => self.row_tiles::<1>(&inputs, first_row, out),
                2 => self.row_tiles::<2>(&inputs, first_row, out),
                3 => self.row_tiles::<3>(&inputs, first_row, out),
                _ => self.row_tiles::<ROWS>(&inputs, first_row, out),
            }
        }
    }

    /// Computes the products of some rows with all columns.
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn row_tiles<const R: usize>(&self, inputs: &Inputs, first_row: usize, out: &mut [i32]) {
        let blocks = self.columns.div_ceil(LANES);
        let whole = blocks - blocks % BLOCKS;
        for first in (0..whole).step_by(BLOCKS) {
            self.tile::<R, BLOCKS>(inputs, first_row, first, out);
        }
        for first in whole..blocks {
            self.tile::<R, 1>(inputs, first_row, first, out);
        }
    }

    /// Computes the products of some rows with some blocks of columns.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn tile<const R: usize, const N: usize>(
        &self,
        inputs: &Inputs,
        first_row: usize,
        first: usize,
        out: &mut [i32],
    ) {
        let rows: [&[i32]; R] = std::array::from_fn(|row| inputs.row(first_row + row));
        let weights: [&[[u8; BYTES]]; N] =
            std::array::from_fn(|block| &self.bytes[(first + block) * self.steps..][..self.steps]);
        let mut sums = [[_mm512_setzero_si512(); N]; R];
        for step in 0..self.steps {
            let weights = weights.map(|block| load(&block[step]));
            for (sums, row) in sums.iter_mut().zip(rows) {
                let input = _mm512_set1_epi32(row[step]);
                for (sum, weights) in sums.iter_mut().zip(weights) {
                    *sum = _mm512_dpbusd_epi32(*sum, weights, input);
                }
            }
        }
        let offsets = inputs.offsets[first_row..].iter();
        for ((row, offset), sums) in (first_row..).zip(offsets).zip(sums) {
            for (block, sum) in (first..).zip(sums) {
                let column = block * LANES;
                let end = self.columns.min(column + LANES);
                let products = to_array(_mm512_sub_epi32(sum, _mm512_set1_epi32(*offset)));
                let out = &mut out[row * self.columns..][column..end];
                out.copy_from_slice(&products[..end - column]);
            }
        }
    }
}

/// Returns a weight raised by the offset.
#[inline]
fn raised(weight: i8) -> u8 {
    weight.cast_unsigned() ^ OFFSET as u8
}

/// Inputs as bytes, four in a number, and what the raised weights add to the products of each row.
struct Inputs {
    steps: usize,
    fours: Vec<i32>,
    offsets: Vec<i32>,
}

impl Inputs {
    fn new(a: &[i16], steps: usize) -> Self {
        let fours = a.as_chunks::<STEP>().0.iter();
        let fours = fours.map(|four| i32::from_le_bytes(four.map(|value| value as u8)));
        let sum = |row: &[i16]| row.iter().map(|value| i32::from(*value)).sum::<i32>();
        let offsets = a.chunks_exact(steps * STEP).map(|row| OFFSET * sum(row)).collect();
        Self { steps, fours: fours.collect(), offsets }
    }

    /// Returns a row.
    #[inline]
    fn row(&self, row: usize) -> &[i32] {
        &self.fours[row * self.steps..][..self.steps]
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; BYTES]) -> __m512i {
    #[expect(unsafe_code, reason = "there is no safe way to load a register")]
    // SAFETY: the array is as long as the register, and the load asks for no alignment.
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn to_array(register: __m512i) -> [i32; LANES] {
    let mut numbers = [0; LANES];
    #[expect(unsafe_code, reason = "there is no safe way to store a register")]
    // SAFETY: the array is as long as the register, and the store asks for no alignment.
    unsafe {
        _mm512_storeu_si512(numbers.as_mut_ptr().cast(), register);
    }
    numbers
}
