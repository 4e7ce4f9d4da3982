//! Vocabulary of the generated corpus: some 30,000 words in two languages plus identifiers, few of them frequent and
//! most of them rare, as in real text (Zipf's law).

use crate::random::SplitMix64;

/// Most frequent English words; they carry no meaning, so generated queries leave them out.
const ENGLISH_STOPWORDS: &str = "the to and a of i in is it that you for was on my we be with have this at are \
    but so as not me they he she do from or an if will just about what can would when there your our had been has were \
    then them did their out up by no how all one some her his more who could which also than into its only";

/// Most frequent Chinese words, left out in the same way.
const CHINESE_STOPWORDS: &str =
    "的 了 是 我 你 在 有 和 就 不 也 都 这 那 他 她 们 要 会 去 很 到 说 上 吗 吧 呢 与 及 把";

const ENGLISH_WORDS: usize = 17_000;
const CHINESE_WORDS: usize = 10_000;
const CODE_WORDS: usize = 3_000;

/// Language of a word, which decides how the word is joined to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordLanguage {
    English,
    Chinese,
    Code,
}

/// Word drawn from the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GeneratedWord {
    pub(crate) language: WordLanguage,
    pub(crate) text: String,
    /// Set for stop words.
    pub(crate) is_stopword: bool,
}

/// All words, most frequent first in each language.
pub(crate) struct Vocabulary {
    english: Lexicon,
    chinese: Lexicon,
    code: Lexicon,
}

struct Lexicon {
    words: Vec<String>,
    function_words: usize,
    /// Running sums of the weights 1 / (rank + 2), in integers so that every machine draws the same words.
    cumulative: Vec<u64>,
}

impl Vocabulary {
    /// Generates the vocabulary of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = SplitMix64::from_keys(&[seed, 0x776f_7264]);
        Self {
            english: Lexicon::new(ENGLISH_STOPWORDS, ENGLISH_WORDS, || english_word(&mut random)),
            chinese: Lexicon::new(CHINESE_STOPWORDS, CHINESE_WORDS, || chinese_word(&mut random)),
            code: Lexicon::new("", CODE_WORDS, || code_word(&mut random)),
        }
    }

    /// Draws a word, frequent ones more often.
    pub(crate) fn draw(&self, language: WordLanguage, random: &mut SplitMix64) -> GeneratedWord {
        if language == WordLanguage::Code && random.chance(50) {
            return GeneratedWord { language, text: rare_id(random), is_stopword: false };
        }
        let lexicon = self.lexicon(language);
        let rank = lexicon.rank(random);
        GeneratedWord {
            language,
            text: lexicon.words[rank].clone(),
            is_stopword: rank < lexicon.function_words,
        }
    }

    /// Draws a word that is no stop word, all with the same probability: a topic word of a session.
    pub(crate) fn topic(&self, language: WordLanguage, random: &mut SplitMix64) -> GeneratedWord {
        let lexicon = self.lexicon(language);
        let span = (lexicon.words.len() - lexicon.function_words) as u64;
        let rank = lexicon.function_words + random.below(span) as usize;
        GeneratedWord { language, text: lexicon.words[rank].clone(), is_stopword: false }
    }

    fn lexicon(&self, language: WordLanguage) -> &Lexicon {
        match language {
            WordLanguage::English => &self.english,
            WordLanguage::Chinese => &self.chinese,
            WordLanguage::Code => &self.code,
        }
    }
}

impl Lexicon {
    fn new(function: &str, count: usize, mut make: impl FnMut() -> String) -> Self {
        let mut words: Vec<_> = function.split_whitespace().map(str::to_owned).collect();
        let function_words = words.len();
        words.extend((0..count).map(|_| make()));
        let cumulative = (0..words.len() as u64)
            .scan(0, |sum, rank| {
                *sum += (1_u64 << 40) / (rank + 2);
                Some(*sum)
            })
            .collect();
        Self { words, function_words, cumulative }
    }

    fn rank(&self, random: &mut SplitMix64) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let drawn = random.below(total);
        self.cumulative.partition_point(|sum| *sum <= drawn)
    }
}

/// Generates a word of two to four syllables, with enough onsets and endings that letter triples are spread about as in
/// English.
fn english_word(random: &mut SplitMix64) -> String {
    const ONSETS: &str = "b c d f g h j k l m n p r s t v w y st tr pr ch sh th br cl gr pl sp";
    const VOWELS: &str = "a e i o u a e i o ea ou ai ee";
    const ENDINGS: &str = "_ _ _ n r s t l m ng ck nd st ly ed er";
    let parts = |list: &'static str| list.split(' ').collect::<Vec<_>>();
    let (onsets, vowels, endings) = (parts(ONSETS), parts(VOWELS), parts(ENDINGS));
    let syllables = 1 + random.below(2) + random.below(3);
    let mut word = String::new();
    for _ in 0..syllables {
        word.push_str(random.pick(&onsets));
        word.push_str(random.pick(&vowels));
    }
    let ending = random.pick(&endings);
    word.push_str(ending.trim_matches('_'));
    word
}

/// Generates a word of one to three of 2,500 characters, mostly two; the smaller of two draws makes some characters
/// frequent.
fn chinese_word(random: &mut SplitMix64) -> String {
    let length = random.pick(&[1, 2, 2, 2, 2, 2, 3, 3]);
    let character = |random: &mut SplitMix64| {
        let index = random.below(2_500).min(random.below(2_500)) as u32;
        char::from_u32(0x4e00 + index * 8).unwrap_or('一')
    };
    (0..length).map(|_| character(random)).collect()
}

/// Generates an identifier: `load_config` or `LoadConfig`.
fn code_word(random: &mut SplitMix64) -> String {
    let (first, second) = (english_word(random), english_word(random));
    if random.chance(60) {
        format!("{first}_{second}")
    } else {
        capital(&first) + &capital(&second)
    }
}

/// Generates an identifier that hardly ever occurs twice: a ticket, an invoice, an error code.
fn rare_id(random: &mut SplitMix64) -> String {
    let prefix = random.pick(&["INV", "ERR", "PR", "ticket", "build"]);
    format!("{prefix}-{}", random.below(1_000_000))
}

fn capital(word: &str) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_words_are_frequent_and_most_are_rare() {
        let vocabulary = Vocabulary::new(1);
        let mut random = SplitMix64::from_keys(&[2]);
        let draws: Vec<_> =
            (0..10_000).map(|_| vocabulary.draw(WordLanguage::English, &mut random)).collect();
        let function = draws.iter().filter(|word| word.is_stopword).count();
        let distinct: std::collections::HashSet<_> = draws.iter().map(|word| &word.text).collect();
        assert!((3_000..6_000).contains(&function), "{function} of 10,000 carry no meaning");
        assert!((2_000..6_000).contains(&distinct.len()), "{} distinct words", distinct.len());
    }
}
