//! Tests of vectors in bytes.

use proptest::prelude::*;

use super::*;

fn vectors() -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-2.0_f32..2.0, 0..300)
}

fn bytes() -> impl Strategy<Value = Vec<i8>> {
    prop::collection::vec(any::<i8>(), 0..300)
}

#[test]
fn nothing_stays_nothing() {
    assert_eq!(Quantized::new(&[0.0; 4]), Quantized { scale: 0.0, values: vec![0; 4] });
    assert_eq!(Quantized::new(&[]), Quantized::default());
}

#[test]
fn components_that_are_no_numbers_count_as_zero() {
    let values = Quantized::new(&[f32::NAN, 1.0, f32::INFINITY, -0.5, f32::NEG_INFINITY]).values;
    assert_eq!(values, [0, 127, 0, -64, 0]);
}

#[test]
fn the_smallest_and_largest_numbers_do_not_overflow() {
    assert_eq!(Quantized::new(&[f32::MAX, -f32::MAX]).values, [127, -127]);
    let tiny = f32::from_bits(1);
    let values = Quantized::new(&[tiny, -tiny]).values;
    assert!(values == [0, 0] || values == [127, -127]);
}

#[test]
fn the_largest_sums_fit() {
    assert_eq!(dot(&[-128; 4096], &[-128_i8; 4096]), 4096 * 128 * 128);
}

proptest! {
    #[test]
    fn no_component_is_off_by_more_than_half_a_step(vector in vectors()) {
        let quantized = Quantized::new(&vector);
        for (ours, exact) in quantized.to_f32().iter().zip(&vector) {
            prop_assert!((ours - exact).abs() <= 0.5001 * quantized.scale);
        }
    }

    #[test]
    fn the_dot_product_is_near_the_exact_one(pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 1..300)) {
        let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
        let exact: f32 = pairs.iter().map(|(a, b)| a * b).sum();
        let ours = Quantized::new(&a).dot(&Quantized::new(&b));
        prop_assert!((ours - exact).abs() <= pairs.len() as f32 / 100.0);
    }

    #[test]
    fn the_order_of_two_vectors_does_not_matter(a in bytes(), b in bytes()) {
        prop_assert_eq!(dot(&a, &b), dot(&b, &a));
    }

    #[test]
    fn the_dot_product_is_the_sum_of_products(a in bytes(), b in bytes()) {
        let naive: i64 = a.iter().zip(&b).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
        prop_assert_eq!(i64::from(dot(&a, &b)), naive);
        prop_assert_eq!(i64::from(sum_of_products(&a, &b)), naive);
    }

    #[test]
    fn stored_bytes_give_the_same(a in vectors(), b in vectors()) {
        let (a, b) = (Quantized::new(&a), Quantized::new(&b));
        prop_assert_eq!(dot(&a.values, &b.to_bytes()), dot(&a.values, &b.values));
    }
}
