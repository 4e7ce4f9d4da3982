//! Dates of holidays.

use jiff::civil::{Date, Weekday};

use super::expr::Holiday;

/// Returns the days of `holiday` in `year` as people speak of it, the last one excluded; `None` if they are not known.
pub(super) fn holiday_dates(holiday: Holiday, year: i16) -> Option<(Date, Date)> {
    let (first, days) = match holiday {
        // Its eve belongs to it and lies in the year before.
        Holiday::NewYear => (date(year, 1, 1)?.yesterday().ok()?, 2),
        Holiday::Valentine => (date(year, 2, 14)?, 1),
        // Good Friday to Easter Monday.
        Holiday::Easter => (add_days(easter(year)?, -2)?, 4),
        // The weekend belongs to it.
        Holiday::Thanksgiving => {
            (date(year, 11, 1)?.nth_weekday_of_month(4, Weekday::Thursday).ok()?, 4)
        }
        Holiday::Halloween => (date(year, 10, 31)?, 1),
        // The eve and both days.
        Holiday::Christmas => (date(year, 12, 24)?, 3),
        // The eve and the seven days off.
        Holiday::SpringFestival => (add_days(lunar_date(SPRING_FESTIVAL, year)?, -1)?, 8),
        Holiday::Qingming => (date(year, 4, 4)?, 3),
        // Five days off.
        Holiday::LabourDay => (date(year, 5, 1)?, 5),
        // Three days off, the feast among them.
        Holiday::DragonBoat => (add_days(lunar_date(DRAGON_BOAT, year)?, -1)?, 3),
        Holiday::MidAutumn => (add_days(lunar_date(MID_AUTUMN, year)?, -1)?, 3),
        // Seven days off.
        Holiday::NationalDay => (date(year, 10, 1)?, 7),
    };
    Some((first, add_days(first, days)?))
}

/// First year of the tables of lunar festivals.
const FIRST_YEAR: i16 = 2015;

type LunarDates = [(i8, i8); 21];

#[rustfmt::skip]
const SPRING_FESTIVAL: LunarDates = [
    (2, 19), (2, 8), (1, 28), (2, 16), (2, 5), (1, 25), (2, 12), (2, 1), (1, 22), (2, 10), (1, 29),
    (2, 17), (2, 6), (1, 26), (2, 13), (2, 3), (1, 23), (2, 11), (1, 31), (2, 19), (2, 8),
];

#[rustfmt::skip]
const DRAGON_BOAT: LunarDates = [
    (6, 20), (6, 9), (5, 30), (6, 18), (6, 7), (6, 25), (6, 14), (6, 3), (6, 22), (6, 10), (5, 31),
    (6, 19), (6, 9), (5, 28), (6, 16), (6, 5), (6, 24), (6, 12), (6, 1), (6, 20), (6, 10),
];

#[rustfmt::skip]
const MID_AUTUMN: LunarDates = [
    (9, 27), (9, 15), (10, 4), (9, 24), (9, 13), (10, 1), (9, 21), (9, 10), (9, 29), (9, 17), (10, 6),
    (9, 25), (9, 15), (10, 3), (9, 22), (9, 12), (10, 1), (9, 19), (9, 8), (9, 27), (9, 16),
];

fn lunar_date(table: LunarDates, year: i16) -> Option<Date> {
    let row = usize::try_from(i32::from(year) - i32::from(FIRST_YEAR)).ok()?;
    let (month, day) = *table.get(row)?;
    date(year, month, day)
}

/// Returns Easter Sunday by the anonymous Gregorian computus, which holds for any year of the Gregorian calendar.
fn easter(year: i16) -> Option<Date> {
    let year_number = i32::from(year);
    let (a, b, c) = (year_number % 19, year_number / 100, year_number % 100);
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - b / 4 - g + 15) % 30;
    let l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    let m = (a + 11 * h + 19 * l) / 433;
    let month = (h + l - 7 * m + 90) / 25;
    let day = (h + l - 7 * m + 33 * month + 19) % 32;
    date(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?)
}

fn date(year: i16, month: i8, day: i8) -> Option<Date> {
    Date::new(year, month, day).ok()
}

fn add_days(date: Date, days: i64) -> Option<Date> {
    date.checked_add(jiff::Span::new().try_days(days).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn movable_feasts_fall_on_the_right_days() {
        let cases = [
            (Holiday::Easter, 2024, "2024-03-29"),
            (Holiday::Easter, 2025, "2025-04-18"),
            (Holiday::Easter, 2026, "2026-04-03"),
            (Holiday::Thanksgiving, 2025, "2025-11-27"),
            (Holiday::SpringFestival, 2026, "2026-02-16"),
            (Holiday::MidAutumn, 2025, "2025-10-05"),
            (Holiday::DragonBoat, 2025, "2025-05-30"),
            (Holiday::NewYear, 2026, "2025-12-31"),
        ];
        for (holiday, year, first) in cases {
            let (start, _) = holiday_dates(holiday, year).unwrap();
            assert_eq!(start.to_string(), first, "{holiday:?} {year}");
        }
    }

    #[test]
    fn years_outside_the_tables_are_not_known() {
        assert_eq!(holiday_dates(Holiday::SpringFestival, 2014), None);
        assert_eq!(holiday_dates(Holiday::SpringFestival, 2036), None);
        assert_eq!(holiday_dates(Holiday::Christmas, i16::MAX), None);
    }
}
