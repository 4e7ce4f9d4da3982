//! Stop words and function characters: too common to find anything by.

/// Returns `true` if a lower-case English word says nothing by itself.
pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= MAX_STOP_WORD_BYTES && STOP_WORDS.binary_search(&word).is_ok()
}

/// Returns `true` if a Chinese, Japanese or Korean character mostly serves grammar.
pub(crate) fn is_function_character(c: char) -> bool {
    is_chinese_function(c)
        || matches!(
            c,
            'は' | 'が'
                | 'を'
                | 'に'
                | 'の'
                | 'で'
                | 'と'
                | 'も'
                | 'か'
                | 'へ'
                | 'や'
                | 'ね'
                | 'よ'
        )
        || matches!(c, '은' | '는' | '이' | '가' | '을' | '를' | '의' | '에' | '도' | '와' | '과')
}

#[rustfmt::skip]
fn is_chinese_function(c: char) -> bool {
    matches!(c,
        '的' | '了' | '是' | '在' | '我' | '你' | '您' | '他' | '她' | '它' | '们' | '們' | '和' | '与' | '與'
        | '及' | '或' | '而' | '就' | '都' | '也' | '很' | '吗' | '嗎' | '呢' | '吧' | '啊' | '呀' | '哦' | '嘛'
        | '什' | '么' | '麼' | '怎' | '哪' | '谁' | '誰' | '这' | '這' | '那' | '有' | '没' | '沒' | '不' | '个'
        | '個' | '些' | '之' | '其' | '把' | '被' | '让' | '讓' | '给' | '給' | '对' | '對' | '从' | '從' | '到'
        | '为' | '為' | '以' | '于' | '於' | '因' | '所' | '但' | '还' | '還' | '又' | '再' | '着' | '著' | '得'
        | '地' | '会' | '會' | '能' | '可' | '要' | '想' | '请' | '請' | '几' | '幾')
}

/// Bytes of the longest stop word.
const MAX_STOP_WORD_BYTES: usize = 10;

/// Stop words, sorted for binary search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "across", "after", "again", "against", "ain't", "all", "also", "although", "am",
    "among", "an", "and", "any", "anyone", "anything", "are", "aren't", "as", "at", "be", "because", "been",
    "before", "being", "below", "between", "both", "but", "by", "can", "can't", "cannot", "cant", "could",
    "couldn't", "did", "didn't", "didnt", "do", "does", "doesn't", "doesnt", "doing", "don't", "done", "dont",
    "down", "during", "each", "else", "etc", "even", "ever", "everyone", "everything", "few", "for", "from",
    "further", "get", "gets", "getting", "got", "had", "hadn't", "has", "hasn't", "have", "haven't", "having",
    "he", "he'd", "he'll", "he's", "her", "here", "here's", "hers", "herself", "him", "himself", "his", "how",
    "how's", "i", "i'd", "i'll", "i'm", "i've", "if", "im", "in", "into", "is", "isn't", "isnt", "it", "it'd",
    "it'll", "it's", "its", "itself", "ive", "just", "let", "let's", "many", "may", "me", "might", "mightn't",
    "mine", "more", "most", "much", "must", "mustn't", "my", "myself", "needn't", "no", "nor", "not",
    "nothing", "of", "off", "oh", "ok", "okay", "on", "once", "only", "onto", "or", "other", "ought", "our",
    "ours", "ourselves", "out", "over", "own", "per", "same", "shall", "shan't", "she", "she'd", "she'll",
    "she's", "should", "shouldn't", "so", "some", "someone", "something", "still", "such", "than", "that",
    "that'd", "that'll", "that's", "thats", "the", "their", "theirs", "them", "themselves", "then", "there",
    "there'll", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this", "those",
    "though", "through", "to", "too", "toward", "towards", "under", "unless", "until", "up", "upon", "us",
    "very", "via", "was", "wasn't", "wasnt", "we", "we'd", "we'll", "we're", "we've", "were", "weren't",
    "what", "what'll", "what're", "what's", "whats", "when", "when's", "where", "where's", "whether", "which",
    "while", "who", "who'd", "who'll", "who's", "whom", "whose", "why", "why's", "will", "with", "within",
    "without", "won't", "wont", "would", "wouldn't", "y'all", "yeah", "yes", "yet", "you", "you'd", "you'll",
    "you're", "you've", "your", "youre", "yours", "yourself", "yourselves",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_and_their_length_is_known() {
        assert!(STOP_WORDS.is_sorted_by(|a, b| a < b));
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(MAX_STOP_WORD_BYTES));
    }

    #[test]
    fn question_words_and_contractions_are_stop_words() {
        assert!(["who", "when", "don't", "i'm", "would", "through"].into_iter().all(is_stop_word));
        assert!(!["tea", "not-a-word", "home", ""].into_iter().any(is_stop_word));
    }
}
