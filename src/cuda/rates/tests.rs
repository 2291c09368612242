use super::*;

const MIB: usize = 1 << 20;

fn rates(calls: &[(HostPlace, u64)]) -> Rates {
    let rates = Rates::default();
    calls.iter().for_each(|&(place, micros)| rates.record(place, MIB, Duration::from_micros(micros)));
    rates
}

#[test]
fn the_cpu_is_measured_first() {
    assert_eq!(rates(&[]).fastest(MIB), HostPlace::Cpu);
    assert_eq!(rates(&[(HostPlace::Cpu, 5000)]).fastest(MIB), HostPlace::Cpu);
    assert_eq!(rates(&[(HostPlace::Cpu, 5000); 2]).fastest(MIB), HostPlace::Gpu);
}

#[test]
fn a_gpu_that_cannot_be_faster_is_not_tried() {
    // 1 MiB takes 15 us and at least 21 us for the copy.
    assert_eq!(rates(&[(HostPlace::Cpu, 35); 3]).fastest(MIB), HostPlace::Cpu);
    assert_eq!(rates(&[(HostPlace::Cpu, 40); 3]).fastest(MIB), HostPlace::Gpu);
}

#[test]
fn the_measured_rates_decide_for_each_size() {
    let slow_gpu =
        rates(&[(HostPlace::Cpu, 100), (HostPlace::Cpu, 100), (HostPlace::Gpu, 120), (HostPlace::Gpu, 120)]);
    assert_eq!(slow_gpu.fastest(MIB), HostPlace::Cpu);
    // Inputs up to twice the size have the same rate. Larger ones are not known.
    assert_eq!(slow_gpu.fastest(2 * MIB - 1), HostPlace::Cpu);
    assert_eq!(slow_gpu.fastest(2 * MIB), HostPlace::Cpu);
    let fast_gpu =
        rates(&[(HostPlace::Cpu, 100), (HostPlace::Cpu, 100), (HostPlace::Gpu, 900), (HostPlace::Gpu, 60)]);
    assert_eq!(fast_gpu.fastest(MIB), HostPlace::Gpu);
}

#[test]
fn one_slow_call_changes_little() {
    let rates = rates(&[
        (HostPlace::Cpu, 50),
        (HostPlace::Cpu, 50),
        (HostPlace::Gpu, 60),
        (HostPlace::Gpu, 60),
        (HostPlace::Cpu, 90),
    ]);
    assert_eq!(rates.fastest(MIB), HostPlace::Cpu);
    (0..8).for_each(|_| rates.record(HostPlace::Cpu, MIB, Duration::from_micros(90)));
    assert_eq!(rates.fastest(MIB), HostPlace::Gpu);
}

#[test]
fn a_gpu_that_failed_is_not_used_again() {
    let rates = rates(&[(HostPlace::Cpu, 5000); 3]);
    assert_eq!(rates.fastest(MIB), HostPlace::Gpu);
    rates.exclude_gpu();
    assert_eq!(rates.fastest(MIB), HostPlace::Cpu);
}
