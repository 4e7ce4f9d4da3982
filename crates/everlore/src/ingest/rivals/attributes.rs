//! Attributes that have one value at a time, and the words that give it, in English and Chinese.

/// Attribute, and the words between its subject and its value.
#[rustfmt::skip]
pub(super) const VERBS: &[(&str, &str)] = &[
    ("home", "live in"), ("home", "reside in"), ("home", "am based in"), ("home", "moved to"), ("home", "move to"), ("home", "relocated to"),
    ("home", "settled in"),
    ("employer", "work at"), ("employer", "work for"), ("employer", "am employed by"), ("employer", "am employed at"),
    ("employer", "switched jobs to"), ("employer", "changed jobs to"), ("employer", "started at"),
    ("occupation", "work as a"), ("occupation", "work as an"), ("occupation", "became a"), ("occupation", "became an"),
    ("port", "run on port"), ("port", "listen on port"), ("port", "am on port"), ("port", "use port"),
    ("host", "am hosted on"), ("host", "am hosted at"), ("host", "am deployed on"), ("host", "am deployed to"),
    ("deadline", "am due on"), ("deadline", "am due by"), ("deadline", "am due"), ("scheduled", "am scheduled for"),
    ("name", "am called"), ("name", "am named"), ("name", "go by"), ("name", "changed my name to"),
];

/// Chinese attributes: words before the value, and words that must follow it.
#[rustfmt::skip]
pub(super) const CHINESE_VERBS: &[(&str, &str, &str)] = &[
    ("home", "住在", ""), ("home", "搬到", ""), ("home", "搬去", ""), ("home", "搬家到", ""), ("home", "定居在", ""), ("home", "定居", ""), ("home", "常住", ""),
    ("home", "居住在", ""), ("home", "移居", ""),
    ("employer", "跳槽到", ""), ("employer", "跳槽去", ""), ("employer", "入职", ""), ("employer", "在", "上班"), ("employer", "在", "工作"),
    ("employer", "在", "任职"), ("employer", "就职于", ""), ("employer", "任职于", ""),
    ("name", "改名叫", ""), ("name", "改名为", ""), ("name", "改名", ""), ("name", "名叫", ""), ("name", "叫", ""),
];

/// Verbs of a plain move: whoever moves to a country has left the city of another name.
pub(super) const MOVES: &[&str] =
    &["moved to", "move to", "relocated to", "settled in", "搬", "移居", "定居"];

/// Nouns that have one value, by one name in both languages: "my name is", 项目的截止日期是.
#[rustfmt::skip]
pub(super) const NOUNS: &[(&str, &[&str], &[&str])] = &[
    ("name", &["name"], &["名字", "姓名"]), ("nickname", &["nickname"], &["昵称"]), ("birthday", &["birthday"], &["生日"]), ("age", &["age"], &["年龄"]),
    ("email", &["email"], &["邮箱"]), ("phone", &["phone"], &["电话", "手机号"]), ("number", &["number"], &[]), ("address", &["address"], &["地址"]),
    ("occupation", &["occupation", "profession", "job"], &["职业"]), ("employer", &["employer"], &["公司", "雇主"]), ("boss", &[], &["老板", "领导"]), ("team lead", &[], &["组长"]), ("tech lead", &[], &["技术负责人"]), ("project manager", &[], &["项目经理"]), ("product manager", &[], &["产品经理"]),
    ("dentist", &[], &["牙医"]), ("landlord", &[], &["房东"]), ("handset", &[], &["手机"]), ("car insurance", &[], &["车险"]),
    ("deadline", &["deadline"], &["截止日期", "截止时间", "截止日"]), ("port", &["port"], &["端口"]), ("version", &["version"], &["版本"]), ("colour", &["colour"], &["颜色"]),
    ("budget", &["budget"], &["预算"]), ("timezone", &["timezone", "zone"], &["时区"]), ("salary", &["salary"], &["工资"]), ("height", &["height"], &["身高"]),
    ("weight", &[], &["体重"]), ("size", &[], &["尺码"]), ("hometown", &["hometown"], &["家乡", "老家"]), ("branch", &["branch"], &["分支"]),
];

/// Things of which people have one favourite, in both languages.
#[rustfmt::skip]
pub(super) const FAVOURITES: &[(&str, &str)] = &[
    ("colour", "颜色"), ("food", "食物"), ("dish", "菜"), ("drink", "饮料"), ("movie", "电影"), ("book", "书"), ("song", "歌"), ("singer", "歌手"),
    ("band", "乐队"), ("sport", "运动"), ("season", "季节"), ("fruit", "水果"), ("animal", "动物"), ("city", "城市"), ("number", "数字"), ("team", "球队"),
    ("game", "游戏"), ("writer", "作家"), ("tea", "茶"),
];

/// Copulas between a noun and its value, longest first: "is", "was moved to".
#[rustfmt::skip]
pub(super) const COPULAS: &[&str] = &[
    "have been moved to", "have been changed to", "have been pushed to", "have been pushed back to", "have been extended to", "have been postponed to",
    "am moved to", "was moved to", "was changed to", "was pushed to", "was pushed back to", "was extended to", "was postponed to", "am extended to",
    "got moved to", "moved to", "changed to", "slipped to", "am",
];

