use super::*;

const KNOWN: [Architecture; 3] = [Architecture::new(7, 5), Architecture::new(8, 0), Architecture::new(9, 0)];

fn target(major: u32, minor: u32) -> Result<Target, Error> {
    Target::of(Architecture::new(major, minor), &KNOWN, "13.0")
}

#[test]
fn a_known_gpu_gets_its_own_machine_code() {
    let cubin = Target { architecture: Architecture::new(8, 0), format: ImageFormat::Cubin };
    assert_eq!(target(8, 0).unwrap(), cubin);
}

#[test]
fn a_newer_gpu_gets_ptx_of_the_newest_known() {
    let ptx = Target { architecture: Architecture::new(9, 0), format: ImageFormat::Ptx };
    assert_eq!(target(12, 0).unwrap(), ptx);
    let between = Target { architecture: Architecture::new(8, 0), format: ImageFormat::Ptx };
    assert_eq!(target(8, 7).unwrap(), between);
}

#[test]
fn an_older_gpu_is_refused_with_what_is_known() {
    let error = target(7, 0).unwrap_err().to_string();
    assert!(error.contains("sm_70 is too old for NVRTC 13.0, which starts at sm_75"), "{error}");
}
