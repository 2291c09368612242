//! The CUDA C++ of an operator as C++ for the CPU: compiled by the system's compiler, and called.

use std::ffi::c_void;
use std::process::Command;
use std::sync::OnceLock;

use warpfold::{Device, DeviceMonoid, Reduction};

use super::edges::{Edge, assert_same, pairs};

/// The system's C++ compiler.
pub fn compiler() -> Option<String> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let asked = Command::new(&compiler).arg("--version").output();
    asked.is_ok_and(|output| output.status.success()).then_some(compiler)
}

/// What comes before the types and operators: the templates that they stand on, over the CPU instead of a GPU.
const TEMPLATES: [&str; 4] = [
    include_str!("host.h"),
    include_str!("../../templates/types.cuh"),
    include_str!("../../templates/rust.cuh"),
    include_str!("../../templates/math.cuh"),
];

/// `combine` of each operator, by its number, on any number of pairs.
pub type Combine = unsafe extern "C" fn(*const c_void, *const c_void, *const c_void, *mut c_void, usize);

/// Operators as one C++ library, compiled when the first is asked for.
#[derive(Default)]
pub struct Library {
    source: String,
    loaded: OnceLock<libloading::Library>,
}

impl Library {
    pub fn add<M: DeviceMonoid>(&mut self, number: usize, operator: M) {
        let source =
            Reduction::with(Device::cpu(), operator).source().unwrap_or_else(|error| panic!("{error}"));
        self.source.push_str(&format!(
            "namespace case_{number} {{
             namespace program {{ using namespace ::program; }}
             {}
             extern \"C\" void combine_{number}(const program::Operator& op, const program::Item* left,
                                                const program::Item* right, program::Item* out, size_t count) {{
                 for (size_t k = 0; k < count; ++k) out[k] = op.combine(left[k], right[k]);
             }}
             }}\n",
            source.definitions()
        ));
    }

    pub fn combine(&self, number: usize) -> Combine {
        let library = self.loaded.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a folder for temporary files");
            let (source, library) = (folder.path().join("operators.cpp"), folder.path().join("liboperators.so"));
            std::fs::write(&source, TEMPLATES.concat() + &self.source).expect("writable");
            // What is undefined in C++ must not happen: it ends the process.
            let options = "-std=c++17 -O1 -ffp-contract=off -shared -fPIC -w -fmax-errors=20 -fno-sanitize-recover=all \
                           -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error";
            let mut command = Command::new(compiler().expect("asked for only where it is"));
            let status = command.args(options.split(' ')).arg("-o").arg(&library).arg(&source).status();
            if !status.expect("starts").success() {
                panic!("{:?} does not compile", folder.keep().join("operators.cpp"));
            }
            // SAFETY: the library has no initialisers of its own.
            unsafe { libloading::Library::new(&library) }.expect("a library")
        });
        let name = format!("combine_{number}\0");
        // SAFETY: the function was declared so.
        *unsafe { library.get::<Combine>(name.as_bytes()) }.expect("in the library")
    }
}

/// `combine` of each pair of items.
pub fn call<M: DeviceMonoid>(
    operator: M,
    combine: Combine,
    left: &[M::Item],
    right: &[M::Item],
) -> Vec<M::Item> {
    assert_eq!(left.len(), right.len());
    let mut out = left.to_vec();
    // SAFETY: the function reads and writes as many items as it is told.
    unsafe {
        combine(
            (&raw const operator).cast(),
            left.as_ptr().cast(),
            right.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            left.len(),
        );
    }
    out
}

/// Asserts that `combine` does what the operator does, on so many pairs of items.
pub fn check<M: DeviceMonoid>(operator: M, combine: Combine, count: usize)
where
    M::Item: Edge,
{
    let (left, right) = pairs::<M::Item>(count);
    let out = call(operator, combine, &left, &right);
    for ((&left, &right), &got) in left.iter().zip(&right).zip(&out) {
        assert_same(got, operator.combine(left, right), left, right);
    }
}
