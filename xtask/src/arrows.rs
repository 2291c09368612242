//! Tests the dependencies between files, by their `use` lines: there are no cycles, and no module
//! uses one above it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of `src`. Each module uses only modules that come before it.
const LAYERS: [&str; 13] = [
    "types",
    "error",
    "operators",
    "language",
    "plan",
    "source",
    "explanation",
    "cuda",
    "cpu",
    "reduction",
    "scan",
    "ladder",
    "laws",
];

/// The path of a module. The path of the crate is empty.
type Module = Vec<String>;

/// One name that a `use` line imports.
struct Use {
    is_public: bool,
    path: Vec<String>,
    name: String,
}

/// The modules of a crate that are files, and the names that they use.
struct Crate(BTreeMap<Module, Vec<Use>>);

impl Crate {
    fn read(root: &Path) -> Self {
        let mut modules = BTreeMap::new();
        add_folder(root, &[], &mut modules);
        Self(modules)
    }

    /// The file that defines a path, as seen from `module`. `None` if the path belongs to another
    /// crate.
    fn file_of(&self, module: &[String], path: &[String]) -> Option<Module> {
        let mut at = module.to_vec();
        let mut names = path.iter().peekable();
        match path[0].as_str() {
            "crate" => {
                at.clear();
                names.next();
            }
            "self" => {
                names.next();
            }
            "super" => {
                while names.next_if(|name| *name == "super").is_some() {
                    at.pop();
                }
            }
            name => {
                self.0.get(&child(module, name))?;
            }
        }
        for name in names {
            let inner = child(&at, name);
            if self.0.contains_key(&inner) {
                at = inner;
                continue;
            }
            let exported = self.0[&at].iter().find(|used| used.is_public && used.name == *name);
            return exported.and_then(|used| self.file_of(&at, &used.path)).or(Some(at));
        }
        Some(at)
    }

    /// Each file, and the files that it uses. A re-export does not count as a use.
    fn arrows(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let used_by = |(module, uses): (&Module, &Vec<Use>)| {
            let used = uses.iter().filter(|used| !used.is_public);
            let files = used.filter_map(|used| self.file_of(module, &used.path));
            (module.clone(), files.filter(|file| file != module).collect())
        };
        self.0.iter().map(used_by).collect()
    }
}

fn child(module: &[String], name: &str) -> Module {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

fn add_folder(folder: &Path, module: &[String], modules: &mut BTreeMap<Module, Vec<Use>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).expect("a name").to_owned();
        if path.is_dir() {
            add_folder(&path, &child(module, &stem), modules);
        } else if path.extension().is_some_and(|of| of == "rs") && stem != "tests" {
            let own =
                if ["mod", "lib", "main"].contains(&&*stem) { module.to_vec() } else { child(module, &stem) };
            modules.insert(own, uses(&fs::read_to_string(&path).expect("text")));
        }
    }
}

/// The `use` lines of a file, except for those inside functions.
fn uses(text: &str) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        let (is_public, used) = match line.split_once("use ") {
            Some(("", _)) => (false, &rest["use ".len()..]),
            Some((visibility, _)) if visibility.starts_with("pub") && !visibility.contains("fn") => {
                (true, &rest[visibility.len() + "use ".len()..])
            }
            _ => {
                rest = after;
                continue;
            }
        };
        let (tree, after) = used.split_once(';').expect("a `use` ends");
        add_tree(tree, "", is_public, &mut uses);
        rest = after;
    }
    uses
}

/// Adds the names of a tree such as `a::{b, c::{d as e}}`.
fn add_tree(tree: &str, before: &str, is_public: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some((first, group)) = tree.split_once('{') {
        let group = group.strip_suffix('}').expect("a group ends");
        let (mut depth, mut start) = (0, 0);
        for (at, character) in group.char_indices().chain([(group.len(), ',')]) {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    if !group[start..at].trim().is_empty() {
                        add_tree(&group[start..at], &format!("{before}{first}"), is_public, uses);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let path: Vec<String> = format!("{before}{path}")
        .split("::")
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    // `a::{self}` is `a`.
    let path = match &path[..] {
        [first @ .., last] if last == "self" && !first.is_empty() => first.to_vec(),
        _ => path,
    };
    let name = if name.is_empty() { path.last().expect("a name").clone() } else { name.to_owned() };
    uses.push(Use { is_public, path, name });
}

/// The files that are in a cycle or depend on one. Empty if there is no cycle.
fn circle(arrows: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    let mut left = arrows.clone();
    // A file that uses none of the remaining files is not in a cycle.
    while let Some(module) = left
        .iter()
        .find(|(_, uses)| uses.iter().all(|used| !left.contains_key(used)))
        .map(|(module, _)| module.clone())
    {
        left.remove(&module);
    }
    left.keys().map(|module| module.join("::")).collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

#[test]
fn no_files_use_each_other() {
    for folder in ["src", "xtask/src", "macros/src"] {
        let arrows = Crate::read(&root().join(folder)).arrows();
        assert!(arrows.values().any(|uses| !uses.is_empty()), "{folder}: no `use` was read");
        assert_eq!(circle(&arrows), Vec::<String>::new(), "{folder}: these use each other, or such as do");
    }
}

#[test]
fn a_module_uses_those_below_it() {
    let layer = |module: &Module| {
        let name = module.first()?;
        Some(LAYERS.iter().position(|layer| layer == name).unwrap_or_else(|| panic!("{name} has no layer")))
    };
    for (module, uses) in Crate::read(&root().join("src")).arrows() {
        for used in uses {
            assert!(layer(&used) <= layer(&module), "{} uses {}", module.join("::"), used.join("::"));
        }
    }
}

#[test]
fn circles_are_found() {
    let module = |name: &str| vec![name.to_owned()];
    let arrows = |pairs: &[(&str, &[&str])]| {
        let of =
            |&(name, uses): &(&str, &[&str])| (module(name), uses.iter().map(|name| module(name)).collect());
        pairs.iter().map(of).collect::<BTreeMap<Module, BTreeSet<Module>>>()
    };
    assert!(circle(&arrows(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])])).is_empty());
    assert_eq!(circle(&arrows(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])])), ["a", "b", "c"]);
}

#[test]
fn uses_are_read() {
    let text = "use std::fmt;\nuse super::{a::{self, B as C},\n    d};\npub(crate) use e::F;\nfn f() {}\n";
    let read: Vec<String> = uses(text)
        .iter()
        .map(|used| format!("{} {} {}", used.is_public, used.path.join("::"), used.name))
        .collect();
    let expected =
        ["false std::fmt fmt", "false super::a a", "false super::a::B C", "false super::d d", "true e::F F"];
    assert_eq!(read, expected);
}
