//! Language detection by the scripts of the letters: cheap, and enough to choose a model or a wording.

use unicode_normalization::char::is_combining_mark;

/// Language that a text is treated as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Mostly Latin letters.
    English,
    /// Mostly Han characters.
    Chinese,
    /// Han characters among kana.
    Japanese,
    /// Mostly Hangul.
    Korean,
    /// Another script, or no letters at all.
    Other,
}

/// Latin letters that say as much as one Han character or syllable, about.
const LETTERS_PER_CJK: usize = 3;

/// One kana in so many letters makes a text Japanese; Chinese text quotes a kana now and then.
const MIN_KANA_SHARE: usize = 10;

/// Returns the language of most of `text`.
pub fn detect_language(text: &str) -> Language {
    let count = ScriptCounts::of(text);
    let cjk = count.cjk() * LETTERS_PER_CJK;
    if cjk == 0 && count.latin == 0 || count.other > cjk.max(count.latin) {
        Language::Other
    } else if count.latin > cjk {
        Language::English
    } else if count.hangul > count.han + count.kana {
        Language::Korean
    } else if count.kana * MIN_KANA_SHARE > count.cjk() {
        Language::Japanese
    } else {
        Language::Chinese
    }
}

/// Returns the share of Chinese, Japanese and Korean characters among the letters of `text`, from 0 to 1.
#[cfg(any(test, feature = "local-model"))]
pub(crate) fn cjk_share(text: &str) -> f64 {
    let count = ScriptCounts::of(text);
    let letters = count.cjk() + count.latin + count.other;
    if letters == 0 { 0.0 } else { count.cjk() as f64 / letters as f64 }
}

/// Returns `true` if `c` is a Han character, kana, bopomofo or Hangul.
pub(crate) fn is_cjk(c: char) -> bool {
    is_han(c) || is_kana(c) || is_hangul(c)
}

/// Script of a character, by the way its letters make up terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Latin letters and ASCII digits: words and identifiers.
    Latin,
    /// Characters that are words, written without spaces.
    Cjk,
    /// Letters written without spaces between words: Thai, Lao, Burmese, Khmer.
    Unspaced,
    /// Any other letters, in words.
    Other,
    /// Combining mark, which goes with the letter before it.
    Mark,
    /// Emoji.
    Emoji,
    /// Spaces, punctuation and symbols.
    None,
}

/// Returns the script of `c`.
pub(super) fn script_of(c: char) -> Script {
    match c {
        '0'..='9' | 'A'..='Z' | 'a'..='z' => Script::Latin,
        '\0'..='\x7f' => Script::None,
        _ if is_cjk(c) => Script::Cjk,
        '\u{200c}' | '\u{200d}' => Script::Mark,
        _ if is_emoji(c) => Script::Emoji,
        _ if is_unspaced(c) && (c.is_alphanumeric() || is_combining_mark(c)) => Script::Unspaced,
        _ if is_combining_mark(c) => Script::Mark,
        _ if is_latin_beyond_ascii(c) => Script::Latin,
        _ if c.is_alphanumeric() => Script::Other,
        _ => Script::None,
    }
}

/// Number of letters of each script in a text.
#[derive(Default)]
struct ScriptCounts {
    han: usize,
    kana: usize,
    hangul: usize,
    latin: usize,
    other: usize,
}

impl ScriptCounts {
    fn of(text: &str) -> Self {
        let mut count = Self::default();
        text.chars().for_each(|c| count.add(c));
        count
    }

    fn add(&mut self, c: char) {
        match c {
            '\0'..='\x7f' => self.latin += usize::from(c.is_ascii_alphabetic()),
            _ if is_han(c) => self.han += 1,
            _ if is_kana(c) => self.kana += 1,
            _ if is_hangul(c) => self.hangul += 1,
            _ if is_latin_beyond_ascii(c) => self.latin += 1,
            _ => self.other += usize::from(c.is_alphabetic()),
        }
    }

    fn cjk(&self) -> usize {
        self.han + self.kana + self.hangul
    }
}

/// Returns `true` for radicals, 々 and 〇, bopomofo, the unified blocks, the compatibility block, and the two ideographic
/// planes.
fn is_han(c: char) -> bool {
    matches!(c,
        '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns `true` for Hiragana, Katakana with the long vowel mark, their half-width and extended forms; not for the
/// middle dot.
fn is_kana(c: char) -> bool {
    matches!(c,
        '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}'
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}')
}

/// Returns `true` for syllables, letters and their half-width forms.
fn is_hangul(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11ff}' | '\u{3131}'..='\u{318e}' | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{d7b0}'..='\u{d7fb}' | '\u{ffa0}'..='\u{ffdc}')
}

/// Returns `true` for Thai and Lao, Burmese, Khmer.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

fn is_latin_beyond_ascii(c: char) -> bool {
    matches!(c,
        'ª' | 'º' | '\u{c0}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}'
        | '\u{a722}'..='\u{a7ff}' | '\u{ab30}'..='\u{ab64}')
        && c.is_alphabetic()
}

/// Returns `true` for pictures, weather and zodiac signs, clocks, stars and flags; not for arrows and mathematics.
fn is_emoji(c: char) -> bool {
    matches!(c,
        '\u{231a}' | '\u{231b}' | '\u{23e9}'..='\u{23fa}' | '\u{2600}'..='\u{27bf}'
        | '\u{2b50}' | '\u{2b55}' | '\u{1f004}' | '\u{1f0cf}' | '\u{1f1e6}'..='\u{1f1ff}'
        | '\u{1f300}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_known_by_its_script() {
        assert_eq!(detect_language("Where does she live?"), Language::English);
        assert_eq!(detect_language("她住在哪里？"), Language::Chinese);
        assert_eq!(detect_language("彼女はどこに住んでいますか"), Language::Japanese);
        assert_eq!(detect_language("그녀는 어디에 살아요?"), Language::Korean);
        assert_eq!(detect_language("Где она живёт?"), Language::Other);
        assert_eq!(detect_language("42 %!"), Language::Other);
        assert_eq!(detect_language(""), Language::Other);
    }

    #[test]
    fn a_few_foreign_words_do_not_change_the_language() {
        assert_eq!(detect_language("我用 Rust 写后端服务，部署在 Docker 上"), Language::Chinese);
        assert_eq!(detect_language("The word 茶 means tea, she told me"), Language::English);
    }

    #[test]
    fn the_share_counts_letters_only() {
        assert_eq!(cjk_share("茶 = tea!"), 0.25);
        assert_eq!(cjk_share("12:30"), 0.0);
        assert_eq!(cjk_share("喝茶"), 1.0);
    }

    #[test]
    fn rare_ideographs_and_narrow_kana_are_cjk() {
        assert!(['𠮷', '㐂', '々', '〇', 'ﾃ', 'ー', 'ㄅ', '한', 'ㅋ'].into_iter().all(is_cjk));
        assert!(!['a', '・', '。', 'é', 'ж', '🎉'].into_iter().any(is_cjk));
    }
}
