//! What a time expression means before anyone says what time it is now.

/// A range of time, told by one or two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum When {
    In(Moment),
    Between(Moment, Moment),
    Since(Moment),
    Before(Moment),
    After(Moment),
    Until(Moment),
    /// What is over of a stretch that is going on.
    Earlier(Moment),
}

/// A stretch of the calendar, some of them relative to now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    /// Days from today: yesterday is -1.
    Day { offset: i32, part: Part },
    /// A day of the week.
    Weekday { weekday: i8, which: Which, part: Part },
    /// A day of a month counted from this one; without `month`, the latest that has begun.
    MonthDay { day: i8, month: Option<i32>, part: Part },
    /// A calendar week, weekend, month, quarter or year; without `offset`, the latest that has begun.
    Period { unit: Unit, offset: Option<i32> },
    /// Something that comes once a year.
    Annual { what: Annual, year: Year, part: Part },
    /// Whole calendar months, counted from this one: people who say "5 months ago" count the names of months.
    Months { from: i32, to: i32 },
    /// From one distance from now to another, widened by the slack on both sides.
    Offset { from: Amount, to: Amount, slack: Amount },
}

/// Which of all Fridays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Which {
    /// The latest before today.
    Past,
    /// The first after today.
    Coming,
    /// The one in the week that is so many weeks from this one.
    InWeek(i32),
}

/// What comes once a year; `All` is the year itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Annual {
    All,
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
pub(super) enum Year {
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
pub(super) enum Unit {
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
pub(super) enum Part {
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
pub(super) struct Amount {
    pub(super) months: i32,
    pub(super) days: i32,
    pub(super) minutes: i32,
}

impl Amount {
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

impl Unit {
    /// How long one of it is.
    pub(super) fn amount(self) -> Amount {
        match self {
            Self::Minute => Amount::minutes(1),
            Self::Hour => Amount::minutes(60),
            Self::Day => Amount::days(1),
            Self::Week | Self::Weekend => Amount::days(7),
            Self::Month => Amount::months(1),
            Self::Quarter => Amount::months(3),
            Self::Year => Amount::months(12),
        }
    }

    /// How long half of it is, in the unit people then think in.
    pub(super) fn half(self) -> Option<Amount> {
        match self {
            Self::Hour => Some(Amount::minutes(30)),
            Self::Day => Some(Amount::minutes(12 * 60)),
            Self::Month => Some(Amount::days(15)),
            Self::Year => Some(Amount::months(6)),
            Self::Minute | Self::Week | Self::Weekend | Self::Quarter => None,
        }
    }

    /// How far off "n units ago" may be: half a unit each way, so that "two weeks ago" is a week wide; a few minutes
    /// for minutes, because nobody counts them.
    pub(super) fn slack(self) -> Amount {
        match self {
            Self::Minute => Amount::minutes(5),
            Self::Hour => Amount::minutes(30),
            Self::Day => Amount::days(0),
            Self::Week | Self::Weekend => Amount::days(3),
            Self::Month => Amount::days(15),
            Self::Quarter => Amount::days(45),
            Self::Year => Amount::days(182),
        }
    }
}
