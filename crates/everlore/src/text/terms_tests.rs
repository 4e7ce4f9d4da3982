//! Tests of terms: which texts match which queries, in English and Chinese alike.

use proptest::prelude::*;

use super::*;

fn shared(stored: &str, query: &str) -> Vec<String> {
    let stored = terms(stored);
    terms(query).into_iter().filter(|term| stored.contains(term)).collect()
}

fn assert_found(pairs: &[(&str, &str)]) {
    for (stored, query) in pairs {
        assert_ne!(shared(stored, query), [""; 0], "{query:?} in {stored:?}");
    }
}

fn assert_term(pairs: &[(&str, &str)]) {
    for (text, term) in pairs {
        assert!(terms(text).iter().any(|it| it == term), "{term:?} of {text:?}: {:?}", terms(text));
    }
}

#[test]
fn chinese_words_are_found_in_sentences() {
    assert_found(&[
        ("喜欢喝茶", "茶"),
        ("新设备已经到了", "设备"),
        ("用微信支付了账单", "支付"),
        ("每天早上看早报", "早报"),
        ("所有界面中文优先", "中文"),
        ("周末一起玩成语接龙", "成语接龙"),
        ("友達としりとりをした", "しりとり"),
        ("주말에 끝말잇기를 했다", "끝말잇기"),
        ("コーヒーが好き", "コーヒー"),
    ]);
}

#[test]
fn english_words_are_found_in_sentences() {
    assert_found(&[
        ("She likes drinking tea", "tea"),
        ("The new devices arrived", "device"),
        ("Paid the bill by bank transfer", "payments and bills"),
        ("Ann’s running shoes", "does ann run?"),
        ("We met at the café", "CAFE"),
        ("He takes vitamin C", "c"),
    ]);
}

#[test]
fn mixed_scripts_are_found_by_either_side_and_by_both() {
    assert_found(&[
        ("清理了C盘的空间", "C盘"),
        ("清理了C盘的空间", "c盘"),
        ("清理了C盘的空间", "盘"),
        ("修改API配置", "API配置"),
        ("修改API配置", "配置"),
        ("修改API配置", "api"),
        ("后端用Rust写", "rust"),
        ("买了iPhone手机", "iphone"),
    ]);
    assert_term(&[
        ("C盘", "c盘"),
        ("API配置", "api配"),
        ("用Rust写", "用rust"),
        ("用Rust写", "rust写"),
        ("iPhone手机", "iphone手"),
        ("9点半出发", "9点"),
        ("2024年3月", "3月"),
    ]);
}

#[test]
fn function_characters_alone_are_no_terms() {
    assert_eq!(terms("的"), [""; 0]);
    assert_eq!(terms("我们是什么"), [""; 0]);
    assert_eq!(terms("who are they?"), [""; 0]);
    assert_eq!(terms("我的茶"), ["茶", "的茶"]);
}

#[test]
fn width_does_not_matter() {
    assert_eq!(terms("ＡＢＣ１２３"), terms("ABC123"));
    assert_eq!(terms("ＡＢＣ１２３"), ["abc123", "abc", "123"]);
    assert_eq!(terms("ﾃｽﾄ"), terms("テスト"));
}

#[test]
fn voiced_kana_and_hangul_stay_composed() {
    assert_eq!(shared("ハンド", "パンダ"), ["ン"]);
    assert_eq!(terms("\u{1112}\u{1161}\u{11ab}"), ["한"]);
    assert_eq!(terms("か\u{3099}っこう"), terms("がっこう"));
}

#[test]
fn languages_named_with_symbols_are_terms() {
    assert_term(&[
        ("I write C++.", "c++"),
        ("C# or F#?", "c#"),
        ("C# or F#?", "f#"),
        ("a .NET shop", ".net"),
        ("a .NET shop", "net"),
        ("set it in .env", ".env"),
    ]);
    assert_eq!(terms("well...net"), ["well", "net"]);
}

#[test]
fn identifiers_are_found_whole_and_in_parts() {
    assert_found(&[
        ("see src/store/mod.rs:42", "mod.rs"),
        ("error[E0382]: use of moved value", "e0382"),
        ("failed with 0x80070005", "0x80070005"),
        ("got HTTP 404 again", "404"),
        ("upgraded to v1.2.3", "1.2.3"),
        ("docs at https://docs.rs/serde/latest", "docs.rs"),
        ("thanks @alice_w #RustLang", "rust alice_w"),
        ("costs $5 or 3.5%", "5"),
        ("alarm at 3:30", "3:30"),
        ("paid 1,000", "1000"),
        ("call parseHTTPHeader()", "http header"),
    ]);
}

