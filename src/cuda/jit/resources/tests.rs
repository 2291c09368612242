use super::*;

#[test]
fn the_report_of_each_kernel_is_read() {
    let log = "ptxas info    : 0 bytes gmem\n\
        ptxas info    : Compiling entry function 'narrow' for 'sm_90'\n\
        ptxas info    : Function properties for narrow\n\
        \x20   48 bytes stack frame, 52 bytes spill stores, 68 bytes spill loads\n\
        ptxas info    : Used 255 registers, used 1 barriers, 48 bytes cumulative stack size\n\
        ptxas info    : Compiling entry function 'wide' for 'sm_90'\n\
        ptxas info    : Function properties for wide\n\
        \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
        ptxas info    : Used 56 registers, used 1 barriers, 32 bytes smem\n";
    let kernel = |kernel: &str, registers, stack_bytes, spill_bytes| KernelResources {
        kernel: kernel.to_owned(),
        registers,
        stack_bytes,
        spill_bytes,
    };
    assert_eq!(read(log), [kernel("narrow", 255, 48, 120), kernel("wide", 56, 0, 0)]);
}
