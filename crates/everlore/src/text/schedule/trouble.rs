//! Reasons why a phrase is unclear, in the language of the phrase.

/// Reason why a phrase has no certain meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// No word names a time.
    NoTime,
    /// The task waits for an event.
    Event(String),
    /// A word names no certain time.
    Vague(String),
    /// A word about time has no place in the rest.
    NotUnderstood(String),
    NoSuchTime(String),
    NoSuchDate(String),
    /// An hour may be in the morning or in the afternoon.
    AmOrPm(String),
    Contradiction(String),
    WhichDays,
    WhichTimes,
    /// The moment has passed.
    Past,
    /// Several moments, of which only one can be meant.
    SeveralTimes,
    /// Midnight of which end of the day.
    WhichMidnight,
    /// Hour after midnight in the night that begins or ends the day.
    WhichNight,
    Choice(String),
    /// The phrase ends or moves a reminder.
    Cancels(String),
    /// A time may belong to the task or to the schedule.
    SeveralMeanings(String),
}

impl Trouble {
    /// Returns the reason as a sentence for the user.
    pub(super) fn sentence(&self, is_chinese: bool) -> String {
        if is_chinese { self.in_chinese() } else { self.in_english() }
    }

    fn in_english(&self) -> String {
        match self {
            Self::NoTime => "no time or day is given".to_owned(),
            Self::Event(word) => format!("\"{word}\" depends on an event, not on a time"),
            Self::Vague(word) => format!("\"{word}\" names no certain time"),
            Self::NotUnderstood(word) => format!("\"{word}\" was not understood here"),
            Self::NoSuchTime(word) => format!("\"{word}\" is no time of day"),
            Self::NoSuchDate(word) => format!("\"{word}\" is no date"),
            Self::AmOrPm(word) => format!("\"{word}\" could be in the morning or in the afternoon"),
            Self::Contradiction(word) => format!("\"{word}\" contradicts the rest"),
            Self::WhichDays => "the days are missing".to_owned(),
            Self::WhichTimes => "the times of day are missing".to_owned(),
            Self::Past => "the time has already passed".to_owned(),
            Self::SeveralTimes => {
                "several times are named, and it is not clear which is meant".to_owned()
            }
            Self::WhichMidnight => "\"midnight\" could begin or end that day".to_owned(),
            Self::WhichNight => {
                "an hour after midnight could be in the night before or after that day".to_owned()
            }
            Self::Choice(word) => format!("\"{word}\" leaves the choice open"),
            Self::Cancels(word) => format!(
                "\"{word}\" asks to end or change a reminder, which makes no schedule; `schedule list` shows \
                 them, `schedule rm` removes one"
            ),
            Self::SeveralMeanings(word) => {
                format!("\"{word}\" could belong to the schedule or to the task")
            }
        }
    }

    fn in_chinese(&self) -> String {
        match self {
            Self::NoTime => "没有说明时间或日期".to_owned(),
            Self::Event(word) => format!("“{word}”取决于某件事，不是确定的时间"),
            Self::Vague(word) => format!("“{word}”不是确定的时间"),
            Self::NotUnderstood(word) => format!("没有理解“{word}”"),
            Self::NoSuchTime(word) => format!("“{word}”不是有效的时刻"),
            Self::NoSuchDate(word) => format!("“{word}”不是有效的日期"),
            Self::AmOrPm(word) => format!("“{word}”可能是上午，也可能是下午"),
            Self::Contradiction(word) => format!("“{word}”与其余部分矛盾"),
            Self::WhichDays => "没有说明是哪几天".to_owned(),
            Self::WhichTimes => "没有说明是几点".to_owned(),
            Self::Past => "这个时间已经过去".to_owned(),
            Self::SeveralTimes => "提到了多个时间，不清楚是哪一个".to_owned(),
            Self::WhichMidnight => "不清楚是当天开始还是结束的午夜".to_owned(),
            Self::WhichNight => "不清楚是当天之前还是之后的那个夜里".to_owned(),
            Self::Choice(word) => format!("“{word}”没有确定选哪一个"),
            Self::Cancels(word) => format!(
                "“{word}”是要取消或更改提醒，不会新建日程；用 `schedule list` 查看，用 `schedule rm` 删除"
            ),
            Self::SeveralMeanings(word) => format!("不清楚“{word}”属于提醒时间还是提醒内容"),
        }
    }
}