#[test]
fn pictures_are_found_whatever_their_skin() {
    assert_found(&[("party 🎉🎉", "🎉"), ("👍🏽 agreed", "👍"), ("❤️", "❤"), ("去🇨🇳玩", "🇨🇳")]);
    assert_eq!(terms("🎉🎂"), ["🎉", "🎂"]);
    assert_eq!(terms("👩\u{200d}💻"), ["👩💻"]);
    assert_eq!(terms("🇨🇳🇯🇵"), ["🇨🇳", "🇯🇵"]);
}

#[test]
fn other_scripts_are_words_and_thai_is_pairs() {
    assert_found(&[
        ("Живу в Москве", "москве"),
        ("ΟΔΟΣ", "οδος"),
        ("مرحبا بالعالم", "مرحبا"),
        ("हिन्दी भाषा", "हिन्दी"),
        ("ผมชอบดื่มกาแฟ", "กาแฟ"),
    ]);
    assert_eq!(terms("й"), ["й"]);
}

#[test]
fn punctuation_of_query_languages_is_harmless() {
    for symbol in "\"*:^()-?'%&|!~+#@$\\/[]{}<>=;,.`".chars() {
        assert_eq!(terms(&symbol.to_string()), [""; 0]);
        assert!(
            terms(&format!("{symbol}tea{symbol}")).iter().any(|term| term == "tea"),
            "{symbol}"
        );
    }
    assert_eq!(terms("NEAR(\"tea\" OR 'milk*')"), ["near", "tea", "milk"]);
    assert_eq!(terms("tea\0milk"), ["tea", "milk"]);
}

#[test]
fn only_single_characters_are_single() {
    assert!(is_single_cjk("茶") && is_single_cjk("한"));
    assert!(
        !is_single_cjk("喝茶")
            && !is_single_cjk("c")
            && !is_single_cjk("c盘")
            && !is_single_cjk("")
    );
}

/// Stored on disk: when this test fails, raise [`TERMS_VERSION`].
#[test]
fn the_numbers_of_terms_never_change() {
    assert_eq!(TermHash::of(""), TermHash(0x2d06_8005_38d3_94c2));
    assert_eq!(TermHash::of("tea"), TermHash(0xb9fb_b2c1_0201_d480));
    assert_eq!(TermHash::of("茶"), TermHash(0xef7f_d3d3_77d1_9bfd));
    assert_eq!(TermHash::of("src/store/mod.rs"), TermHash(0x3a9f_653d_7ce5_2e0f));
}

/// Stored on disk: when this test fails, raise [`TERMS_VERSION`].
#[test]
fn the_terms_of_a_mixed_text_never_change() {
    let text = "Ann's 3 devices don't sync: 清理了C盘, see src/main.rs (v1.2) 🎉";
    assert_eq!(
        terms(text).join(" "),
        "ann 3 devic sync 清 理 清理 理了 c c盘 盘 see src/main.rs src main.rs main rs v1.2 1.2 🎉"
    );
}

#[test]
fn hostile_text_takes_linear_time() {
    let mega = 1 << 20;
    for text in [
        "a",
        "a_",
        "a/",
        "A",
        "aB",
        "a1",
        "\u{301}",
        "e\u{301}",
        "茶",
        "。",
        "1.",
        "a'",
        "👩\u{200d}",
        ":",
        "ก",
    ] {
        let long = text.repeat(mega / text.len());
        let mut chars = 0;
        for_each_term(&long, &mut |term| chars += term.chars().count());
        assert!(chars <= 4 * mega, "{text:?} made {chars}");
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9_./:'#+,-]{0,12}",
        "\\p{Han}{0,4}",
        Just("的C盘".to_owned()),
        Just("👍🏽e\u{301}".to_owned()),
    ];
    prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_term_is_short_and_solid(text in any_text()) {
        for term in terms(&text) {
            prop_assert!(!term.is_empty() && term.chars().count() <= MAX_TERM_CHARS);
            prop_assert!(!term.contains(char::is_whitespace) && !term.contains(char::is_control));
        }
    }

    #[test]
    fn lines_do_not_touch_each_other(a in any_text(), b in any_text()) {
        let both = [terms(&a), terms(&b)].concat();
        prop_assert_eq!(terms(&format!("{a}\n{b}")), both);
    }

    #[test]
    fn a_text_is_found_by_itself_in_any_case(text in "[A-Za-z ]{0,40}") {
        let stored = terms(&text.to_uppercase());
        for term in terms(&text.to_lowercase()) {
            prop_assert!(stored.contains(&term));
        }
    }
}
