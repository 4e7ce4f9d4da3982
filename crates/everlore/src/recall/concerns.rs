//! What a request for oneself has to do with what one told: who wants a dinner may not eat everything.
//!
//! The words on both sides are closed lists about needs that most people share. What is merely related is left to the
//! embedder.

use super::phrases::{Phrases, plain};

/// A longer message says what it needs.
const MAX_BYTES: usize = 1_000;

/// What is asked for, and the words by which people tell of limits and wishes in it.
struct Concern {
    asks: &'static [&'static str],
    tells: &'static [&'static str],
}

/// The words of a request that touch a concern, each with what bears on it; nothing if it is not for oneself.
pub(super) fn of(query: &str) -> Vec<(&'static str, &'static [&'static str])> {
    if query.len() > MAX_BYTES {
        return Vec::new();
    }
    let plain = plain(query);
    let text = Phrases::of(&plain);
    if !FOR_ONESELF.iter().any(|phrase| text.has(phrase)) {
        return Vec::new();
    }
    let words = |concern: &'static Concern| concern.asks.iter().map(|word| (*word, concern.tells));
    CONCERNS.iter().flat_map(words).filter(|(word, _)| text.has(word)).collect()
}

/// Whether a request touches a concern.
pub(super) fn touches(query: &str) -> bool {
    !of(query).is_empty()
}

/// Who it is for.
#[rustfmt::skip]
const FOR_ONESELF: &[&str] = &[
    "for me", "for us", "should i", "should we", "can i", "can we", "recommend me", "suggest me", "cook me", "i want", "i would like", "we want", "i need", "my", "our",
    "给我", "帮我", "为我", "我该", "我应该", "我能", "我可以", "我要", "我想", "我们", "推荐",
];

#[rustfmt::skip]
const CONCERNS: &[Concern] = &[
    Concern {
        asks: &[
            "food", "dinner", "lunch", "breakfast", "supper", "meal", "meals", "dish", "dishes", "snack", "snacks", "recipe", "recipes", "menu", "restaurant", "cook", "eat", "grill", "barbecue",
            "食物", "晚饭", "午饭", "早饭", "晚餐", "午餐", "早餐", "夜宵", "零食", "菜谱", "食谱", "菜单", "餐厅", "饭店", "做饭", "吃饭", "吃什么", "点菜", "烧烤", "烤点", "道菜", "什么菜",
        ],
        tells: &[
            "allergic", "allergy", "intolerant", "vegetarian", "vegan", "meat", "diet", "gluten", "lactose", "halal", "kosher", "eat",
            "过敏", "忌口", "吃素", "素食", "不吃", "不能吃", "清真", "乳糖", "减肥",
        ],
    },
    Concern {
        asks: &["drink", "drinks", "cocktail", "cocktails", "wine", "beer", "bar", "喝什么", "饮料", "鸡尾酒", "红酒", "啤酒", "酒吧"],
        tells: &["alcohol", "sober", "drink", "pregnant", "戒酒", "喝酒", "不喝", "怀孕"],
    },
    Concern {
        asks: &["trip", "travel", "holiday", "vacation", "visit", "fly", "flight", "hike", "旅游", "旅行", "出游", "度假", "坐飞机", "航班", "行程", "爬山", "徒步"],
        tells: &["wheelchair", "scared", "afraid", "fear", "seasick", "carsick", "passport", "visa", "轮椅", "害怕", "恐高", "晕车", "晕船", "护照", "签证"],
    },
    Concern {
        asks: &["workout", "exercise", "exercises", "jog", "jogging", "run", "running", "training", "sport", "锻炼", "健身", "跑步", "运动", "训练"],
        tells: &["knee", "injury", "injured", "hurt", "hurting", "pain", "asthma", "surgery", "膝盖", "受伤", "哮喘", "手术", "疼"],
    },
    Concern {
        asks: &["film", "movie", "series", "book", "game", "电影", "剧", "看什么", "书单", "游戏"],
        tells: &["hate", "dislike", "scary", "favorite", "讨厌", "不喜欢", "最喜欢", "害怕"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dinner_for_oneself_concerns_what_one_may_not_eat_in_both_languages() {
        for (request, word) in
            [("Plan dinner for me tonight", "allergic"), ("帮我安排今天的晚饭", "过敏")]
        {
            assert!(of(request).iter().any(|(_, told)| told.contains(&word)), "{request}");
        }
        for request in
            ["How long does dinner take in Spain?", "晚饭几点比较健康", "Tell me a joke for me", ""]
        {
            assert!(!touches(request), "{request}");
        }
    }
}
