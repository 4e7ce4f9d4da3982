//! Vocabulary of schedules: classes of words, shared by English and Chinese.

/// Class of a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Word {
    /// Word of the task.
    Task,
    /// Word that says nothing about time: please, remind me to, 提醒我.
    Filler,
    /// Position past the last token.
    End,
    /// Number; `digits` is 0 if it was spelled out.
    Number {
        value: u32,
        digits: u8,
    },
    /// 1st, third, 第三.
    Ordinal(u32),
    /// last, 最后一个.
    Last,
    /// second to last, 倒数第二: position from the end.
    FromEnd(u32),
    /// every, each, 每.
    Every,
    /// every other, 每隔一: each second.
    EveryOther,
    /// 每隔, 隔: each so many, which is one more for days.
    EveryGap,
    /// minute, 小时.
    Unit(Unit),
    /// daily, hourly: each one of the unit.
    Adverb(Unit),
    /// biweekly, 隔天: each second one of the unit.
    Alternate(Unit),
    /// once, twice, 三次's 次 after its number.
    Once,
    Twice,
    Times,
    Weekdays {
        set: u8,
        is_recurring: bool,
    },
    Month {
        month: i8,
        is_common_word: bool,
    },
    /// Odd (1) or even (0) months: 单月, 双月.
    MonthParity(i8),
    /// Odd (1) or even (0) days of the month: 单号, 双号.
    DayParity(i8),
    Part {
        part: PartOfDay,
        is_recurring: bool,
    },
    Noon,
    Midnight,
    Am,
    Pm,
    OClock,
    /// 点, 时 after an hour.
    HourMark,
    /// 分 after a minute.
    MinuteMark,
    /// 号, 日 after a day.
    DayMark,
    MonthMark,
    YearMark,
    /// 整 after 点.
    Sharp,
    Half,
    /// quarter; 刻.
    Quarter,
    /// past, after: half past nine.
    Past,
    /// 差: minutes to the hour.
    Short,
    /// 个 between a number and its unit.
    Measure,
    And,
    Or,
    /// to, until between two times; 到, 至.
    To,
    From,
    Between,
    At,
    On,
    In,
    Of,
    The,
    /// for before a length of time.
    For,
    /// about, around before an hour, or before a count.
    About,
    /// a, an.
    Article,
    /// this, coming; 这.
    This,
    Next,
    /// 下下.
    AfterNext,
    /// Past reference: yesterday, 上周.
    Gone,
    /// 明年: years from this one.
    YearShift(i8),
    /// today, tomorrow: days from today.
    Day(i8),
    /// tonight, 今晚, 明早: a day and its part.
    DayAndPart(i8, PartOfDay),
    /// 后, later, from now after a duration.
    Later,
    /// from today after a duration.
    FromToday,
    /// 过 before a duration.
    Within,
    Except,
    /// 除外 after what it excludes.
    ExceptSuffix,
    Starting,
    /// 开始, 起 after a day.
    StartSuffix,
    Until,
    /// end of, 月底: the last (-1) or first (1) day of a period; the period follows where the word does not name it.
    PeriodEdge {
        ordinal: i8,
        unit: Option<Unit>,
    },
    /// 接下来, 连续: so many days from now on.
    Ahead,
    /// Fixed date of each year: Christmas, 元旦.
    Holiday(i8, i8),
    /// time after a city; 时间.
    Time,
    /// this time, 这个时候: the time of day at which the phrase is said.
    SameTime,
    /// 那天, 当天 after the day that it repeats.
    ThatDay,
    /// after next behind a week, a month or a weekday.
    AfterNextSuffix,
    Zone(&'static str),
    /// City after "in", which names a zone only right behind a time: 9am in Tokyo.
    CityZone(&'static str),
    /// Letters that name a zone only right behind a time: 9am ET.
    ShortZone(&'static str),
    /// Name that stands for its zone only between a time and the end or a day: 9am Pacific.
    BareZone(&'static str),
    /// City in Chinese, which may name a zone right before a time: 纽约早上9点.
    PlaceZone(&'static str),
    /// on the hour, 整点.
    OnTheHour,
    /// on the half hour.
    OnTheHalfHour,
    /// Word that names a time without saying which: later, sometime, 有空.
    Vague,
    /// Word that is vague only beside a word about time: some, several, now.
    WeakVague,
    /// any: a choice, if a day or a period follows.
    Any,
    /// wake me up, 叫醒我: hours before seven are in the morning.
    Waking,
    /// Word that ties the task to an event: when, after, 下班后.
    Event,
    Colon,
    Dash,
    Slash,
    Comma,
    Dot,
    /// Calendar date in digits; month 0 if day and month cannot be told apart.
    Date {
        year: i16,
        month: i8,
        day: i8,
    },
    /// Other punctuation.
    Punctuation,
}

/// Unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Workday,
    Week,
    Fortnight,
    Month,
    Quarter,
    Year,
}

/// Part of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartOfDay {
    /// 凌晨.
    SmallHours,
    Morning,
    /// 上午.
    Forenoon,
    /// 中午.
    Midday,
    Afternoon,
    /// evening.
    Evening,
    /// 傍晚.
    Dusk,
    /// night.
    Night,
    /// 晚上.
    LateEvening,
    /// 半夜.
    MidNight,
}

impl PartOfDay {
    /// Returns the minute that stands for the part when no hour is given.
    pub(super) fn default_minute(self) -> Option<u16> {
        Some(
            60 * match self {
                Self::SmallHours => return None,
                Self::Morning | Self::Forenoon => 9,
                Self::Midday => 12,
                Self::Afternoon => 15,
                Self::Evening => 19,
                Self::Dusk => 18,
                Self::Night => 21,
                Self::LateEvening => 20,
                Self::MidNight => 0,
            },
        )
    }

    /// Returns the hour of the day that `hour` means in this part, 24 for midnight at its end, `None` if it has no such.
    pub(super) fn hour(self, hour: u32) -> Option<u32> {
        let pm = if hour < 12 { hour + 12 } else { hour };
        match (self, hour) {
            (Self::SmallHours, 0..=6) => Some(hour),
            (Self::SmallHours, 12) => Some(0),
            (Self::MidNight | Self::Night, 12 | 24) => Some(24),
            (Self::Morning, 1..=11) | (Self::Forenoon, 5..=12) => Some(hour),
            (Self::Midday, 11 | 12) => Some(hour),
            (Self::Midday, 1 | 2 | 13 | 14) => Some(pm),
            (Self::Afternoon, 1..=7 | 12..=19) => Some(pm),
            (Self::Evening, 4..=11 | 16..=23) => Some(pm),
            (Self::Dusk, 4..=8 | 16..=20) => Some(pm),
            (Self::Night, 6..=11 | 18..=23) => Some(pm),
            (Self::Night | Self::MidNight, 0..=4) => Some(hour),
            (Self::LateEvening, 5..=11 | 17..=23) => Some(pm),
            (Self::LateEvening, 0 | 12 | 24) => Some(24),
            (Self::MidNight, 10 | 11 | 22 | 23) => Some(pm),
            _ => None,
        }
    }
}
