//! Descriptions of slots: the words in which people ask for an attribute, because what was said may have others. "We
//! moved to Denver" answers where somebody lives.

use crate::{
    text::language::Language,
    types::{Attribute, Slot},
};

/// Returns one line that tells what a slot is about.
pub(super) fn describe(slot: &Slot, language: Language) -> String {
    let Slot { attribute, subject, .. } = slot;
    match asked_words(*attribute, language) {
        "" => format!("{attribute}: {subject}"),
        words => format!("{attribute} ({words}): {subject}"),
    }
}

/// Returns words of questions for an attribute.
fn asked_words(attribute: Attribute, language: Language) -> &'static str {
    let (english, chinese) = match attribute {
        Attribute::Name => ("called", "名字，叫"),
        Attribute::Age => ("years old", "年龄，几岁"),
        Attribute::Birthday => ("born", "生日，出生"),
        Attribute::Occupation => ("work, job", "职业，工作"),
        Attribute::Employer => ("work, company", "工作，公司，上班"),
        Attribute::Home => ("live", "住在"),
        Attribute::Origin => ("come from", "老家，来自"),
        Attribute::Education => ("study, degree", "专业，毕业"),
        Attribute::Language => ("speak", "语言"),
        Attribute::Likes => ("like", "喜欢"),
        Attribute::Dislikes => ("dislike", "不喜欢"),
        Attribute::Prefers => ("prefer", "偏好"),
        Attribute::Learning => ("learn", "学习"),
        Attribute::Uses => ("use", "使用"),
        Attribute::Owns => ("own", "拥有"),
        Attribute::Deadline => ("due", "截止日期"),
        _ => ("", ""),
    };
    if language == Language::Chinese { chinese } else { english }
}
