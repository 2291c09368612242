//! Properties of the public types that only the compiler can check.

use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::operators::Sum;
use crate::{Device, DeviceInput, DeviceOperator, Error, Layout, Reduction, Scan, Source};

#[test]
fn public_types_are_shared_among_threads_and_cloned() {
    // `UnwindSafe`, because a caller may catch the panic of an operator.
    fn is_shared<T: Send + Sync + UnwindSafe + RefUnwindSafe>() {}
    fn is_cloned<T: Send + Sync + UnwindSafe + RefUnwindSafe + Clone>() {}
    is_cloned::<Device>();
    is_cloned::<Reduction<Sum<f32>>>();
    is_cloned::<Scan<Sum<f32>>>();
    is_cloned::<Error>();
    is_cloned::<Source>();
    is_cloned::<DeviceOperator>();
    is_cloned::<Layout>();
    is_shared::<DeviceInput<f32>>();
    #[cfg(feature = "ladder")]
    is_cloned::<crate::ladder::Ladder<Sum<f32>>>();
}

#[test]
fn debug_output_is_short() {
    let reduction = Reduction::<Sum<f32>>::new(Device::cpu());
    let expected = r#"Reduction { operator: "warpfold::operators::sum::Sum<f32>", device: Device(cpu), .. }"#;
    assert_eq!(format!("{reduction:?}"), expected);
    let source = format!("{:?}", reduction.source().expect("renders"));
    assert!(source.len() < 200 && source.contains("Sum<f32>"), "{source}");
}
