//! The one hot loop of recall by meaning.

/// The sum of the products of a query's bytes and those of a stored vector, which lie in the store as plain bytes.
///
/// Measured for 256 of them: 10 ns with AVX2, 20 ns with what every x86-64 has; the plain loop takes 48 ns.
pub fn dot(query: &[i8], stored: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the hot kernel of every recall, twice as fast with AVX2")]
        // SAFETY: the processor has just said that it knows these instructions.
        return unsafe { dot_avx2(query, stored) };
    }
    sum_of_products(query, stored)
}

/// The same source for newer processors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(query: &[i8], stored: &[u8]) -> i32 {
    sum_of_products(query, stored)
}

/// Sums in pieces of 32, because the compiler then multiplies and adds eight or sixteen pairs at once.
#[inline(always)]
fn sum_of_products(query: &[i8], stored: &[u8]) -> i32 {
    let length = query.len().min(stored.len());
    let (wholes_a, rest_a) = query[..length].as_chunks::<32>();
    let (wholes_b, rest_b) = stored[..length].as_chunks::<32>();
    let wholes = wholes_a.iter().zip(wholes_b).map(|(a, b)| plain(a, b));
    wholes.sum::<i32>() + plain(rest_a, rest_b)
}

#[inline(always)]
fn plain(query: &[i8], stored: &[u8]) -> i32 {
    // The product of two bytes fits into 16 bits.
    let product = |(&a, &b): (&i8, &u8)| i32::from(i16::from(a) * i16::from(b.cast_signed()));
    query.iter().zip(stored).map(product).sum()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    proptest! {
        #[test]
        fn every_way_of_summing_gives_the_same(query in vec(any::<i8>(), 0..300), stored in vec(any::<u8>(), 0..300)) {
            let one_by_one: i32 =
                query.iter().zip(&stored).map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum();
            prop_assert_eq!(dot(&query, &stored), one_by_one);
            prop_assert_eq!(sum_of_products(&query, &stored), one_by_one);
        }
    }
}
