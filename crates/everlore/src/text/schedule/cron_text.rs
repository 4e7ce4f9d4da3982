//! Five-field cron lines for slots that one line says exactly.

use std::collections::BTreeSet;

use super::rule::{ALL_WEEKDAYS, DayPattern, END_OF_DAY, TimeSlot};

/// Members from which a regular list reads better as a range with a step.
const MIN_STEPPED: usize = 5;

/// Names that stand for a line.
const NICKNAMES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// Returns `true` if `text` is written as a line of cron: five fields, or six or seven as some programs write them.
pub(super) fn looks_like_line(text: &str) -> bool {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let has_sign = fields.iter().any(|field| field.starts_with(['*', '?']));
    text.trim().starts_with('@') && fields.len() == 1
        || matches!(fields.len(), 5..=7) && has_sign && fields.iter().all(is_cron_field)
        || written_line(text).is_some()
}

fn is_cron_field(field: &&str) -> bool {
    const NAMES: &str =
        "mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec l w";
    field.split(|c: char| c.is_ascii_digit() || "*/,-?#".contains(c)).all(|name| {
        name.is_empty() || NAMES.split(' ').any(|known| known.eq_ignore_ascii_case(name))
    })
}

/// Returns `text` as a line of cron, if it is one: five fields, or six that begin with second 0.
pub(super) fn written_line(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some((_, line)) = NICKNAMES.iter().find(|(name, _)| text.eq_ignore_ascii_case(name)) {
        return Some((*line).to_owned());
    }
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() == 6 && matches!(fields[0], "0" | "00") && fields.iter().all(is_cron_field) {
        fields.remove(0);
    }
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "*/,-?#".contains(c);
    let is_field = |field: &&str| {
        field.chars().all(is_sign)
            && field.contains(|c: char| c.is_ascii_digit() || "*?L".contains(c))
    };
    let is_named =
        |field: &&str| field.chars().all(|c| c.is_ascii_alphabetic() || ",-".contains(c));
    let is_line = fields.len() == 5
        && fields[..3].iter().all(is_field)
        && fields[3..].iter().all(|field| is_field(field) || is_named(field));
    let line = is_line.then(|| fields.join(" "))?;
    line.parse::<croner::Cron>().ok().map(|_| line)
}

/// Returns the cron line of a slot, if one line says exactly this.
pub(super) fn cron_line(slot: &TimeSlot) -> Option<String> {
    let (minute, hour) = time_fields(&slot.minutes)?;
    let (day, month) = date_fields(&slot.days)?;
    let weekday = weekday_field(slot.days.weekdays);
    // Cron runs on days that meet either condition, not both.
    let has_both = day != "*" && weekday != "*";
    (!has_both).then(|| format!("{minute} {hour} {day} {month} {weekday}"))
}

fn time_fields(minutes: &[u16]) -> Option<(String, String)> {
    if minutes.is_empty() || minutes.contains(&END_OF_DAY) {
        return None;
    }
    let hours: BTreeSet<u16> = minutes.iter().map(|m| m / 60).collect();
    let past: BTreeSet<u16> = minutes.iter().map(|m| m % 60).collect();
    if hours.len() * past.len() != minutes.len() {
        return None;
    }
    Some((clock_field(&past, 60), clock_field(&hours, 24)))
}

fn date_fields(days: &DayPattern) -> Option<(String, String)> {
    if days.cycle.is_some() || !days.ordinals.is_empty() || days.month_days.iter().any(|d| *d < 0) {
        return None;
    }
    if days.dates.is_empty() {
        return Some((list_field(&days.month_days), list_field(&days.months)));
    }
    let months: BTreeSet<i8> = days.dates.iter().map(|date| date.0).collect();
    let of_month: BTreeSet<i8> = days.dates.iter().map(|date| date.1).collect();
    let is_product = months.len() * of_month.len() == days.dates.len()
        && days.months.is_empty()
        && days.month_days.is_empty();
    is_product.then(|| (list_field(&Vec::from_iter(of_month)), list_field(&Vec::from_iter(months))))
}

/// Returns the field of minutes or hours, of which there are `all`.
fn clock_field(values: &BTreeSet<u16>, all: u16) -> String {
    let values: Vec<u16> = values.iter().copied().collect();
    let count = values.len() as u16;
    if count == all {
        return "*".to_owned();
    }
    let step = all / count;
    let is_stepped = count > 1 && values.iter().zip(0..).all(|(v, n)| *v == n * step);
    if is_stepped && all.is_multiple_of(count) {
        return format!("*/{step}");
    }
    ranges(&values.iter().map(|v| *v as i8).collect::<Vec<_>>())
}

fn list_field(values: &[i8]) -> String {
    if values.is_empty() {
        return "*".to_owned();
    }
    let values: BTreeSet<i8> = values.iter().copied().collect();
    ranges(&Vec::from_iter(values))
}

/// Returns the weekday field; cron's week begins with Sunday, 0.
fn weekday_field(weekdays: u8) -> String {
    if weekdays == ALL_WEEKDAYS {
        return "*".to_owned();
    }
    let days: Vec<i8> = (0..7).filter(|d| weekdays >> ((d + 6) % 7) & 1 == 1).collect();
    ranges(&days)
}

/// Returns sorted values as one range, one stepped range, or a list.
fn ranges(values: &[i8]) -> String {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return "*".to_owned() };
    let step = values.get(1).map_or(1, |second| second - first);
    let is_even = values.windows(2).all(|pair| pair[1] - pair[0] == step);
    if is_even && step == 1 && values.len() >= 3 {
        format!("{first}-{last}")
    } else if is_even && values.len() >= MIN_STEPPED {
        format!("{first}-{last}/{step}")
    } else {
        values.iter().map(i8::to_string).collect::<Vec<_>>().join(",")
    }
}
