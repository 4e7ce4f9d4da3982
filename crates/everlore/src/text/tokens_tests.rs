//! Tests of the estimate against the real counts of two vocabularies.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;

/// Returns the larger of the real counts.
fn exact_count(text: &str) -> usize {
    bpe_openai::cl100k_base().count(text).max(bpe_openai::o200k_base().count(text))
}

/// Returns the sample texts with their names.
fn samples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tokens");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// Returns the words, symbols and blanks of the samples, in snippets of a few.
fn snippets() -> Vec<String> {
    let all = samples();
    let words = all.iter().flat_map(|(_, text)| text.split_inclusive(char::is_whitespace));
    words.collect::<Vec<_>>().chunks(3).map(<[_]>::concat).collect()
}

fn vocabulary(tokenizer: &bpe_openai::Tokenizer) -> HashSet<Vec<u8>> {
    let tokens = 0..tokenizer.bpe.num_tokens() as u32;
    tokens.map(|token| tokenizer.bpe.token_bytes(token).to_vec()).collect()
}

fn table() -> Vec<TokenFingerprint> {
    let other = vocabulary(bpe_openai::o200k_base());
    let mut tokens: Vec<_> = vocabulary(bpe_openai::cl100k_base()).into_iter().collect();
    tokens.retain(|token| token.len() <= MAX_TOKEN_BYTES && other.contains(token));
    tokens.sort();
    let mut table = vec![EMPTY_BUCKET; BUCKETS];
    for token in tokens {
        let (mut bucket, fingerprint) = bucket_and_fingerprint(&token);
        while table[bucket] != EMPTY_BUCKET && table[bucket] != fingerprint {
            bucket = (bucket + 1) % BUCKETS;
        }
        table[bucket] = fingerprint;
    }
    table
}

#[test]
fn the_table_is_made_from_both_vocabularies() {
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/text/token_table.bin");
        fs::write(path, table().as_flattened()).unwrap();
    }
    assert!(table() == TOKEN_TABLE, "run `make docs` to write the table again, then build again");
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("tea"), 1);
    assert_eq!(estimate_tokens("茶"), exact_count("茶"));
}

#[test]
fn no_sample_is_underestimated() {
    for (name, text) in samples() {
        assert!(
            estimate_tokens(&text) >= exact_count(&text),
            "{name}: {} of {}",
            estimate_tokens(&text),
            exact_count(&text)
        );
    }
}

#[test]
fn the_mean_overestimate_is_below_eight_percent() {
    let over = |(_, text): &(String, String)| {
        estimate_tokens(text) as f64 / exact_count(text) as f64 - 1.0
    };
    let samples = samples();
    let mean = samples.iter().map(over).sum::<f64>() / samples.len() as f64;
    assert!(samples.len() >= 40 && mean < 0.08, "{mean:.3} over {} samples", samples.len());
}

#[test]
fn hostile_text_takes_linear_time() {
    for text in ["a", "A", "aB", " ", "\n", "'", "茶", "\u{301}", "👩", "7", ".a"] {
        let long = text.repeat((1 << 20) / text.len());
        assert!(estimate_tokens(&long) <= 2 * long.len());
    }
}

proptest! {
    #[test]
    fn mixtures_of_the_samples_are_not_underestimated(
        text in prop::collection::vec(prop::sample::select(snippets()), 12..80).prop_map(|it| it.concat())
    ) {
        prop_assert!(estimate_tokens(&text) >= exact_count(&text), "{} of {}", estimate_tokens(&text), exact_count(&text));
    }

    #[test]
    fn random_characters_are_not_underestimated(text in any::<String>()) {
        prop_assert!(estimate_tokens(&text) >= exact_count(&text), "{} of {}", estimate_tokens(&text), exact_count(&text));
    }

    #[test]
    fn random_ascii_is_not_underestimated(text in "[ -~\\n]{12,80}") {
        prop_assert!(estimate_tokens(&text) >= exact_count(&text), "{} of {}", estimate_tokens(&text), exact_count(&text));
    }

    #[test]
    fn a_word_that_is_repeated_is_not_underestimated(
        word in "[a-z]{2,12}|[A-Za-z]{2,10}|[а-я]{2,9}|[一-龥]{1,6}|[가-힣]{1,5}|[à-ÿ]{2,8}|[!-~]{2,8}", blank in "[ \n]",
        times in 20..200usize
    ) {
        let text = format!("{blank}{word}").repeat(times);
        prop_assert!(estimate_tokens(&text) >= exact_count(&text), "{} of {}", estimate_tokens(&text), exact_count(&text));
    }
}
