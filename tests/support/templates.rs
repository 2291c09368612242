//! The templates, out of a rendered source.

use warpfold::operators::Sum;
use warpfold::{Device, Reduction};

/// The name and the text of each, in order.
pub fn templates() -> Vec<(String, String)> {
    let source = Reduction::with(Device::cpu(), Sum::<u32>::new()).source().expect("renders");
    let text = source.text().strip_suffix(source.program()).expect("the program comes last");
    let files = text.split("#line 1 \"warpfold/templates/").skip(1);
    let named = files.map(|file| file.split_once("\"\n").expect("a name in quotes"));
    named.map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}
