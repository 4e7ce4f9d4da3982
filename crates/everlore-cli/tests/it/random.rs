//! Random numbers of tests, seeded by `EVERLORE_TEST_SEED`. A test that fails prints its seed.
//!
//! The tests of the command line include this file too.

use std::hash::{BuildHasher, RandomState};

/// Environment variable with the seed; without it each run has another one.
const SEED_VARIABLE: &str = "EVERLORE_TEST_SEED";

/// Xorshift generator: the moments of kills need to be many, not secret.
pub(crate) struct TestRandom {
    state: u64,
    /// Seed to print if the test fails; `None` for a generator that follows from another one.
    printed_seed: Option<u64>,
}

impl TestRandom {
    /// Returns a generator with the seed of the environment, or with a random one.
    pub(crate) fn new() -> Self {
        Self::new_or(RandomState::new().hash_one(SEED_VARIABLE))
    }

    /// Returns a generator with the seed of the environment, or with this one.
    pub(crate) fn new_or(usual: u64) -> Self {
        let given = std::env::var(SEED_VARIABLE).ok();
        let seed = given.map_or(usual, |seed| {
            seed.parse().unwrap_or_else(|_| panic!("{SEED_VARIABLE} is no number: {seed}"))
        });
        Self { printed_seed: Some(seed), ..Self::with_seed(seed) }
    }

    /// Returns a generator that prints nothing.
    pub(crate) fn with_seed(seed: u64) -> Self {
        Self { state: seed | 1, printed_seed: None }
    }

    /// Returns a number below a limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % limit as u64) as usize
    }
}

impl Drop for TestRandom {
    fn drop(&mut self) {
        if let Some(seed) = self.printed_seed.filter(|_| std::thread::panicking()) {
            #[expect(clippy::print_stderr, reason = "the output of a failed test names its seed")]
            {
                eprintln!("repeat with {SEED_VARIABLE}={seed}");
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let numbers = |seed: u64| {
        let mut random = TestRandom::with_seed(seed);
        (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(7), numbers(7));
    assert_ne!(numbers(7), numbers(8));
}
