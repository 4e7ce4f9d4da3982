//! Places that contain each other: who lives in Paris lives in France too. The table has large countries and cities in
//! both languages; of a place that is not in it, only its ending tells something (朝阳区 is part of some city).

/// Countries with their cities and regions. Names of one place are separated by `/`, places by commas.
#[rustfmt::skip]
const COUNTRIES: &[(&str, &str)] = &[
    ("france/法国", "paris/巴黎,lyon/里昂,marseille/马赛,nice/尼斯,toulouse/图卢兹,bordeaux/波尔多,lille/里尔,strasbourg/斯特拉斯堡"),
    ("italy/意大利", "rome/罗马,milan/米兰,florence/佛罗伦萨,venice/威尼斯,naples/那不勒斯,turin/都灵,bologna/博洛尼亚"),
    ("spain/西班牙", "madrid/马德里,barcelona/巴塞罗那,valencia/瓦伦西亚,seville/塞维利亚"),
    ("portugal/葡萄牙", "lisbon/里斯本,porto/波尔图"),
    ("germany/德国", "berlin/柏林,munich/慕尼黑,hamburg/汉堡,frankfurt/法兰克福,cologne/科隆,stuttgart/斯图加特,leipzig/莱比锡"),
    ("austria/奥地利", "vienna/维也纳,salzburg/萨尔茨堡,graz/格拉茨"),
    ("switzerland/瑞士", "zurich/苏黎世,geneva/日内瓦,bern/伯尔尼,basel/巴塞尔"),
    ("netherlands/the netherlands/荷兰", "amsterdam/阿姆斯特丹,rotterdam/鹿特丹,utrecht/乌得勒支"),
    ("belgium/比利时", "brussels/布鲁塞尔,antwerp/安特卫普,ghent/根特"),
    ("uk/united kingdom/britain/great britain/england/scotland/英国/英格兰", "london/伦敦,manchester/曼彻斯特,edinburgh/爱丁堡,glasgow/格拉斯哥,cambridge/剑桥,oxford/牛津,bristol/布里斯托,leeds/利兹"),
    ("ireland/爱尔兰", "dublin/都柏林,cork/科克"), ("norway/挪威", "oslo/奥斯陆,bergen/卑尔根"),
    ("sweden/瑞典", "stockholm/斯德哥尔摩,gothenburg/哥德堡,malmö/马尔默"), ("denmark/丹麦", "copenhagen/哥本哈根,aarhus/奥胡斯"),
    ("finland/芬兰", "helsinki/赫尔辛基,espoo/埃斯波"), ("poland/波兰", "warsaw/华沙,krakow/克拉科夫"), ("czechia/czech republic/捷克", "prague/布拉格,brno/布尔诺"),
    ("hungary/匈牙利", "budapest/布达佩斯"), ("greece/希腊", "athens/雅典"), ("turkey/土耳其", "istanbul/伊斯坦布尔,ankara/安卡拉"), ("russia/俄罗斯", "moscow/莫斯科"),
    ("usa/us/u.s/united states/america/美国", "new york/nyc/纽约,san francisco/旧金山,los angeles/洛杉矶,seattle/西雅图,boston/波士顿,chicago/芝加哥,austin/奥斯汀,denver/丹佛,portland/波特兰,houston/休斯顿,dallas/达拉斯,miami/迈阿密,atlanta/亚特兰大,philadelphia/费城,san diego/圣地亚哥,washington/华盛顿,california/加州,texas/得州,brooklyn/布鲁克林,queens/皇后区,manhattan/曼哈顿"),
    ("canada/加拿大", "toronto/多伦多,vancouver/温哥华,montreal/蒙特利尔,ottawa/渥太华,calgary/卡尔加里"), ("mexico/墨西哥", "mexico city/墨西哥城"),
    ("brazil/巴西", "são paulo/sao paulo/圣保罗,rio de janeiro/里约热内卢"), ("argentina/阿根廷", "buenos aires/布宜诺斯艾利斯"), ("ecuador/厄瓜多尔", "quito/基多"),
    ("australia/澳大利亚/澳洲", "sydney/悉尼,melbourne/墨尔本,brisbane/布里斯班,perth/珀斯"), ("new zealand/新西兰", "auckland/奥克兰,wellington/惠灵顿"),
    ("japan/日本", "tokyo/东京,osaka/大阪,kyoto/京都,yokohama/横滨,sapporo/札幌"), ("south korea/korea/韩国", "seoul/首尔,busan/釜山"),
    ("singapore/新加坡", ""), ("thailand/泰国", "bangkok/曼谷,chiang mai/清迈"), ("vietnam/越南", "hanoi/河内"), ("malaysia/马来西亚", "kuala lumpur/吉隆坡"),
    ("india/印度", "mumbai/孟买,delhi/new delhi/德里,bangalore/bengaluru/班加罗尔"), ("egypt/埃及", "cairo/开罗"), ("south africa/南非", "cape town/开普敦"),
    ("china/中国", "beijing/北京,shanghai/上海,guangzhou/广州,shenzhen/深圳,hangzhou/杭州,chengdu/成都,nanjing/南京,wuhan/武汉,xi'an/xian/西安,suzhou/苏州,chongqing/重庆,tianjin/天津,xiamen/厦门,qingdao/青岛,dalian/大连,changsha/长沙,zhengzhou/郑州,kunming/昆明,ningbo/宁波,hefei/合肥,jinan/济南,fuzhou/福州,dongguan/东莞,foshan/佛山,zhuhai/珠海,wuxi/无锡,hong kong/香港,macau/澳门,taipei/台北,guangdong/广东,zhejiang/浙江,jiangsu/江苏,sichuan/四川,hubei/湖北,hunan/湖南,fujian/福建,shandong/山东,shaanxi/陕西,henan/河南,yunnan/云南,anhui/安徽,liaoning/辽宁,hebei/河北,hainan/海南"),
];

