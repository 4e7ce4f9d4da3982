//! Personal constraints: expands a request for oneself by the limits that people state, such as allergies for a dinner.
//!
//! Both sides are closed word lists about needs that most people share. The embedder covers words that are merely
//! related.

use super::phrases::{PhraseMatcher, normalize};

/// Longest message, in bytes, that is expanded; a longer one states its own limits.
const MAX_BYTES: usize = 1_000;

/// Words of a request, and the words with which people state limits and wishes about it.
struct PersonalConstraint {
    request_words: &'static [&'static str],
    constraint_words: &'static [&'static str],
}

/// Returns the words of a request that have personal constraints, with the words of those constraints; empty if the
/// request is not for oneself.
pub(super) fn constraints_for(query: &str) -> Vec<(&'static str, &'static [&'static str])> {
    if query.len() > MAX_BYTES {
        return Vec::new();
    }
    let plain = normalize(query);
    let text = PhraseMatcher::new(&plain);
    if !SELF_DIRECTED_PHRASES.iter().any(|phrase| text.contains(phrase)) {
        return Vec::new();
    }
    let words = |constraint: &'static PersonalConstraint| {
        constraint.request_words.iter().map(|word| (*word, constraint.constraint_words))
    };
    CONSTRAINTS.iter().flat_map(words).filter(|(word, _)| text.contains(word)).collect()
}

/// Returns `true` if a request has personal constraints.
pub(super) fn touches_constraint(query: &str) -> bool {
    !constraints_for(query).is_empty()
}

/// Phrases that show that a request is for oneself.
#[rustfmt::skip]
const SELF_DIRECTED_PHRASES: &[&str] = &[
    "for me", "for us", "should i", "should we", "can i", "can we", "recommend me", "suggest me", "cook me", "i want", "i would like", "we want", "i need", "my", "our",
    "find us", "find me", "find a", "book us", "book me", "book a", "reserve a", "order us", "order me", "where can", "where should",
    "找个", "找家", "订个", "订家", "订一家", "安排", "出去吃", "给我", "帮我", "为我", "我该", "我应该", "我能", "我可以", "我要", "我想", "我们", "推荐",
];

#[rustfmt::skip]
const CONSTRAINTS: &[PersonalConstraint] = &[
    PersonalConstraint {
        request_words: &[
            "food", "dinner", "lunch", "breakfast", "supper", "meal", "meals", "dish", "dishes", "snack", "snacks", "recipe", "recipes", "menu", "restaurant", "cook", "eat", "grill", "barbecue",
            "食物", "晚饭", "午饭", "早饭", "晚餐", "午餐", "早餐", "夜宵", "零食", "菜谱", "食谱", "菜单", "餐厅", "饭店", "做饭", "吃饭", "吃什么", "点菜", "馆子", "出去吃", "聚餐", "外卖", "烧烤", "烤点", "道菜", "什么菜",
        ],
        constraint_words: &[
            "allergic", "allergy", "intolerant", "vegetarian", "vegan", "meat", "diet", "gluten", "lactose", "halal", "kosher", "eat",
            "过敏", "忌口", "吃素", "素食", "不吃", "不能吃", "清真", "乳糖", "减肥",
        ],
    },
    PersonalConstraint {
        request_words: &["drink", "drinks", "cocktail", "cocktails", "wine", "beer", "bar", "喝什么", "饮料", "鸡尾酒", "红酒", "啤酒", "酒吧"],
        constraint_words: &["alcohol", "sober", "drink", "pregnant", "戒酒", "喝酒", "不喝", "怀孕"],
    },
    PersonalConstraint {
        request_words: &["trip", "travel", "holiday", "vacation", "visit", "fly", "flight", "hike", "旅游", "旅行", "出游", "度假", "坐飞机", "航班", "行程", "爬山", "徒步"],
        constraint_words: &["wheelchair", "scared", "afraid", "fear", "seasick", "carsick", "passport", "visa", "轮椅", "害怕", "恐高", "晕车", "晕船", "护照", "签证"],
    },
    PersonalConstraint {
        request_words: &["workout", "exercise", "exercises", "jog", "jogging", "run", "running", "training", "sport", "锻炼", "健身", "跑步", "运动", "训练"],
        constraint_words: &["knee", "injury", "injured", "hurt", "hurting", "pain", "asthma", "surgery", "膝盖", "受伤", "哮喘", "手术", "疼"],
    },
    PersonalConstraint {
        request_words: &["film", "movie", "series", "book", "game", "电影", "剧", "看什么", "书单", "游戏"],
        constraint_words: &["hate", "dislike", "scary", "favorite", "讨厌", "不喜欢", "最喜欢", "害怕"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dinner_for_oneself_concerns_what_one_may_not_eat_in_both_languages() {
        for (request, word) in [
            ("Plan dinner for me tonight", "allergic"),
            ("find a restaurant for saturday", "allergic"),
            ("帮我安排今天的晚饭", "过敏"),
            ("周六晚上出去吃，找个馆子", "过敏"),
        ] {
            assert!(
                constraints_for(request).iter().any(|(_, words)| words.contains(&word)),
                "{request}"
            );
        }
        for request in
            ["How long does dinner take in Spain?", "晚饭几点比较健康", "Tell me a joke for me", ""]
        {
            assert!(!touches_constraint(request), "{request}");
        }
    }
}
