//! Numerals spelled out in English: three, twenty-eighth.

use super::lexicon::TimeWord;

/// Numbers from zero on, by their index.
#[rustfmt::skip]
pub(in crate::text) const CARDINALS: [&str; 20] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
];

/// Ordinals of [`CARDINALS`].
#[rustfmt::skip]
pub(in crate::text) const ORDINALS: [&str; 20] = [
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
];

/// Tens from twenty on, with their ordinals.
pub(in crate::text) const TENS: [(&str, &str); 8] = [
    ("twenty", "twentieth"),
    ("thirty", "thirtieth"),
    ("forty", "fortieth"),
    ("fifty", "fiftieth"),
    ("sixty", "sixtieth"),
    ("seventy", "seventieth"),
    ("eighty", "eightieth"),
    ("ninety", "ninetieth"),
];

/// Iterates over all numerals of one word, for the lexicon.
pub(super) fn numeral_words() -> impl Iterator<Item = (&'static str, TimeWord)> {
    let small = CARDINALS.into_iter().zip(ORDINALS).zip(0..);
    let tens = TENS.into_iter().zip((2..).map(|tens| tens * 10));
    small.chain(tens).flat_map(|((cardinal, ordinal), value)| {
        [
            (cardinal, TimeWord::Number { value, digits: 0 }),
            (ordinal, TimeWord::SpelledOrdinal(value)),
        ]
    })
}

/// Returns the numeral that `tens` and the word after it make, if they do: twenty-eight, twenty eighth.
pub(super) fn compound(tens: TimeWord, ones: TimeWord) -> Option<TimeWord> {
    let TimeWord::Number { value: tens @ (20 | 30 | 40 | 50 | 60 | 70 | 80 | 90), digits: 0 } =
        tens
    else {
        return None;
    };
    match ones {
        TimeWord::Number { value: ones @ 1..=9, digits: 0 } => {
            Some(TimeWord::Number { value: tens + ones, digits: 0 })
        }
        TimeWord::SpelledOrdinal(ones @ 1..=9) => Some(TimeWord::SpelledOrdinal(tens + ones)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tens_and_ones_make_one_number() {
        let number = |value| TimeWord::Number { value, digits: 0 };
        assert_eq!(
            compound(number(20), TimeWord::SpelledOrdinal(8)),
            Some(TimeWord::SpelledOrdinal(28))
        );
        assert_eq!(compound(number(90), number(9)), Some(number(99)));
        assert_eq!(compound(number(20), number(10)), None);
        assert_eq!(compound(number(3), number(2)), None);
        assert_eq!(compound(TimeWord::Number { value: 20, digits: 2 }, number(2)), None);
    }
}
