//! Numbers, dates in digits and lists of weekdays, for the lexer.

use super::lexer::is_han;
use super::rule::{ALL_WEEKDAYS, WORKDAYS};
use super::word::{Unit, Word};

const WEEK_NAMES: &[&str] = &["星期", "礼拜", "星其", "礼败", "周", "洲", "週"];

/// Returns the mark that follows a Chinese number: 点, 分, 号, and where it ends.
pub(super) fn mark(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let next = chars.get(at + 1).copied();
    let two = |word| Some((word, at + 2));
    let one = |word| Some((word, at + 1));
    match (chars[at], next) {
        ('点', Some('钟')) => two(Word::HourMark),
        ('分', Some('钟' | '种')) => two(Word::Unit(Unit::Minute)),
        ('月', Some('份')) => two(Word::MonthMark),
        ('月', Some('底' | '末')) => {
            two(Word::PeriodEdge { ordinal: -1, unit: Some(Unit::Month) })
        }
        ('点' | '时', _) => one(Word::HourMark),
        // 9店半, 早上8店: a slip of the keyboard.
        ('店', Some('半' | '整' | '钟')) => one(Word::HourMark),
        ('店', _) if follows_part_of_day(chars, at) => one(Word::HourMark),
        ('分', _) => one(Word::MinuteMark),
        ('号' | '日', _) => one(Word::DayMark),
        ('月', _) => one(Word::MonthMark),
        ('年', _) => one(Word::YearMark),
        ('次' | '回' | '遍', _) => one(Word::Times),
        ('天', _) => one(Word::Unit(Unit::Day)),
        _ => None,
    }
}

/// Returns `true` if 早上, 下午 or the like stands before the number that ends here.
fn follows_part_of_day(chars: &[char], at: usize) -> bool {
    let is_number = |c: &&char| c.is_ascii_digit() || numeral(**c).is_some();
    let before = at - chars[..at].iter().rev().take_while(is_number).count();
    before > 1
        && matches!(
            (chars[before - 2], chars[before - 1]),
            ('早' | '晚', '上') | ('上' | '下' | '中', '午') | ('凌' | '清', '晨')
        )
}

/// Reads 周一, 星期三, 周一三五, 周一、三、五, 周一至五, or a bare 周.
pub(super) fn weekday_list(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let name = WEEK_NAMES.iter().find(|name| starts_with(chars, at, name))?;
    let compound = [
        "周杰", "周报", "周会", "周末", "周莫", "周年", "周刊", "周记", "周转", "周边", "周到",
        "周围", "周总", "周计", "周初", "周中", "周期",
    ];
    if compound.iter().any(|word| starts_with(chars, at, word)) {
        return None;
    }
    let start = at + name.chars().count();
    let mut end = start;
    let mut set = 0;
    while let Some((day, next)) = next_weekday(chars, end, end == start) {
        set |= day;
        end = next;
    }
    if let Some((last, next)) = range_end(chars, end).filter(|_| set.count_ones() == 1) {
        let days = (set.trailing_zeros()..=last.trailing_zeros()).fold(0, |days, d| days | 1 << d);
        return (last > set).then_some((Word::Weekdays { set: days, is_recurring: true }, next));
    }
    if set == 0 {
        return (*name != "洲").then_some((Word::Unit(Unit::Week), start));
    }
    Some((Word::Weekdays { set, is_recurring: set.count_ones() > 1 }, end))
}

/// Reads one more weekday of a list, with a separator before it unless it is the first.
fn next_weekday(chars: &[char], at: usize, is_first: bool) -> Option<(u8, usize)> {
    let has_separator = !is_first && matches!(chars.get(at), Some(',' | '/' | '和'));
    let at = at + usize::from(has_separator);
    let day = weekday_of(*chars.get(at)?)?;
    let next = chars.get(at + 1).copied().unwrap_or(' ');
    // The numeral belongs to an hour or a count: 周三五点, 每周三次.
    let is_clock = matches!(next, '点' | '时' | '次' | '回' | '遍' | ':');
    let is_number = (has_separator || chars[at].is_ascii_digit())
        && (numeral(next).is_some() || next.is_ascii_digit())
        || has_separator
            && matches!(next, '月' | '号' | '日' | '个' | '天' | '周' | '人' | '起' | '刻');
    let is_unit = !is_first && matches!(next, '个' | '刻' | '小');
    (!is_clock && !is_number && !is_unit).then_some((day, at + 1))
}

fn range_end(chars: &[char], at: usize) -> Option<(u8, usize)> {
    matches!(chars.get(at)?, '到' | '至' | '-' | '~').then_some(())?;
    next_weekday(chars, at + 1, true)
}

fn weekday_of(c: char) -> Option<u8> {
    let index = match c {
        '日' | '天' | '7' => 6,
        '1'..='6' => c as u32 - '1' as u32,
        _ => "一二三四五六".chars().position(|day| day == c)? as u32,
    };
    Some(1 << index)
}

