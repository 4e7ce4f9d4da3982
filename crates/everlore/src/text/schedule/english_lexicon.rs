//! English words and phrases of schedules, with their common misspellings.

use super::{
    rule::{ALL_WEEKDAYS, WEEKEND, WORKDAYS},
    word::{PartOfDay, Unit, Word},
};
use crate::text::dates::{CARDINALS, ORDINALS, TENS};

const fn days(set: u8, is_recurring: bool) -> Word {
    Word::Weekdays { set, is_recurring }
}

const fn part(part: PartOfDay, is_recurring: bool) -> Word {
    Word::Part { part, is_recurring }
}

/// Lists of words and phrases of one class.
#[rustfmt::skip]
pub(super) const ENGLISH: &[(&str, Word)] = &[
    ("every|each|every single|each single|each and every|evry|evrey|eveyr|evey|everry|eevry|evary|everyy|per", Word::Every),
    ("every other|every 2nd|every alternate|alternate|every othr|evry other|evrey other", Word::EveryOther),
    ("everyday|daily|dayly|dialy|daliy|day in day out", Word::Adverb(Unit::Day)),
    ("nightly", part(PartOfDay::Night, true)),
    ("hourly", Word::Adverb(Unit::Hour)), ("weekly|weekley", Word::Adverb(Unit::Week)),
    ("monthly|montly|monthy|any month|any given month", Word::Adverb(Unit::Month)), ("quarterly|quaterly|quartely", Word::Adverb(Unit::Quarter)),
    ("yearly|annually|annual", Word::Adverb(Unit::Year)),
    ("second|seconds|sec|secs", Word::Unit(Unit::Second)),
    ("minute|minutes|min|mins|minuts|minuets|minutes'", Word::Unit(Unit::Minute)),
    ("hour|hours|hr|hrs|houres|horus|hours'", Word::Unit(Unit::Hour)), ("day|days|days'", Word::Unit(Unit::Day)),
    ("workday|workdays|working day|working days|business day|business days|buisness day|work day|work days", Word::Unit(Unit::Workday)),
    ("week|weeks|wk|wks|weeks'", Word::Unit(Unit::Week)), ("month|months|months'", Word::Unit(Unit::Month)),
    ("quarters", Word::Unit(Unit::Quarter)), ("quarter", Word::Quarter),
    ("year|years|yr|yrs", Word::Unit(Unit::Year)),
    ("fortnight|fortnights", Word::Unit(Unit::Fortnight)),
    ("weekday|weekdays|week day|week days|wkdays|wkday|m-f|weeknights excluded", days(WORKDAYS, true)),
    ("weekend|weekends|wkend|wkends|week end|week ends", days(WEEKEND, true)),
    ("monday|mon", days(1, false)), ("tuesday|tue|tues", days(2, false)), ("wednesday|wed|weds", days(4, false)),
    ("thursday|thu|thur|thurs", days(8, false)), ("friday|fri", days(16, false)), ("saturday|sat", days(32, false)),
    ("sunday|sun", days(64, false)),
    ("mondays|mons", days(1, true)), ("tuesdays", days(2, true)), ("wednesdays", days(4, true)), ("thursdays", days(8, true)),
    ("fridays", days(16, true)), ("saturdays", days(32, true)), ("sundays", days(64, true)),
    ("mwf", days(21, true)), ("tth|tuth|t/th", days(10, true)), ("7 days a week|seven days a week|all week", days(ALL_WEEKDAYS, true)),
    ("january|jan", month(1)), ("february|feb|febuary", month(2)), ("march|mar", common_month(3)), ("april|apr", month(4)),
    ("may", common_month(5)), ("june|jun", month(6)), ("july|jul", month(7)), ("august|aug", month(8)),
    ("september|sep|sept", month(9)), ("october|oct", month(10)), ("november|nov", month(11)), ("december|dec", month(12)),
    ("morning|mornin|in the morning|this morning's", part(PartOfDay::Morning, false)), ("mornings", part(PartOfDay::Morning, true)),
    ("afternoon|in the afternoon", part(PartOfDay::Afternoon, false)), ("afternoons", part(PartOfDay::Afternoon, true)),
    ("evening|in the evening", part(PartOfDay::Evening, false)), ("evenings", part(PartOfDay::Evening, true)),
    ("night|at night|nite", part(PartOfDay::Night, false)), ("nights", part(PartOfDay::Night, true)),
    ("weeknight|weeknights|in q1|in q2|in q3|in q4", Word::Vague),
    ("noon|midday|12 noon|twelve noon|12pm noon|noontime", Word::Noon), ("midnight|12 midnight|twelve midnight|midnite", Word::Midnight),
    ("am|a.m.|a.m|a m", Word::Am), ("pm|p.m.|p.m|p m", Word::Pm), ("o'clock|oclock|o’clock|sharp|hrs sharp", Word::OClock),
    ("half", Word::Half), ("past", Word::Past), ("and|&|plus|as well as|and then|and also|and again at|and at", Word::And),
    ("or|or maybe", Word::Or), ("to|thru|through|up to", Word::To), ("from", Word::From), ("between", Word::Between),
    ("at|@|at around|at about|at roughly|at approximately", Word::At), ("around|about|approximately|roughly", Word::About), ("for", Word::For), ("on", Word::On), ("in|within", Word::In), ("of|in the month of", Word::Of), ("the", Word::The),
    ("a|an|one", Word::Article), ("this|this coming|the coming|coming|upcoming", Word::This), ("next|nxt", Word::Next),
    ("last|final", Word::Last), ("second to last|second-to-last|second last|next to last|next-to-last|penultimate", Word::FromEnd(2)), ("third to last|third-to-last|third last", Word::FromEnd(3)), ("yesterday|ago|previous", Word::Gone),
    ("today|2day|later today at", Word::Day(0)),
    ("tomorrow|tmrw|tmr|tomorow|tommorow|tommorrow|tmw|tmrrw|2moro|tomorrow's", Word::Day(1)),
    ("day after tomorrow|the day after tomorrow|the day after tmrw|overmorrow|day after tmrw|day after tomorow", Word::Day(2)),
    ("tonight|tonite|2nite|this night", Word::DayAndPart(0, PartOfDay::Night)),
    ("this morning", Word::DayAndPart(0, PartOfDay::Morning)), ("this afternoon", Word::DayAndPart(0, PartOfDay::Afternoon)),
    ("this evening", Word::DayAndPart(0, PartOfDay::Evening)),
    ("from now|hence|later on from now", Word::Later), ("from today|today onwards", Word::FromToday),
    ("except|but|except for|excluding|except on|but not|but not on|apart from|other than|besides|not on|excl|not|outside of|unless it is a|unless it's a|unless it is|unless it's", Word::Except),
    ("starting|beginning|starting on|starting from|beginning on|as of|effective", Word::Starting),
    ("until|till|til|'til|through to|ending|ending on", Word::Until),
    ("end of month|end of the month|month end|month-end", Word::PeriodEdge { ordinal: -1, unit: Some(Unit::Month) }), ("end of", Word::PeriodEdge { ordinal: -1, unit: None }),
    ("start of the month|beginning of the month", Word::PeriodEdge { ordinal: 1, unit: Some(Unit::Month) }), ("start of|beginning of", Word::PeriodEdge { ordinal: 1, unit: None }),
    ("tea time|teatime|tea-time|nap time|naptime|supper time|suppertime|mealtime|mealtimes|meal time|snack time|business hours|working hours|work hours|opening hours|daytime", Word::Event),
    ("christmas day|christmas|xmas", Word::Holiday(12, 25)), ("christmas eve|xmas eve", Word::Holiday(12, 24)),
    ("new year's day|new years day|new year’s day", Word::Holiday(1, 1)), ("new year's eve|new years eve|nye", Word::Holiday(12, 31)),
    ("halloween", Word::Holiday(10, 31)), ("valentine's day|valentines day", Word::Holiday(2, 14)),
    ("time", Word::Time), ("this time|this very time|this exact time|the same time|same time|this same time|exactly this time", Word::SameTime), ("after next", Word::AfterNextSuffix),
    ("odd days|odd dates|odd-numbered days|odd numbered days", Word::DayParity(1)), ("even days|even dates|even-numbered days|even numbered days", Word::DayParity(0)), ("on the hour|top of the hour|at the top of the hour|the top of the hour", Word::OnTheHour),
    ("on the half hour|on the half-hour|at the half hour|half past the hour|half past each hour", Word::OnTheHalfHour),
    ("wake me up|wake me|wake up|get up|get me up|get out of bed", Word::Waking),
    ("once", Word::Once), ("twice|2x", Word::Twice), ("thrice|3x", Word::Number { value: 3, digits: 0 }), ("times|time a|times per|x a", Word::Times), ("any", Word::Any),
    ("biweekly|bi-weekly|fortnightly|every fortnight|each fortnight|once a fortnight", Word::Alternate(Unit::Week)),
    ("when|whenever|as soon as|once the|if|unless", Word::Event), ("after|before|during|while|by|following|prior to", Word::Event),
    ("please|pls|plz|hey|hi|ok|okay|remind me|remind me to|reminder|reminder to|remind me that|can you|could you|would you|i want to|i need to|i'd like to|i would like to|set a reminder|set a reminder to|set a reminder for|set an alarm|set an alarm for|set alarm|that has one|that have one|ping me|ping me to|nudge me to|nudge me|alert me|alert me to|notify me|notify me to|schedule|schedule a|tell me to|don't let me forget to|run at|thanks|thank you|starting now|from now on|local time|my time|sharp|exactly|precisely|regularly|of the week|time of day|that|also|both|recurring|repeat|repeats|repeating|remember to|make sure i|make sure to|let's|i have to|i should|we", Word::Filler),
    ("sometime|some time|someday|some day|sometimes|later|soon|eventually|occasionally|periodically|often|from time to time|now and then|now and again|every now and then|every now and again|every so often|every once in a while|once in a while|asap|in a bit|in a while|in a few|in a moment|shortly|whenever possible|at some point|maybe|perhaps|probably|ish|or so|eod|cob|eow|eom|end of day|close of business|end of the day|end of business|end of week|end of the week|end of the year|beginning of the week|start of the week|mid month|mid-month|middle of the month|sunrise|sunset|dawn|dusk|bedtime|lunchtime|lunch time|dinner time|dinnertime|breakfast time|at lunch|at dinner|at breakfast|most days|rarely|frequently|irregularly|randomly|easter|thanksgiving|ramadan|diwali|passover|hanukkah|chinese new year|lunar new year|mother's day|mothers day|father's day|in spring|in summer|in autumn|in winter|in the fall|in the summer|in the winter|in the spring|this summer|this winter|every summer|every winter|every spring|every fall|every autumn|next summer|next winter|school days|full moon|leap year|24/7|all day|the other day|one day|these days|whenever i can|bimonthly|bi-monthly|semimonthly|semi-monthly|biannually|semiannually|semi-annually|twice monthly|a while|high noon-ish|bihourly|weekends or so|as needed|regular basis|odd week|odd weeks|even week|even weeks|odd-numbered weeks|even-numbered weeks|odd numbered weeks|even numbered weeks|odd day|even day|odd months|even months|alternate months|the day after|the day before|the week after|the week before|the month after|day before yesterday|bank holidays|bank holiday|public holidays|public holiday|holidays|holiday|full hour|the week of|calendar week|week number", Word::Vague),
    ("a few|several|a couple of|couple of|some|few|a lot|early|random|payday|now|summer|winter|autumn|spring", Word::WeakVague),
    ("movie night|date night|game night|good night|night shift|poker night|quiz night|trivia night|night out|night light|night cream|daily standup notes|meeting minutes|the minutes|sunday roast|black friday|happy hour|rush hour|day off|sick day|morning pages|morning routine|evening routine|night routine|good morning|weekend plans|weekend trip|sun cream|sun screen|first aid|may be|time sheet|time off|time card|time tracker|time report|next steps|next step|last minute|second opinion|second breakfast|first draft|half marathon|quarter pounder|each other|each other's|year end|year-end|new year|per diem|to do|to-do|day care|daycare|birthday party|sunday school|morning paper|evening news|morning news|morning run|morning meds|evening meds|night meds|morning walk|evening walk|to-dos|on call|on-call|in box|in-box|in person|in progress|check in|check-in|sign in|log in|clock in|hand in|turn in|dial in|call in|bring in|log on|turn on|switch on|put on|due on arrival|follow up|one on one|one-on-one|1 on 1|one to one|1 to 1|time in lieu|any news|any updates|any update|ever since then|forever|all hands|week ahead|weekly report|weekly review|weekly status|weekly newsletter|weekly update|weekly digest|weekly meeting|weekly sync|weekly planning|weekly plan|weekly summary|weekly metrics|monthly report|monthly review|monthly budget|monthly newsletter|monthly invoice|monthly bill|monthly pass|monthly statement|monthly metrics|quarterly report|quarterly review|quarterly taxes|quarterly okrs|annual report|annual review|annual checkup|daily report|daily sync|daily scrum|daily stand-up|daily log|daily digest|yearly checkup|yearly review", Word::Task),
];

