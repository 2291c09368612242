//! The names of the macros and attributes that every module knows.
//!
//! `use line as other;` imports the function, the type and the macro `line`. If a standard macro or
//! attribute is also called `line`, rustc refuses the import as ambiguous.

/// The names in rustc 1.95, also of unstable macros and attributes. A later rustc may add names: a call
/// of a function with such a name is then ambiguous, until the name stands here.
#[rustfmt::skip]
const NAMES: [&str; 141] = [
    "alloc_error_handler", "allow", "allow_internal_unsafe", "allow_internal_unstable", "assert",
    "assert_eq", "assert_ne", "automatically_derived", "bench", "cfg", "cfg_accessible", "cfg_attr",
    "cfg_eval", "cfg_select", "cfi_encoding", "cold", "collapse_debuginfo", "column", "compile_error",
    "compiler_builtins", "concat", "concat_bytes", "const_continue", "const_format_args", "coroutine",
    "coverage", "crate_name", "crate_type", "custom_mir", "dbg", "debug_assert", "debug_assert_eq",
    "debug_assert_ne", "debugger_visualizer", "default_lib_allocator", "define_opaque", "deny",
    "deprecated", "deref", "derive", "derive_const", "doc", "eii", "env", "eprint", "eprintln", "expect",
    "export_name", "export_stable", "feature", "ffi_const", "ffi_pure", "file", "forbid",
    "force_target_feature", "format", "format_args", "fundamental", "global_allocator", "ignore", "include",
    "include_bytes", "include_str", "inline", "instruction_set", "is_x86_feature_detected", "lang", "line",
    "link", "link_name", "link_ordinal", "link_section", "linkage", "log_syntax", "loop_match",
    "macro_escape", "macro_export", "macro_use", "marker", "matches", "may_dangle", "module_path",
    "move_size_limit", "must_not_suspend", "must_use", "naked", "needs_allocator", "needs_panic_runtime",
    "no_builtins", "no_core", "no_implicit_prelude", "no_link", "no_main", "no_mangle", "no_std",
    "non_exhaustive", "optimize", "option_env", "panic", "panic_handler", "panic_runtime",
    "patchable_function_entry", "path", "pattern_type", "pin_v2", "prelude_import", "print", "println",
    "proc_macro", "proc_macro_attribute", "proc_macro_derive", "profiler_runtime", "recursion_limit",
    "reexport_test_harness_main", "register_tool", "repr", "sanitize", "should_panic", "stable",
    "stringify", "target_feature", "test", "test_case", "test_runner", "thread_local", "todo",
    "trace_macros", "track_caller", "try", "type_ascribe", "type_length_limit", "unimplemented",
    "unreachable", "unsafe_eii", "unstable", "used", "vec", "warn", "windows_subsystem", "write", "writeln",
];

/// Whether this is the name of a standard macro or attribute.
pub(crate) fn is_standard(name: &str) -> bool {
    NAMES.contains(&name)
}