/// Reads 一三五 before a part of the day as weekdays. Elsewhere, or in digits, such a row of numbers is vague.
pub(super) fn bare_weekdays(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let begins =
        at == 0 || !chars[at - 1].is_alphanumeric() || matches!(chars[at - 1], '每' | '逢');
    let is_row = begins && chars[at].is_alphanumeric();
    let is_digits = chars[at].is_ascii_digit();
    let is_day = |c: &&char| is_row && **c != '天' && c.is_ascii_digit() == is_digits;
    let row: Vec<u8> =
        chars[at..].iter().take_while(is_day).map_while(|c| weekday_of(*c)).collect();
    let end = at + row.len();
    is_weekday_row(&row, is_digits).then_some(())?;
    let next = end + usize::from(chars.get(end) == Some(&' '));
    let is_timed = PARTS_OF_DAY.iter().any(|part| starts_with(chars, next, part));
    if !is_timed && (is_digits || row.len() < 3 || is_counted(chars, end)) {
        return None;
    }
    let set = row.into_iter().fold(0, |all, day| all | day);
    let days = Word::Weekdays { set, is_recurring: true };
    Some((if is_timed && !is_digits { days } else { Word::Vague }, end))
}

/// Returns `true` for 一三五 and 二四, but not for 三四, which is about three, nor for 三日, which is a day.
fn is_weekday_row(row: &[u8], is_digits: bool) -> bool {
    const SUNDAY: u8 = 64;
    let is_rising = row.windows(2).all(|pair| pair[0] < pair[1]);
    match row {
        [first, last] => !is_digits && *last != SUNDAY && first << 1 < *last,
        _ => row.len() > 2 && is_rising,
    }
}

const PARTS_OF_DAY: &[&str] =
    &["早", "清晨", "上午", "中午", "下午", "傍晚", "晚", "凌晨", "夜里", "半夜", "每"];

/// Returns `true` if a row of numbers is one number: 一二三号, 一三五元.
fn is_counted(chars: &[char], end: usize) -> bool {
    let next = chars.get(end).copied().unwrap_or(' ');
    numeral(next).is_some()
        || "个号点楼层元块人天年月日分时页章岁级班中路线".contains(next)
        || next.is_ascii_alphanumeric()
}

/// Reads lists of initials: M/W/F, T/Th, M-F.
pub(super) fn letter_list(chars: &[char], at: usize) -> Option<(Word, usize)> {
    if at > 0 && chars[at - 1].is_alphanumeric() {
        return None;
    }
    let end = at
        + chars[at..]
            .iter()
            .take_while(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '-'))
            .count();
    let text: String = chars[at..end].iter().collect();
    if text == "m-f" {
        return Some((Word::Weekdays { set: WORKDAYS, is_recurring: true }, end));
    }
    let names: Vec<&str> = text.split('/').collect();
    let sets: Option<Vec<u8>> = names.iter().map(|name| initial(name)).collect();
    let set = sets?.into_iter().fold(0, |all, day| all | day);
    let is_list = names.len() > 1 && set.count_ones() as usize == names.len();
    (is_list && set != ALL_WEEKDAYS).then_some((Word::Weekdays { set, is_recurring: true }, end))
}

fn initial(name: &str) -> Option<u8> {
    Some(match name {
        "m" | "mo" | "mon" => 1,
        "t" | "tu" | "tue" | "tues" => 2,
        "w" | "we" | "wed" => 4,
        "th" | "r" | "thu" | "thur" | "thurs" => 8,
        "f" | "fr" | "fri" => 16,
        "sa" | "sat" => 32,
        "su" | "sun" => 64,
        _ => return None,
    })
}

/// Reads a number with its suffix, or a date in digits.
pub(super) fn number_at(chars: &[char], at: usize) -> Option<Vec<(Word, usize, usize)>> {
    if chars[at] == '第' || starts_with(chars, at, "倒数第") {
        let is_from_end = chars[at] == '倒';
        let after = at + if is_from_end { 3 } else { 1 };
        let (value, end) = number(chars, after)?;
        let word = if is_from_end { Word::FromEnd(value) } else { Word::Ordinal(value) };
        return Some(vec![(word, at, end)]);
    }
    if let Some((value, end)) = chinese_number(chars, at) {
        return Some(vec![(Word::Number { value, digits: 0 }, at, end)]);
    }
    let (value, end) = digits(chars, at)?;
    if let Some((word, end)) = date(chars, at) {
        return Some(vec![(word, at, end)]);
    }
    with_letters(chars, at, (value, end))
}

/// Reads a number in digits with the letters that touch it: 1st, 2h30, 15m, 9a.
fn with_letters(
    chars: &[char],
    at: usize,
    (value, end): (u32, usize),
) -> Option<Vec<(Word, usize, usize)>> {
    let number = (Word::Number { value, digits: (end - at) as u8 }, at, end);
    let letters: String = chars[end..].iter().take_while(|c| c.is_ascii_alphabetic()).collect();
    let after = end + letters.len();
    let has_digits = chars.get(after).is_some_and(char::is_ascii_digit);
    let suffix = match letters.as_str() {
        "st" | "nd" | "rd" | "th" => return Some(vec![(Word::Ordinal(value), at, after)]),
        "h" if has_digits => return hours_and_minutes(chars, number, after),
        "h" => Word::Unit(Unit::Hour),
        "m" if !has_digits => Word::Unit(Unit::Minute),
        "d" => Word::Unit(Unit::Day),
        "w" => Word::Unit(Unit::Week),
        "s" => Word::Unit(Unit::Second),
        "a" => Word::Am,
        "p" => Word::Pm,
        "ish" => Word::Vague,
        _ if has_digits => {
            let rest = chars[at..].iter().take_while(|c| c.is_ascii_alphanumeric()).count();
            return Some(vec![(Word::Task, at, at + rest)]);
        }
        _ => return Some(vec![number]),
    };
    Some(vec![number, (suffix, end, after)])
}