const fn month(month: i8) -> Word {
    Word::Month { month, is_common_word: false }
}

const fn common_month(month: i8) -> Word {
    Word::Month { month, is_common_word: true }
}

/// Words that people misspell in ways worth forgiving.
const OFTEN_MISSPELLED: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "tomorrow",
    "weekday",
    "weekdays",
    "weekend",
    "weekends",
    "morning",
    "afternoon",
    "evening",
    "midnight",
    "january",
    "february",
    "september",
    "october",
    "november",
    "december",
    "minutes",
    "quarterly",
    "monthly",
    "tonight",
];

/// Correct words that look like a misspelling of a time word.
const NO_MISSPELLING: &[&str] =
    &["mourning", "sundae", "sundry", "events", "fridge", "moaning", "minutest", "december's"];

/// Returns the time word that `word` misspells, if it is a likely one.
pub(super) fn corrected(word: &str) -> Option<&'static str> {
    if word.len() < 5 || NO_MISSPELLING.contains(&word) {
        return None;
    }
    let likely = OFTEN_MISSPELLED.iter().copied().filter_map(|target| {
        let allowed = if target.len() >= 8 && word.len() >= 6 { 2 } else { 1 };
        let distance = strsim::osa_distance(word, target);
        let is_likely = target.as_bytes()[0] == word.as_bytes()[0] && distance <= allowed;
        is_likely.then_some((distance, target))
    });
    likely.min_by_key(|(distance, _)| *distance).map(|(_, target)| target)
}

/// Returns the number that a spelled word stands for.
pub(super) fn numeral(word: &str) -> Option<Word> {
    let number = |value: usize| Word::Number { value: value as u32, digits: 0 };
    let at = |list: &[&str]| list.iter().position(|w| *w == word);
    at(&CARDINALS)
        .map(number)
        .or_else(|| at(&ORDINALS).map(|n| Word::Ordinal(n as u32)))
        .or_else(|| TENS.iter().position(|w| w.0 == word).map(|n| number(n * 10 + 20)))
        .or_else(|| {
            TENS.iter().position(|w| w.1 == word).map(|n| Word::Ordinal(n as u32 * 10 + 20))
        })
}
