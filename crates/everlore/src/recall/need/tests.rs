#[test]
fn dump() {
    for f in ["/tmp/gate/removed.txt", "/tmp/gate/rm.txt"] {
        for l in std::fs::read_to_string(f).unwrap().lines() {
            let n = super::need_of(l);
            if n != super::Need::Open { println!("{n:?} {l}"); }
        }
    }
}
