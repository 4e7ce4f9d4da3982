//! Tests of the terms of words and identifiers.

use super::*;

fn emitted(compound: &str) -> Vec<String> {
    let mut terms = Vec::new();
    TermEmitter::new(&mut |term| terms.push(term.to_owned())).emit_compound(compound);
    terms
}

#[test]
fn a_compound_ends_where_nothing_more_is_joined() {
    for (text, compound) in [
        ("src/store/mod.rs, then", "src/store/mod.rs"),
        ("std::vec::Vec<u8>", "std::vec::Vec"),
        ("https://docs.rs/serde?x=1", "https://docs.rs/serde"),
        (r"C:\Users\ann ", r"C:\Users\ann"),
        ("1,000,000 and", "1,000,000"),
        ("1,2,3", "1"),
        ("end. Next", "end"),
        ("don’t!", "don’t"),
        ("C盘", "C"),
        ("naïveté…", "naïveté"),
    ] {
        assert_eq!(&text[..compound_end(text)], compound);
    }
}

#[test]
fn identifiers_are_split_at_case_changes() {
    assert_eq!(emitted("parseHttpHeader"), ["parsehttphead", "pars", "http", "header"]);
    assert_eq!(emitted("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(emitted("JavaScript"), ["javascript", "java", "script"]);
    assert_eq!(emitted("iPhone15"), ["iphone15", "iphon", "phone", "15"]);
}

#[test]
fn a_name_in_mixed_case_is_found_in_lower_case() {
    for name in ["iPhone", "GitHub", "JavaScript", "APIs", "McDonalds"] {
        assert!(emitted(name).contains(&emitted(&name.to_lowercase())[0]), "{name}");
    }
}

#[test]
fn identifiers_are_split_at_their_joiners() {
    assert_eq!(emitted("max_retry_count"), ["max_retry_count", "max", "retri", "count"]);
    assert_eq!(emitted("ERR_CONN_RESET"), ["err_conn_reset", "err", "conn", "reset"]);
    assert_eq!(
        emitted("src/store/mod.rs"),
        ["src/store/mod.rs", "src", "store", "mod.rs", "mod", "rs"]
    );
    assert_eq!(emitted("std::vec::Vec"), ["std::vec::vec", "std", "vec", "vec"]);
    assert_eq!(
        emitted("ann@mail.example.com"),
        ["ann@mail.example.com", "ann", "mail.example.com", "mail", "exampl", "com"]
    );
}

#[test]
fn numbers_keep_their_points_and_lose_their_commas() {
    assert_eq!(emitted("3.14"), ["3.14"]);
    assert_eq!(emitted("9:30"), ["9:30"]);
    assert_eq!(emitted("1,000"), ["1000"]);
    assert_eq!(emitted("v1.2.3"), ["v1.2.3", "1.2.3"]);
    assert_eq!(emitted("E0382"), ["e0382", "0382"]);
    assert_eq!(emitted("2026-03-02"), ["2026-03-02", "2026", "03", "02"]);
}

#[test]
fn contractions_and_choices_of_stop_words_are_dropped() {
    for nothing in ["don't", "I’m", "they’ll", "and/or", "who's"] {
        assert_eq!(emitted(nothing), [""; 0], "{nothing}");
    }
    assert_eq!(emitted("Ann's"), ["ann"]);
    assert_eq!(emitted("AT&T"), ["at&t", "t"]);
    assert_eq!(emitted("O'Brien"), ["o'brien", "o", "brien"]);
}

#[test]
fn accents_do_not_matter_in_latin_words() {
    assert_eq!(emitted("Café"), emitted("cafe"));
    assert_eq!(emitted("Straße"), emitted("strasse"));
    assert_eq!(emitted("smørrebrød"), emitted("smorrebrod"));
}

#[test]
fn the_month_and_the_country_are_not_stop_words() {
    assert_eq!(emitted("May"), ["may"]);
    assert_eq!(emitted("may"), [""; 0]);
    assert_eq!(emitted("US"), ["us"]);
}

#[test]
fn hashes_are_kept_whole_and_long_runs_are_cut() {
    assert_eq!(emitted("3f9a1c7e2b"), ["3f9a1c7e2b"]);
    assert_eq!(emitted(&"x".repeat(100)), ["x".repeat(64)]);
    assert_eq!(emitted(&"ab/".repeat(40)[..119]), ["ab"; 40]);
}

#[test]
fn the_letters_taken_for_fixed_are_never_changed() {
    let stemmer = Stemmer::create(Algorithm::English);
    for start in ["nation", "yell", "commun", "generous", "hopp", "by"] {
        for end in ["a", "b", "f", "h", "j", "k", "o", "p", "u", "v", "w", "x", "z"] {
            let word = format!("{start}{end}");
            assert_eq!(stemmer.stem(&word), word);
        }
    }
}
