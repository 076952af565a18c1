//! Makes the wrappers of OpenSHMEM's functions from the list of their families. Those that begin and end the program's part in SHMEM are in
//! `world.rs`, those with a `long double` for a value in `long_double.rs`.

#[path = "build/families.rs"]
mod families;
#[path = "build/handlers.rs"]
mod handlers;

use families::{FAMILIES, TYPES};
use handlers::Handler;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    let mut code = String::new();
    let mut all = String::new();
    for (names, elements, parameters, result, handler) in FAMILIES {
        let family = family(names);
        let elements: Vec<&str> = if elements.is_empty() { vec![""] } else { elements.split_whitespace().collect() };
        let contexts: &[bool] = if names.contains("[ctx_]") { &[false, true] } else { &[false] };
        for element in elements {
            let (value, size) = of(element);
            for with_context in contexts {
                let name = names.replace("[ctx_]", if *with_context { "ctx_" } else { "" }).replace('@', element);
                let context = if *with_context { "ctx:p " } else { "" };
                let parameters = format!("{context}{parameters}");
                wrapper(&mut code, [&name, &family], value, size, &parameters, result, handler);
                let _ = write!(all, "(\"{name}\", \"{family}\", {}), ", parameters.split_whitespace().count());
            }
        }
    }
    let _ = writeln!(code, "#[cfg(test)] pub(crate) static ALL: &[(&str, &str, usize)] = &[{all}];");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("wrappers.rs"), code)
}

/// What the paradigm's table calls functions that differ in context, type and size only.
fn family(names: &str) -> String {
    names.replace("[ctx_]", "").replace("_@_", "_").replace('@', "").replacen("shmemx_", "shmem_", 1)
}

/// The Rust type and the bytes of an element, from its type or its bits.
fn of(element: &str) -> (&'static str, usize) {
    match element.parse::<usize>() {
        Ok(bits) => ("", bits / 8),
        Err(_) => TYPES.iter().find(|it| it.0 == element).map_or(("", 1), |it| (it.1, it.2)),
    }
}

fn wrapper(
    code: &mut String,
    [name, family]: [&str; 2],
    value: &'static str,
    size: usize,
    parameters: &str,
    result: &str,
    handler: &Handler,
) {
    let kind = |kind: &str| match kind {
        "p" | "n" | "a" => "usize",
        "l" => "isize",
        "k" => "c_long",
        "i" => "c_int",
        "v" if !value.is_empty() => value,
        other => panic!("{name} has a parameter of kind {other}"),
    };
    let parameters: Vec<(&str, &str)> =
        parameters.split_whitespace().map(|it| it.split_once(':').expect("a name and a kind")).collect();
    let list = |text: &dyn Fn(&(&str, &str)) -> String| parameters.iter().map(text).collect::<Vec<_>>().join(", ");
    let (declared, types) = (list(&|it| format!("{}: {}", it.0, kind(it.1))), list(&|it| kind(it.1).to_owned()));
    let given = list(&|it| it.0.to_owned());
    let returns = if result.is_empty() { String::new() } else { format!(" -> {}", kind(result)) };
    let always = if result == "a" { "segments::learn(result); " } else { handler.always };
    let context = if parameters.iter().any(|it| it.0 == "ctx") { "ctx" } else { "rma::DEFAULT" };
    let members = if parameters.iter().any(|it| it.0 == "team") {
        "teams::set(team)"
    } else {
        "world::set([start, stride, size])"
    };
    // PEs are those of the context's team.
    let is_of_team = context == "ctx" && parameters.iter().any(|it| it.0 == "pe");
    let place = if is_of_team { "let pe = teams::pe(ctx, pe); " } else { "" };
    let fill = |text: &str| text.replace("CTX", context).replace("MEMBERS", members).replace("SIZE", &size.to_string());
    let (enter, before, after) = (handler.enter, fill(handler.before), fill(handler.after));
    let constant = name.to_ascii_uppercase();
    let _ = writeln!(
        code,
        "static {constant}: Function = Function::of_family(c\"{name}\", \"{family}\");\n\
         #[unsafe(no_mangle)] pub unsafe extern \"C\" fn {name}({declared}){returns} {{\n\
         let frame = frame::here();\n\
         let real: unsafe extern \"C\" fn({types}){returns} = unsafe {{ transmute({constant}.real()) }};\n\
         let Some(mut call) = {constant}.{enter}(frame) else {{ let result = {constant}.without(frame, || unsafe {{ real({given}) }}); {always}return result; }};\n\
         let told = {{ {place}{before} }};\n\
         let result = unsafe {{ real({given}) }};\n\
         call.returned(); {always}{after} call.leave(); return result; }}"
    );
}
