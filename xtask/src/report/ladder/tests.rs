use super::*;

const ROWS: &str = "length,threads,what,place,us
268435456,0,read ceiling,device,250.0
268435456,0,copy ceiling,scan,500.0
268435456,128,interleaved,device,4000.0
268435456,256,interleaved,device,3000.0
268435456,128,warp shuffles,device,320.0
268435456,256,warp shuffles,device,300.0
268435456,0,warpfold,device,255.0
268435456,256,Kogge-Stone,scan,2000.0
268435456,0,warpfold,scan,520.0
268435456,256,warp shuffles,pinned,20000.0
268435456,0,one thread,cpu,180000.0
";

#[test]
fn a_rung_stands_beside_the_one_before_it() {
    let ladder = Ladder::new(ROWS).unwrap();
    let rows = |name| ladder.block(name).unwrap().lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        rows("ladder"),
        [
            "| interleaved | 4000 | 3000 | 357.9 | 0.08 | – | – |",
            "| warp shuffles | 320 | 300 | 3579.1 | 0.83 | 10.00x | 10.00x |",
            "| warpfold | 255 | 255 | 4210.8 | 0.98 | 1.18x | 11.76x |",
        ]
    );
    assert_eq!(rows("ladder-scans")[1], "| warpfold | 520 | 4129.8 | 0.96 | 3.85x | 3.85x |");
    assert_eq!(rows("ladder-sizes")[0], "| interleaved | 357.9 |");
    assert_eq!(
        rows("ladder-transfers"),
        ["| warp shuffles | 0.30 | – | 20.0 | – |", "| the CPU, one thread | 180 |  |  |  |"]
    );
}

#[test]
fn without_rows_every_table_says_so() {
    for name in ["ladder", "ladder-sizes", "ladder-transfers", "ladder-scans"] {
        assert_eq!(Ladder::default().block(name).unwrap(), "This record has none.\n");
    }
    assert!(Ladder::default().block("large").is_none());
}