/// Chinese copulas, longest first.
#[rustfmt::skip]
pub(super) const CHINESE_COPULAS: &[&str] = &[
    "被推迟到", "被改到", "推迟到", "延期到", "延长到", "提前到", "延后到", "调整到", "调整为", "改成了", "改成", "改为", "改到", "变成", "延到", "是", "为", "叫", "在",
];

/// Occupations in both languages; other nouns after "I am a" can hold together.
#[rustfmt::skip]
pub(super) const OCCUPATIONS: &[(&str, &str)] = &[
    ("teacher", "老师/教师"), ("doctor", "医生/大夫"), ("nurse", "护士"), ("engineer", "工程师"), ("developer", "开发者"), ("programmer", "程序员"), ("designer", "设计师"),
    ("lawyer", "律师"), ("accountant", "会计/会计师"), ("chef", "厨师"), ("driver", "司机"), ("journalist", "记者"), ("pilot", "飞行员"), ("dentist", "牙医"),
    ("architect", "建筑师"), ("consultant", "顾问"), ("electrician", "电工"), ("plumber", "水管工"), ("baker", "面包师"), ("farmer", "农民"), ("scientist", "科学家"),
    ("professor", "教授"), ("manager", "经理/产品经理"), ("librarian", "图书管理员"), ("translator", "翻译"), ("student", "学生"),
];

/// Words that say a marital status, in both languages.
#[rustfmt::skip]
pub(super) const MARITAL_STATUS: &[(&str, &[&str], &[&str])] = &[
    ("single", &["am single", "am unmarried"], &["单身", "未婚", "没结婚", "没有结婚"]),
    ("divorced", &["am divorced", "got divorced", "am getting divorced"], &["离婚", "离异"]),
    ("widowed", &["am widowed"], &["丧偶"]),
    ("engaged", &["am engaged", "got engaged"], &["订婚"]),
    ("partnered", &["have a girlfriend", "have a boyfriend", "am in a relationship"], &["有女朋友", "有男朋友", "有对象", "脱单"]),
    ("married", &["am married", "got married"], &["结婚", "已婚", "领证"]),
];

/// People of whom one may have several: only a new one takes the place of another.
pub(super) const LOOSE_NOUNS: &[&str] = &["doctor", "vet", "trainer", "tutor", "nanny", "lawyer"];

/// People and animals of whom one may have several: each has a name of its own.
#[rustfmt::skip]
pub(super) const SEVERAL: &[&str] = &[
    "brother", "sister", "son", "daughter", "child", "kid", "friend", "cousin", "uncle", "aunt", "nephew", "niece", "colleague", "coworker", "neighbour", "neighbor",
    "roommate", "flatmate", "student", "cat", "dog", "pet", "horse", "bird", "grandson", "granddaughter", "classmate", "teacher",
    "哥哥", "弟弟", "姐姐", "妹妹", "儿子", "女儿", "孩子", "朋友", "同事", "同学", "邻居", "室友", "表哥", "表弟", "表姐", "表妹", "堂哥", "堂弟", "叔叔", "阿姨", "侄子", "猫", "狗", "宠物",
    "哥", "弟", "姐", "妹", "舅舅", "姑姑", "孙子", "孙女",
];

/// Family, and words for somebody else.
#[rustfmt::skip]
pub(super) const RELATIVES: &[&str] = &[
    "wife", "husband", "mother", "mum", "mom", "father", "dad", "parents", "partner", "girlfriend", "boyfriend", "grandmother", "grandfather", "grandma", "grandpa",
    "he", "she", "they", "his", "her", "their", "flatmates", "kids", "children", "cats", "dogs",
];

/// Chinese words for somebody else.
#[rustfmt::skip]
pub(super) const CHINESE_RELATIVES: &[&str] = &[
    "哥", "弟", "姐", "妹", "爸", "妈", "父亲", "母亲", "老婆", "老公", "妻子", "丈夫", "太太", "媳妇", "儿子", "女儿", "孩子", "爷爷", "奶奶", "外公", "外婆", "女朋友", "男朋友", "朋友", "同事", "同学",
    "邻居", "室友", "舅舅", "叔叔", "阿姨", "姑姑", "狗", "猫", "他", "她", "隔壁", "别的", "其他",
];

/// Subjects that both languages name.
#[rustfmt::skip]
pub(super) const SUBJECTS: &[(&str, &[&str])] = &[
    ("wife", &["老婆", "妻子", "太太", "媳妇"]), ("husband", &["老公", "丈夫", "先生"]), ("mother", &["妈妈", "母亲", "妈"]), ("mum", &["妈妈", "母亲", "妈"]), ("mom", &["妈妈", "母亲", "妈"]),
    ("father", &["爸爸", "父亲", "爸"]), ("dad", &["爸爸", "父亲", "爸"]), ("son", &["儿子"]), ("daughter", &["女儿"]), ("girlfriend", &["女朋友"]), ("boyfriend", &["男朋友"]),
    ("project", &["项目"]), ("report", &["报告"]), ("thesis", &["论文"]), ("contract", &["合同"]), ("proposal", &["提案"]),
];
