//! Tests of changes: pairs of everyday statements of which the newer ends the older, and pairs that both hold.

use super::{
    both_hold_tests::BOTH_HOLD,
    statement::{NewStatement, StatementClash},
};

/// Year in which the stored statements of these tables were told.
const TOLD: i16 = 2026;

fn clash(new: &str, old: &str) -> Option<StatementClash> {
    NewStatement::parse(new)?.clash_with(old, TOLD)
}

/// Returns `true` if `new` and `old` cannot both hold.
pub(super) fn contradict(new: &str, old: &str) -> bool {
    clash(new, old) == Some(StatementClash::Certain)
}

#[rustfmt::skip]
const ENDED: &[(&str, &str)] = &[
    ("I work at Lufthansa", "I left Lufthansa in March and I'm at Airbus now"),
    ("My landlord is Mr. Hughes", "My new landlord is Ms. Petrov"),
    ("I take 20 mg of lisinopril every morning", "My lisinopril was lowered to 10 mg"),
    ("The wedding is on 14 June", "We moved the wedding to 21 June"),
    ("I drive a Honda Civic", "I sold the Civic, I drive a Kia now"),
    ("We use Slack at work", "We moved from Slack to Teams"),
    ("I'm vegan", "I'm not vegan anymore, I eat fish again"),
    ("My girlfriend is called Nora", "Nora and I broke up"),
    ("The database runs on Postgres 14", "The database was upgraded to Postgres 16"),
    ("My gym is FitX", "I cancelled FitX and joined McFit"),
    ("I play the violin", "I no longer play the violin"),
    ("The API timeout is 30 seconds", "The API timeout was raised to 60 seconds"),
    ("My manager is Olivia", "My manager is now Daniel"),
    ("The office is on the third floor", "The office moved to the fifth floor"),
    ("I drink two cups of coffee a day", "I gave up coffee"),
    ("我在华为上班", "我从华为离职了，现在在小米"),
    ("我的牙医是陈医生", "我换牙医了，现在是刘医生"),
    ("我每天吃20毫克降压药", "医生把我的降压药减到10毫克了"),
    ("婚礼定在6月14号", "婚礼改到6月21号了"),
    ("我开的是本田思域", "我把思域卖了，现在开比亚迪"),
    ("我们公司用钉钉", "我们公司从钉钉换成飞书了"),
    ("我吃素", "我又开始吃肉了"),
    ("我女朋友叫小敏", "我跟小敏分手了"),
    ("数据库版本是5.7", "数据库升级到8.0了"),
    ("我抽烟", "我把烟戒了"),
    ("我拉小提琴", "我不再拉小提琴了"),
    ("接口超时是30秒", "接口超时改成60秒了"),
    ("我的领导是李总", "我现在的领导是王总"),
    ("办公室在三楼", "办公室搬到五楼了"),
    ("测试环境的端口是8080", "测试环境端口改到9090了"),
    ("I work for Deloitte", "I resigned from Deloitte last Friday"),
    ("I own a Vespa", "I finally sold my Vespa"),
    ("We use Trello", "We replaced Trello with Linear"),
    ("The exam is on 3 July", "The exam has been moved to 10 July"),
    ("My hairdresser is Gina", "My hairdresser is Paul now"),
    ("The meeting room holds 8 people", "The meeting room holds 12 people now"),
    ("Our budget is 5,000 euros", "Our budget was cut to 4,000 euros"),
    ("I subscribe to Netflix", "I cancelled Netflix"),
    ("我在阿里工作", "我从阿里辞职了"),
    ("我们用GitLab", "我们从GitLab迁到GitHub了"),
    ("考试在7月3号", "考试推迟到7月10号了"),
    ("预算是五千元", "预算降到四千元了"),
    ("我有一辆电动车", "我把电动车卖了"),
    ("我导师是陈教授", "我换导师了，现在是林教授"),
    ("I live in Berlin", "I moved to Lisbon last week"),
    ("I work at Siemens", "I quit Siemens and now work at Bosch"),
    ("My favourite colour is green", "My favourite color is blue now"),
    ("I am vegetarian", "I started eating meat again"),
    ("My daughter Mia is 6 years old", "My daughter Mia is 7 years old now"),
    ("Our staging server runs on port 8080", "The staging server now runs on port 9090"),
    ("The launch is on 5 March", "The launch was postponed to 12 March"),
    ("I drive a Toyota Corolla", "I sold the Corolla and bought a Tesla"),
    ("I'm single", "I got married to Jonas in June"),
    ("I take 50 mg of sertraline", "My doctor raised my sertraline to 100 mg"),
    ("我住在上海浦东", "我上个月搬到杭州了"),
    ("我在腾讯上班", "我从腾讯离职了，现在在字节跳动工作"),
    ("我的手机号是13800001111", "我换手机号了，新号是13900002222"),
    ("我每天喝两杯咖啡", "医生不让喝，我戒咖啡了"),
    ("项目用的是MySQL", "项目数据库从MySQL换成PostgreSQL了"),
    ("周会定在每周三下午", "周会改到每周四上午了"),
    ("我女朋友叫小雨", "我和小雨分手了"),
    ("I live in Berlin", "我搬到里斯本了"),
    ("My dentist is Dr. Klein", "I switched dentists, Dr. Okafor is my dentist now"),
    ("We use Jenkins for CI", "We migrated CI from Jenkins to GitHub Actions"),
    ("I live in Berlin", "I now live in Lisbon"),
    ("I work at Siemens", "I work at Bosch now"),
    ("I work at Siemens", "I left Siemens, I'm at Bosch now"),
    ("My boss is Karen", "My new boss is Steve"),
    ("The deadline is Friday", "The deadline is now Monday"),
    ("The deadline for the report is 3 June", "The deadline for the report moved to 10 June"),
    ("My wife's name is Anna", "I got divorced from Anna"),
    ("I have two cats", "One of my cats died, I have one cat now"),
    ("I smoke", "I quit smoking"),
    ("I use VS Code", "I switched from VS Code to Neovim"),
    ("Our API runs on port 3000", "Our API runs on port 4000"),
    ("My car is a Golf", "My car is a Tesla Model 3"),
    ("I weigh 80 kg", "I weigh 75 kg"),
    ("I take 5 mg of lisinopril daily", "I take 10 mg of lisinopril daily"),
    ("My rent is 900 euros", "My rent is 1100 euros"),
    ("My salary is 1900 euros", "My salary is 2000 euros"),
    ("Our team has 5 people", "Our team has 7 people"),
    ("我每天吃5毫克赖诺普利", "我每天吃10毫克赖诺普利"),
    ("我们团队有5个人", "我们团队有7个人"),
    ("I'm a student", "I graduated and work as a nurse"),
    ("My email is a@x.io", "My new email is b@y.io"),
    ("我在阿里上班", "我现在在美团上班"),
    ("我老板是王总", "我换老板了，现在是李总"),
    ("截止日期是周五", "截止日期改到下周一了"),
    ("我有一只猫", "我的猫去世了"),
    ("我抽烟", "我戒烟了"),
    ("我用的是安卓手机", "我换成苹果手机了"),
    ("我体重80公斤", "我现在体重75公斤"),
    ("我单身", "我结婚了"),
    ("我们的接口跑在3000端口", "接口端口改成4000了"),
    ("我家有一个孩子", "我家二胎出生了，现在有两个孩子"),
    ("My mortgage rate is 3.1 percent", "My mortgage rate went up to 3.9 percent"),
    ("My cardiologist is Dr. Weber", "My new cardiologist is Dr. Sato"),
    ("We deploy on Fridays", "We moved deploys to Tuesdays"),
    ("I study at TU Delft", "I dropped out of TU Delft"),
    ("My daily step goal is 8000", "My daily step goal is 10000 now"),
    ("I play tennis on Sundays", "I gave up tennis"),
    ("Our office hours are 9 to 5", "Our office hours are now 8 to 4"),
    ("The repo lives on Bitbucket", "We migrated the repo from Bitbucket to GitLab"),
    ("我在读研究生", "我研究生毕业了"),
    ("我的会员是白银级", "我的会员升到黄金级了"),
    ("我周末打网球", "我不打网球了"),
    ("我家宽带是100兆", "我家宽带升到500兆了"),
    ("The demo is on Friday", "The demo was cancelled"),
    ("评审会在周一上午十点", "评审会取消了"),
    ("I moved to Lyon in 2020", "I moved to Paris in 2023"),
    ("I moved to Lyon in 2010", "I live in Paris"),
    ("I work at Ericsson", "I left Ericsson in 2026"),
    ("My birthday is 14 May 1990", "My birthday is 15 May 1985"),
    ("生产环境用的是Postgres 14", "生产环境用的是Postgres 16"),
    ("The production database is Postgres 14", "The production database is Postgres 16"),
    ("Our server runs Ubuntu 20.04", "Our server runs Ubuntu 24.04"),
    ("I'm in room 12", "I'm in room 14"),
    ("My son is in fourth grade", "My son is in fifth grade"),
    ("My son is in fourth grade", "My son started fifth grade"),
    ("我儿子上小学五年级", "我儿子六年级了"),
    ("我儿子上小学五年级", "我儿子今年上六年级"),
    ("我鞋码42", "我鞋码43"),
    ("My cat Luna is 3 years old", "Luna just turned 4"),
    ("My cat Luna is 3 years old", "My cat Luna is 4 years old"),
    ("我家猫咪三岁了", "我家猫咪四岁了"),
    ("My blood pressure is 140/90", "My blood pressure is 125/80"),
    ("我在学西班牙语", "西班牙语我不学了"),
    ("我在学西班牙语", "我不学西班牙语了"),
    ("我每天抽一包烟", "我三月份就不抽烟了"),
    ("I take ibuprofen for my back", "I no longer take ibuprofen"),
    ("I take ibuprofen for my back", "My doctor took me off ibuprofen"),
    ("周二下午三点跟客户开会", "跟客户的会推迟到周四了"),
    ("We meet on Zoom", "We meet on Teams now"),
    ("我们用Zoom开会", "我们现在用腾讯会议开会"),
    ("My gym is FitX", "I switched gyms, I'm at McFit now"),
    ("我在乐刻健身", "我现在在超级猩猩健身"),
    ("Maria is the team lead", "Jorge is the new team lead"),
    ("组长是老马", "现在组长是老周"),
    ("I work at Siemens", "I started at Bosch on Monday"),
    ("I work at Siemens", "Siemens fired me"),
    ("我爸在工地上班", "我爸上个月退休了"),
    ("我单身", "我昨天订婚了"),
    ("我单身", "我有女朋友了"),
    ("每天七点叫我", "以后六点半叫我"),
    ("用英文回答我", "以后用德语回答我"),
    ("I'm on holiday until Friday", "I'm back from holiday"),
    ("我怀孕了", "我生了，是个女儿"),
    ("I drive a Golf", "Sold the Golf, I've got a Tesla now"),
    ("我开高尔夫", "高尔夫卖掉了，换了辆比亚迪"),
    ("My doctor is Dr. Weber", "My new doctor is Dr. Wong"),
    ("My desk is on the third floor", "my desk is on the 7th floor now"),
    ("I drink coffee", "I've quit coffee"),
    ("周五可以发布", "周五不能发布"),
    ("发布需要两个人审批", "发布不需要审批"),
    ("Releases require two approvals", "Releases do not require approval"),
    ("We can deploy on Fridays", "We cannot deploy on Fridays"),
    ("The tech lead is Bob", "The tech lead is Carol"),
    ("项目经理是小王", "项目经理是小李"),
    ("The standup is at 9:30", "The standup is at 10:15"),
    ("例会在上午九点", "例会在十点半"),
    ("The deadline is December 1", "The deadline is December 15"),
    ("The staging database is postgres 14", "The staging database is postgres 16"),
    ("The office is on the third floor", "The office is on the fifth floor"),
    ("办公室在三楼", "办公室在五楼"),
    ("我吃阿司匹林", "医生把阿司匹林停了"),
    ("I drink coffee and tea", "I no longer drink coffee or tea"),
    ("The launch is in 2027", "The launch was postponed to 2028"),
    ("I live in Lyon", "I moved to Paris in 2026"),
    ("弟弟上三年级", "弟弟上四年级"),
    ("I use Vim for notes", "I use Obsidian for notes now"),
    ("Answer me in English", "Answer me in German from now on"),
    ("I live in Paris, France", "I live in Rome"),
    ("My name is Ann, nice to meet you", "My name is Lily"),
    ("My wife and I live in Berlin", "My wife and I moved to Lisbon"),
    ("I'm single", "I have a girlfriend now"),
    ("I have a girlfriend", "I'm single again"),
    ("Our standup is at 9:30", "Our standup is at 9:45 now"),
    ("The recipe needs 2 eggs", "The recipe needs 3 eggs"),
    ("Mia is in third grade", "Mia is in fourth grade"),
    ("I see Dr. Klein for my knee", "I no longer see Dr. Klein"),
    ("I volunteer at the shelter on Saturdays", "I no longer volunteer at the shelter"),
    ("I am learning Spanish with an app", "I'm no longer learning Spanish"),
    ("I study French at night school", "I stopped studying French"),
    ("I take warfarin", "I'm off warfarin now"),
    ("I work at Google", "Google laid me off last week"),
    ("I work at Google", "I retired last month"),
    ("I'm on vacation until Monday", "I'm back from vacation"),
    ("I'm pregnant, due in May", "I gave birth yesterday"),
    ("I use Zoom for client calls", "I use Meet for client calls now"),
    ("I work from home", "I work from the office now"),
    ("I wake up at 7", "I wake up at 6 now"),
    ("The tech lead is Bob, he's in Utrecht", "The tech lead is Carol"),
    ("The head chef is Marco", "Our new head chef is Lena"),
    ("Our vet is Dr. Lee", "Our new vet is Dr. Kim"),
    ("I can eat dairy", "I cannot eat dairy"),
    ("Guests can bring dogs", "Guests cannot bring dogs"),
    ("The API requires a token", "The API does not require a token"),
    ("我用的是Python 3.10", "我用的是Python 3.12"),
    ("我家在三楼", "我家在五楼"),
    ("我儿子上三年级", "我儿子四年级了"),
    ("我坐3号线上班", "我现在坐5号线上班"),
    ("我在学钢琴", "钢琴我不学了"),
    ("我每周去两次健身房", "我不去健身房了"),
    ("我爸在学校上班", "我爸退休了"),
    ("我在西门子上班", "我被西门子裁了"),
    ("我吃华法林", "华法林停了"),
    ("我在休假", "我休假回来了"),
    ("每天七点叫我起床", "以后七点半叫我起床"),
    ("用中文回答我", "以后用英文回答我"),
    ("技术负责人是老王", "技术负责人是小陈"),
    ("我能吃辣", "我不能吃辣"),
    ("访客可以停车", "访客不能停车"),
    ("报销需要发票", "报销不需要发票"),
    ("我单身", "我脱单了"),
    ("我家猫三岁了", "我家猫四岁了"),
];