/// Reads the minutes of 2h30 (a time) and 2h30m (a length).
fn hours_and_minutes(
    chars: &[char],
    hours: (Word, usize, usize),
    after: usize,
) -> Option<Vec<(Word, usize, usize)>> {
    let (minutes, last) = digits(chars, after)?;
    let minutes = (Word::Number { value: minutes, digits: (last - after) as u8 }, after, last);
    if chars.get(last) != Some(&'m') {
        return Some(vec![hours, (Word::Colon, hours.2, after), minutes]);
    }
    let hour_unit = (Word::Unit(Unit::Hour), hours.2, after);
    Some(vec![hours, hour_unit, minutes, (Word::Unit(Unit::Minute), last, last + 1)])
}

/// Reads a number in digits or in Chinese and returns its end.
pub(super) fn number(chars: &[char], at: usize) -> Option<(u32, usize)> {
    digits(chars, at).or_else(|| chinese_number(chars, at))
}

fn digits(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let count = chars.get(at..)?.iter().take_while(|c| c.is_ascii_digit()).count();
    let text: String = chars[at..at + count].iter().collect();
    (1..=9).contains(&count).then(|| Some((text.parse().ok()?, at + count)))?
}

/// Reads 2026-05-14, 14.5.2026, 5/14.
fn date(chars: &[char], at: usize) -> Option<(Word, usize)> {
    let (first, end) = digits(chars, at)?;
    let separator = *chars.get(end)?;
    let (second, end) = matches!(separator, '-' | '/' | '.').then(|| digits(chars, end + 1))??;
    let third = (chars.get(end) == Some(&separator)).then(|| digits(chars, end + 1)).flatten();
    let word = |year: u32, month: u32, day: u32| Word::Date {
        year: year as i16,
        month: month as i8,
        day: day as i8,
    };
    let by_size = |year, a: u32, b: u32| match (a, b) {
        (1..=12, 13..=31) => Some(word(year, a, b)),
        (13..=31, 1..=12) => Some(word(year, b, a)),
        (1..=12, 1..=12) if a == b || chars.iter().any(|c| is_han(*c)) => Some(word(year, a, b)),
        (1..=31, 1..=31) => Some(word(year, 0, 0)),
        _ => None,
    };
    match (separator, third) {
        (_, Some((third, end))) if first > 1900 => {
            let is_datetime = chars.get(end) == Some(&'t')
                && chars.get(end + 1).is_some_and(char::is_ascii_digit);
            Some((word(first, second.min(99), third.min(99)), end + usize::from(is_datetime)))
        }
        ('.', Some((year, end))) if year > 1900 => {
            Some((word(year, second.min(99), first.min(99)), end))
        }
        (_, Some((year, end))) if year > 1900 => Some((by_size(year, first, second)?, end)),
        ('/', None) => Some((by_size(0, first, second)?, end)),
        _ => None,
    }
}

/// Reads a Chinese numeral below ten thousand and returns its end.
fn chinese_number(chars: &[char], at: usize) -> Option<(u32, usize)> {
    let run: Vec<char> =
        chars.get(at..)?.iter().copied().take_while(|c| numeral(*c).is_some()).collect();
    let has_units = run.iter().any(|c| matches!(c, '十' | '百' | '廿'));
    let value = if has_units {
        with_units(&run)?
    } else {
        run.iter().try_fold(0u32, |all, c| all.checked_mul(10)?.checked_add(numeral(*c)?))?
    };
    (!run.is_empty() && run.len() < 6).then_some((value, at + run.len()))
}

fn with_units(run: &[char]) -> Option<u32> {
    let (mut sum, mut digit) = (0, None);
    for c in run {
        match c {
            '百' => sum += digit.take().unwrap_or(1) * 100,
            '十' => sum += digit.take().unwrap_or(1) * 10,
            '廿' => sum += 20,
            _ if digit.is_some_and(|d| d != 0) => return None,
            _ => digit = numeral(*c),
        }
    }
    Some(sum + digit.unwrap_or(0))
}

fn numeral(c: char) -> Option<u32> {
    match c {
        '零' | '〇' => Some(0),
        '两' => Some(2),
        '十' | '廿' => Some(10),
        '百' => Some(100),
        _ => "一二三四五六七八九".chars().position(|digit| digit == c).map(|n| n as u32 + 1),
    }
}

pub(super) fn starts_with(chars: &[char], at: usize, word: &str) -> bool {
    word.chars().zip(at..).all(|(c, i)| chars.get(i) == Some(&c))
}
