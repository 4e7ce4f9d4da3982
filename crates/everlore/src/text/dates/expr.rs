//! What a time expression means before anyone says what time it is now.

/// A range of time, told by one or two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeExpr {
    In(DateExpr),
    Between(DateExpr, DateExpr),
    Since(DateExpr),
    Before(DateExpr),
    After(DateExpr),
    Until(DateExpr),
    /// What is over of a stretch that is going on.
    Earlier(DateExpr),
}

/// A stretch of the calendar, some of them relative to now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DateExpr {
    /// Days from today: yesterday is -1.
    Day { offset: i32, part: DayPart },
    /// A day of the week.
    Weekday { weekday: i8, which: WeekdayChoice, part: DayPart },
    /// A day of a month counted from this one; without `month`, the latest that has begun.
    MonthDay { day: i8, month: Option<i32>, part: DayPart },
    /// A calendar week, weekend, month, quarter or year; without `offset`, the latest that has begun.
    Period { unit: TimeUnit, offset: Option<i32> },
    /// Something that comes once a year.
    Annual { what: AnnualPeriod, year: YearRef, part: DayPart },
    /// Whole calendar months, counted from this one: people who say "5 months ago" count the names of months.
    Months { from: i32, to: i32 },
    /// From one distance from now to another, widened by the slack on both sides.
    Offset { from: CalendarDelta, to: CalendarDelta, slack: CalendarDelta },
}

/// Which of all Fridays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WeekdayChoice {
    /// The latest before today.
    Past,
    /// The first after today.
    Coming,
    /// The one in the week that is so many weeks from this one.
    InWeek(i32),
}

/// What comes once a year; `All` is the year itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AnnualPeriod {
    WholeYear,
    /// The first or the second half.
    Half(i8),
    Quarter(i8),
    Season(Season),
    Month(i8),
    Date {
        month: i8,
        day: i8,
    },
    Holiday(Holiday),
}

/// Which year's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum YearRef {
    /// The latest that has begun: questions to a memory look back.
    Recent,
    /// The latest that is over ("last May").
    Ended,
    /// The one that is going on, or else this year's.
    Current,
    /// The first that is still to begin.
    Coming,
    /// So many years from this one.
    Relative(i32),
    /// The year of that number.
    Absolute(i16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Minute,
    Hour,
    Day,
    Week,
    Weekend,
    Month,
    Quarter,
    Year,
}

/// A part of one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DayPart {
    Whole,
    Dawn,
    Morning,
    Noon,
    Afternoon,
    Evening,
    Night,
}

/// The seasons of the northern half of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    NewYear,
    Valentine,
    Easter,
    Thanksgiving,
    Halloween,
    Christmas,
    SpringFestival,
    Qingming,
    LabourDay,
    DragonBoat,
    MidAutumn,
    NationalDay,
}

/// A signed distance in time. Months and days follow the calendar, minutes the clock.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct CalendarDelta {
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) minutes: i32,
}

impl CalendarDelta {
    pub(super) fn months(months: i32) -> Self {
        Self { months, ..Self::default() }
    }

    pub(super) fn days(days: i32) -> Self {
        Self { days, ..Self::default() }
    }

    pub(super) fn minutes(minutes: i32) -> Self {
        Self { minutes, ..Self::default() }
    }

    pub(super) fn times(self, n: i32) -> Self {
        Self { months: self.months * n, days: self.days * n, minutes: self.minutes * n }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            months: self.months + other.months,
            days: self.days + other.days,
            minutes: self.minutes + other.minutes,
        }
    }
}

impl TimeUnit {
    /// How long one of it is.
    pub(super) fn delta(self) -> CalendarDelta {
        match self {
            Self::Minute => CalendarDelta::minutes(1),
            Self::Hour => CalendarDelta::minutes(60),
            Self::Day => CalendarDelta::days(1),
            Self::Week | Self::Weekend => CalendarDelta::days(7),
            Self::Month => CalendarDelta::months(1),
            Self::Quarter => CalendarDelta::months(3),
            Self::Year => CalendarDelta::months(12),
        }
    }

    /// How long half of it is, in the unit people then think in.
    pub(super) fn half(self) -> Option<CalendarDelta> {
        match self {
            Self::Hour => Some(CalendarDelta::minutes(30)),
            Self::Day => Some(CalendarDelta::minutes(12 * 60)),
            Self::Month => Some(CalendarDelta::days(15)),
            Self::Year => Some(CalendarDelta::months(6)),
            Self::Minute | Self::Week | Self::Weekend | Self::Quarter => None,
        }
    }

    /// How far off "n units ago" may be: half a unit each way, so that "two weeks ago" is a week wide; a few minutes
    /// for minutes, because nobody counts them.
    pub(super) fn slack(self) -> CalendarDelta {
        match self {
            Self::Minute => CalendarDelta::minutes(5),
            Self::Hour => CalendarDelta::minutes(30),
            Self::Day => CalendarDelta::days(0),
            Self::Week | Self::Weekend => CalendarDelta::days(3),
            Self::Month => CalendarDelta::days(15),
            Self::Quarter => CalendarDelta::days(45),
            Self::Year => CalendarDelta::days(182),
        }
    }
}