/// Pairs of which the older may no longer hold, in whole or in part.
#[rustfmt::skip]
const DOUBTED: &[(&str, &str)] = &[
    ("My flight is at 9am", "My flight is at 11am"),
    ("我吃阿司匹林和降压药", "医生把阿司匹林停了"),
    ("I take aspirin and metformin", "I no longer take aspirin"),
    ("I take aspirin and metformin", "My doctor took me off aspirin"),
    ("We use Slack and Zoom", "We moved from Slack to Teams"),
    ("I have a Golf and a Tesla", "I sold the Golf"),
    ("I live in Paris, I'm allergic to nuts", "I live in Rome"),
    ("我住在巴黎，对花生过敏", "我住在罗马"),
    ("I use Python 3.10", "I use Python 3.12"),
    ("我吃鱼油", "我不吃鱼了"),
    ("My train is at 9", "My train is at 11"),
    ("My exam is in room 12", "My exam is in room 14"),
    ("My appointment is at 9:30", "My appointment is at 11:30"),
    ("我的车票是9点的", "我的车票是11点的"),
    ("我喝牛奶咖啡", "我不喝牛奶了"),
    ("我在学西班牙语和法语", "西班牙语我不学了"),
    ("我爸是老师", "我爸退休了"),
    ("我叫章伟，住在巴黎", "我改名叫李雷了"),
    ("我在腾讯上班，住在深圳", "我跳槽到字节了"),
    ("We use Jira, Slack and Zoom", "We moved from Jira to Linear"),
    ("我们用Jira、飞书和Zoom", "我们从Jira换成Linear了"),
    ("My flight is on 3 May", "My flight is on 10 May"),
    ("My shift is at 6 pm", "My shift is at 9 pm"),
    ("My wife is a nurse", "My wife retired"),
    ("We use Slack and Zoom", "We no longer use Zoom"),
    ("I have a bike and a Vespa", "I sold my Vespa"),
    ("My stack is Rust and Postgres", "We moved from Postgres to MySQL"),
    ("I speak German and French", "I no longer speak German"),
    ("我吃布洛芬止痛", "我不吃布洛芬了"),
];

