use super::*;

const MACHINE: &str = "key,value
gpu,NVIDIA H200
driver,580.159.04
cuda,13.0
cub,3.5
cpu,Xeon
cpu_threads,16
pytorch,2.11
date,2026-11-21
commit,e69e7c1
";
pub(crate) const HEADER: &str =
    "who,operator,item,item_bytes,bytes,offset,time,median_us,p10_us,p90_us,samples,result\n";

/// A record with one size of a sum, its ceiling and its peer, and rows that no table uses.
pub(crate) fn small_record() -> Record {
    let mut record = Record::new(MACHINE).unwrap();
    let rows = "warpfold,sum,f32,4,1048576,0,graph,2.000,2,2,25,00
warpfold,sum,f32,4,1048576,4,graph,4.000,2,2,25,00
warpfold,sum,f32,4,1048576,0,host,10.0,2,2,25,00
cub,sum,f32,4,1048576,0,graph,1.600,2,2,15,00
cub,sum,f32,4,1048576,0,host,20.0,2,2,15,00
read,-,-,16,1048576,0,graph,1.500,2,2,15,-
warpfold-cpu,sum,f32,4,1048576,0,cpu,30.0,2,2,15,00
read-cpu,sum,f32,4,1048576,0,cpu,27.0,2,2,15,-
rayon-sum,sum,f32,4,1048576,0,cpu,45.0,2,2,15,00
launch,mapped,-,0,0,0,host,6.324,5.751,7.727,101,-
";
    record.add(&format!("{HEADER}{rows}")).unwrap();
    record
}

fn refused(row: &str) -> String {
    format!("{:#}", small_record().add(&format!("{HEADER}{row}\n")).unwrap_err())
}

#[test]
fn a_machine_is_read_by_its_keys() {
    let machine = small_record().machine;
    assert_eq!((machine.gpu.as_str(), machine.commit.as_str()), ("NVIDIA H200", "e69e7c1"));
}

#[test]
fn a_machine_without_a_commit_is_refused() {
    let error = Record::new(&MACHINE.replace("commit", "revision")).err().unwrap();
    assert!(error.to_string().contains("missing field `commit`"), "{error}");
    let error = Record::new(&MACHINE.replace("e69e7c1", "")).err().unwrap();
    assert_eq!(error.to_string(), "`commit` has no value");
}

#[test]
fn fractions_are_of_speeds() {
    let record = small_record();
    let sum = Series::graph("warpfold", "sum", "f32");
    let fraction = |series: &Series, of: &Series| record.fraction(series, of, 1 << 20);
    assert_eq!(fraction(&sum, &Series::read()), Some(0.75));
    assert_eq!(fraction(&sum.clone().unaligned(), &Series::read()), Some(0.375));
    let on_host = sum.taken(Time::Host);
    assert_eq!(fraction(&on_host, &Series::graph("cub", "sum", "f32").taken(Time::Host)), Some(2.0));
    assert_eq!(record.fraction(&on_host, &Series::read(), 1 << 21), None);
}

#[test]
fn subjects_are_told_apart_by_who_was_measured() {
    let record = small_record();
    let subjects: Vec<&Subject> = record.subjects("warpfold").collect();
    assert_eq!(subjects.len(), 1);
    assert_eq!((subjects[0].operator.as_str(), subjects[0].item_bytes), ("sum", 4));
    assert_eq!(record.subjects("nobody").count(), 0);
}

#[test]
fn bad_rows_are_refused_with_their_line() {
    assert!(refused("warpfold,sum,f32,4,2097152,0,graph,fast,1,1,1,00").contains("line: 2"));
    assert!(refused("warpfold,sum,f32,4,2097152,0,clock,1.0,1,1,1,00").contains("unknown variant"));
    assert!(refused("warpfold,sum,f32,4,2097152,0,graph,0.0,1,1,1,00").starts_with("line 2: 0 is not"));
}

#[test]
fn of_rows_measured_twice_none_is_picked() {
    let mut record = small_record();
    record.add(&format!("{HEADER}warpfold,sum,f32,4,1048576,0,graph,3.0,1,1,1,00\n")).unwrap();
    let sum = Series::graph("warpfold", "sum", "f32");
    assert_eq!(record.median(&sum, 1 << 20), Some(2.5));
    assert_eq!(record.medians(&sum).collect::<Vec<_>>(), [(1 << 20, 2.5)]);
}
