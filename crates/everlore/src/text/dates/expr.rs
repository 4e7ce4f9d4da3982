//! Time and date expressions before they are resolved against the present.

/// Time range as said, with one or two date expressions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TimeExpr {
    In(DateExpr),
    Between(DateExpr, DateExpr),
    Since(DateExpr),
    Before(DateExpr),
    After(DateExpr),
    Until(DateExpr),
    /// Past part of a current period.
    Earlier(DateExpr),
    /// Days beside another date.
    Anchored(DateExpr, AnchorOffset),
}

/// Days beside an anchor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AnchorOffset {
    /// From one day to another, counted from an edge of the anchor; the part applies to a single day.
    Days { from: i32, to: i32, edge: AnchorEdge, part: DayPart },
    /// The anchor with so many days on each side.
    Around(i32),
    /// Nearest weekday before or after the anchor, and the days that follow it: two for a weekend.
    Weekday { weekday: i8, days: i32, sign: i32 },
    /// Month before or after the anchor.
    Months(i32),
}

/// Edge of an anchor that days are counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchorEdge {
    First,
    Last,
}

/// Calendar stretch, absolute or relative to now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DateExpr {
    /// Days from today: yesterday is -1.
    Day { offset: i32, part: DayPart },
    /// Day of the week.
    Weekday { weekday: i8, which: WeekdayChoice, part: DayPart },
    /// Day of a month counted from this one; without `month`, the latest that has begun.
    MonthDay { day: i8, month: Option<i32>, part: DayPart },
    /// Weekday of a month by its number, the last for a negative one: "the last Friday of next month".
    WeekdayOfMonth { nth: i8, weekday: i8, month: MonthRef },
    /// Calendar week, weekend, month, quarter or year; without `offset`, the latest that has begun.
    Period { unit: TimeUnit, offset: Option<i32> },
    /// Period that comes once a year.
    Annual { period: AnnualPeriod, year: YearRef, part: DayPart },
    /// Whole calendar months, counted from this one: "5 months ago" counts the names of months.
    Months { from: i32, to: i32 },
    /// Range between two distances from now, widened by the slack on both sides.
    Offset { from: CalendarDelta, to: CalendarDelta, slack: CalendarDelta },
}

/// Month that a weekday is counted in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MonthRef {
    /// So many months from this one.
    Relative(i32),
    /// Month of a name.
    Named { month: i8, year: YearRef },
}

/// Choice among all weekdays of one name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WeekdayChoice {
    /// Latest before today.
    Past,
    /// First after today.
    Coming,
    /// In the week that is so many weeks from this one.
    InWeek(i32),
}

/// Period that comes once a year; `All` is the year itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum AnnualPeriod {
    WholeYear,
    /// First or second half.
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

/// Year of an annual period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum YearRef {
    /// Latest that has begun: questions to a memory look back.
    Recent,
    /// Latest that is over ("last May").
    Ended,
    /// Current one, or else this year's.
    Current,
    /// First that is still to begin.
    Coming,
    /// So many years from this one.
    Relative(i32),
    /// Year of that number.
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

/// Part of one day.
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

/// Seasons of the northern hemisphere.
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

/// Signed distance in time. Months and days follow the calendar, minutes the clock.
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
    /// Returns the length of one unit.
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

    /// Returns the length of half a unit, in the unit people then think in.
    pub(super) fn half(self) -> Option<CalendarDelta> {
        match self {
            Self::Hour => Some(CalendarDelta::minutes(30)),
            Self::Day => Some(CalendarDelta::minutes(12 * 60)),
            Self::Month => Some(CalendarDelta::days(15)),
            Self::Year => Some(CalendarDelta::months(6)),
            Self::Minute | Self::Week | Self::Weekend | Self::Quarter => None,
        }
    }

    /// Returns the uncertainty of "n units ago": half a unit each way, so that "two weeks ago" is a week wide; a few
    /// minutes for minutes, because people do not count them.
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