#[test]
fn a_change_ends_what_it_names() {
    let missed: Vec<_> = ENDED.iter().filter(|(old, new)| !contradict(new, old)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_somebody_else_did_a_wish_and_a_past_period_end_nothing() {
    let ended: Vec<_> = BOTH_HOLD.iter().filter(|(old, new)| contradict(new, old)).collect();
    assert!(ended.is_empty(), "{ended:#?}");
}

#[test]
fn a_change_of_one_part_or_of_one_of_several_is_a_doubt() {
    let other: Vec<_> = DOUBTED
        .iter()
        .filter(|(old, new)| clash(new, old) != Some(StatementClash::Possible))
        .collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn pairs_that_hold_are_seldom_doubted() {
    let doubted = BOTH_HOLD.iter().filter(|(old, new)| clash(new, old).is_some()).count();
    assert!(doubted * 50 < BOTH_HOLD.len(), "{doubted} of {}", BOTH_HOLD.len());
}

#[test]
fn an_event_is_compared_by_its_year_with_what_was_told_before_and_after_it() {
    let clash =
        |new: &str, old: &str, told| NewStatement::parse(new).unwrap().clash_with(old, told);
    for (old, new) in [
        ("I live in Paris", "I moved to Rome in 2025"),
        ("I work at Siemens", "I left Siemens in 2025"),
        ("我在西门子上班", "我2025年从西门子离职了"),
    ] {
        assert_eq!(clash(new, old, 2024), Some(StatementClash::Certain), "{old} then {new}");
        assert_eq!(clash(new, old, 2026), None, "{old} then {new}");
    }
}
