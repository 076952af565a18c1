//! What the fuzz target of the modelling language does with its input; the tests of `partune-model` run it over mutations of the library.
//!
//! Besides not panicking: what is formatted formats to itself and means the same, and estimates, short simulations, decisions and emitted code of
//! a model with open parameters end. That they end soon is for the fuzzer to watch (`-timeout`), and for the test.

use partune_model::decide::decide;
use partune_model::emit::{Language, emit};
use partune_model::estimate::closed_form;
use partune_model::simulate::{Options, simulate};
use partune_model::{Values, format, lower, parse};

/// A model's text.
pub(crate) fn model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (file, diagnostics) = parse(text);
    for diagnostic in &diagnostics {
        assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?}");
    }
    if let Some(formatted) = format(text) {
        assert_eq!(format(&formatted).as_deref(), Some(&*formatted));
        assert_eq!(parse(&formatted).1.len(), diagnostics.len(), "{formatted}");
    }
    let (model, _) = lower(text, &file, &Values::new(), &|name| Err(["no file ", name].concat()));
    if let Some(model) = model {
        for alternative in &model.alternatives {
            let form = closed_form(&model, &alternative.term);
            assert!(!form.basic.is_undefined() && !form.head_tail.is_undefined(), "{text}");
            let _ = form.printed(&model);
            let few = Options { max_steps: 10_000, max_processes: 1_000, max_record: 1_000, ..Options::default() };
            let _ = simulate(&model, &alternative.term, &few);
        }
        if let Ok(decision) = decide(&model, &[], None) {
            let files = |name: &str| Err(["no file ", name].concat());
            let instance = |more: &Values| lower(text, &file, more, &files).0;
            for language in [Language::Rust, Language::C, Language::Python] {
                let _ = emit(&model, &decision, language, "fuzz", &instance);
            }
        }
    }
}