/// Regions within a country, with their cities.
#[rustfmt::skip]
const REGIONS: &[(&str, &str)] = &[
    ("california", "san francisco,los angeles,san diego"), ("texas", "austin,houston,dallas"), ("new york", "brooklyn,queens,manhattan"),
    ("guangdong", "guangzhou,shenzhen,dongguan,foshan,zhuhai"), ("zhejiang", "hangzhou,ningbo"), ("jiangsu", "nanjing,suzhou,wuxi"),
    ("sichuan", "chengdu"), ("hubei", "wuhan"), ("hunan", "changsha"), ("fujian", "xiamen,fuzhou"), ("shandong", "qingdao,jinan"),
    ("shaanxi", "xi'an"), ("henan", "zhengzhou"), ("yunnan", "kunming"), ("anhui", "hefei"), ("liaoning", "dalian"),
    ("北京", "朝阳区,海淀区,西城区,东城区,丰台区,通州区,昌平区,大兴区,朝阳,海淀,望京,中关村"), ("上海", "浦东新区,浦东,徐汇区,静安区,黄浦区,闵行区,长宁区,杨浦区,徐汇,静安"),
    ("广州", "天河区,越秀区,海珠区,番禺区,天河"), ("深圳", "南山区,福田区,罗湖区,宝安区,龙岗区,南山,福田"), ("杭州", "西湖区,滨江区,余杭区,拱墅区"), ("成都", "武侯区,锦江区,高新区"),
];

/// Endings of Chinese names of districts and what lies within them.
const DISTRICT_ENDINGS: [&str; 9] = ["新区", "区", "县", "镇", "街道", "村", "小区", "路", "胡同"];

/// Returns `true` if both names are those of one place, in any language.
pub(super) fn is_same_place(one: &str, other: &str) -> bool {
    canonical(one) == canonical(other)
}

/// Returns `true` if someone can live in both places at once: they are the same place, or one may be part of the other.
pub(super) fn may_contain(one: &str, other: &str) -> bool {
    let (one, other) = (canonical(one), canonical(other));
    one == other || is_within(one, other) || is_within(other, one)
}

/// Returns `true` if `part` lies in `whole`, as far as anyone can tell.
fn is_within(part: &str, whole: &str) -> bool {
    if is_part_of(part, whole) {
        return true;
    }
    let is_known = is_country(part) || parents(part).next().is_some();
    // An unknown place lies in some country, an unknown district in some city.
    !is_known && (is_country(whole) || is_district(part)) && !is_district(whole)
}

/// Follows the table upwards: district, city, region, country.
fn is_part_of(part: &str, whole: &str) -> bool {
    parents(part).any(|parent| parent == whole || parent != part && is_part_of(parent, whole))
}

fn parents(part: &str) -> impl Iterator<Item = &'static str> {
    let rows = COUNTRIES.iter().chain(REGIONS);
    rows.filter(move |(_, parts)| holds(parts, part)).map(|(names, _)| canonical(first_name(names)))
}

/// Returns the first name of a place in the table, else the name itself.
fn canonical(name: &str) -> &str {
    let name = name.trim_end_matches('市');
    let mut all =
        COUNTRIES.iter().flat_map(|(names, parts)| std::iter::once(*names).chain(places(parts)));
    all.find(|names| has_name(names, name)).map_or(name, first_name)
}

fn first_name(names: &str) -> &str {
    names.split('/').next().unwrap_or(names)
}

fn is_country(name: &str) -> bool {
    COUNTRIES.iter().any(|(names, _)| has_name(names, name))
}

fn places(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(',').filter(|names| !names.is_empty())
}

fn holds(list: &'static str, name: &str) -> bool {
    places(list).any(|names| has_name(names, name))
}

fn has_name(names: &str, name: &str) -> bool {
    names.split('/').any(|it| it == name)
}

fn is_district(name: &str) -> bool {
    DISTRICT_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_holds_beside_its_whole_and_two_cities_do_not() {
        #[rustfmt::skip]
        let hold = [
            ("paris", "france"), ("france", "paris"), ("巴黎", "france"), ("paris", "巴黎"), ("北京", "朝阳区"), ("朝阳区", "beijing"), ("中国", "朝阳区"),
            ("china", "深圳"), ("广东", "深圳"), ("brooklyn", "new york"), ("usa", "brooklyn"), ("smallville", "usa"), ("北京市", "北京"), ("雅安", "中国"),
        ];
        for (one, other) in hold {
            assert!(may_contain(one, other), "{one} {other}");
        }
        #[rustfmt::skip]
        let apart = [
            ("paris", "rome"), ("paris", "罗马"), ("paris", "italy"), ("北京", "上海"), ("朝阳区", "海淀区"), ("上海", "朝阳区"), ("france", "italy"),
            ("smallville", "gotham"), ("brooklyn", "queens"), ("深圳", "浙江"),
        ];
        for (one, other) in apart {
            assert!(!may_contain(one, other), "{one} {other}");
        }
    }
}
