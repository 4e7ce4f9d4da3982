//! Figures of a text, however they are written: 1450, 1,450, "ten", 十, 1.5万.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use crate::text::fold::normalize_nfkc;

/// Digits with separators, and the unit behind them.
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(\d+(?:,\d{3})+|\d+)(\.\d+)?\s*(k\b|thousand|million|m\b|百|千|万|亿)?")
        .expect("valid")
});

/// Marks of a clock time, where 3 and 15 are one hour.
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\d\s*(?:am|pm|a\.m|p\.m|o'clock|点|时|:\d\d)|[上下]午|晚上|傍晚|evening|morning|noon",
    )
    .expect("valid")
});

static CHINESE_NUMERAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[零〇一二两三四五六七八九十百千]+").expect("valid"));

#[rustfmt::skip]
const ENGLISH_NUMERALS: [(&str, u64); 42] = [
    ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8),
    ("nine", 9), ("ten", 10), ("eleven", 11), ("twelve", 12), ("thirteen", 13), ("fourteen", 14), ("fifteen", 15),
    ("sixteen", 16), ("seventeen", 17), ("eighteen", 18), ("nineteen", 19), ("twenty", 20), ("thirty", 30), ("forty", 40),
    ("fifty", 50), ("sixty", 60), ("seventy", 70), ("eighty", 80), ("ninety", 90), ("hundred", 100), ("thousand", 1000),
    ("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("fifth", 5), ("sixth", 6), ("seventh", 7), ("eighth", 8),
    ("ninth", 9), ("tenth", 10), ("twice", 2), ("dozen", 12),
];

/// Returns the figures written in digits, each with its value in thousandths, by every reading.
pub(crate) fn digits_in(text: &str) -> Vec<Vec<u64>> {
    // A full hour has no minutes.
    let text = normalize_nfkc(text).replace(":00", " ");
    DIGITS.captures_iter(&text).filter_map(|figure| readings(&figure)).collect()
}

/// Returns every figure that a text may name, in thousandths: by digits and by words, with and without units, and hours
/// of a clock by both counts.
pub(crate) fn figures_in(text: &str) -> BTreeSet<u64> {
    let mut figures: BTreeSet<u64> = digits_in(text).into_iter().flatten().collect();
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphabetic()).collect();
    let value = |word: &str| {
        ENGLISH_NUMERALS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
    };
    for (at, word) in words.iter().enumerate() {
        let Some(tens) = value(word) else { continue };
        figures.insert(tens * 1000);
        let ones = words.get(at + 1).and_then(|word| value(word)).filter(|ones| *ones < 10);
        figures.extend(ones.filter(|_| (20..100).contains(&tens)).map(|ones| (tens + ones) * 1000));
    }
    figures.extend(
        CHINESE_NUMERAL.find_iter(text).map(|numeral| chinese_value(numeral.as_str()) * 1000),
    );
    if CLOCK.is_match(text) {
        let hours: Vec<u64> = figures.iter().copied().filter(|hour| *hour < 24_000).collect();
        figures.extend(hours.iter().map(|hour| (hour + 12_000) % 24_000));
    }
    figures
}

/// Returns the values of a figure: alone, and multiplied by its unit.
fn readings(figure: &regex::Captures<'_>) -> Option<Vec<u64>> {
    let whole: u64 = figure[1].replace(',', "").parse().ok()?;
    let part = figure.get(2).map_or(0, |part| thousandths(&part.as_str()[1..]));
    let value = whole.checked_mul(1000)?.checked_add(part)?;
    let unit = match figure.get(3).map(|unit| unit.as_str().to_lowercase()).as_deref() {
        Some("百") => 100,
        Some("k" | "thousand" | "千") => 1_000,
        Some("万") => 10_000,
        Some("m" | "million") => 1_000_000,
        Some("亿") => 100_000_000,
        _ => 1,
    };
    Some(vec![value, value.saturating_mul(unit)])
}

fn thousandths(decimals: &str) -> u64 {
    format!("{decimals:0<3}")[..3].parse().unwrap_or_default()
}

/// Returns the value of a Chinese numeral: 十五, 三百二十, or digits in a row, 二〇二六.
fn chinese_value(numeral: &str) -> u64 {
    let digit = |c: char| match c {
        '两' => Some(2),
        '〇' => Some(0),
        c => "零一二三四五六七八九".chars().position(|digit| digit == c).map(|at| at as u64),
    };
    if numeral.chars().all(|c| digit(c).is_some()) {
        let digits = numeral.chars().filter_map(digit);
        return digits.fold(0, |value: u64, digit| value.saturating_mul(10).saturating_add(digit))
            % 1_000_000_000;
    }
    let (mut total, mut pending) = (0_u64, None);
    for c in numeral.chars() {
        let unit = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            _ => {
                pending = digit(c);
                continue;
            }
        };
        total = total.saturating_add(pending.take().unwrap_or(1) * unit);
    }
    total.saturating_add(pending.unwrap_or_default()) % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_the_same_in_digits_and_in_words() {
        for (text, value) in [
            ("My rent is 1,450 euros", 1_450_000),
            ("twenty five people", 25_000),
            ("for ten years", 10_000),
            ("on the fifth floor", 5_000),
            ("at 3 pm", 15_000),
            ("下午三点", 15_000),
            ("我写了十五年", 15_000),
            ("三百二十元", 320_000),
            ("1.5万元", 15_000_000),
            ("１４５０元", 1_450_000),
            ("60k a year", 60_000_000),
        ] {
            assert!(figures_in(text).contains(&value), "{text}: {:?}", figures_in(text));
        }
        assert!(!figures_in("My rent is 1450").contains(&9_999_000));
    }
}
