//! Every golden case: three numbers each.

use std::fmt::Write;

use partune_model::estimate::{Given, bounds, closed_form};

use crate::golden_values::{GOLDEN, Golden};
use crate::support::{exact, model, simulated};

/// What the terms of the table speak of.
const PRELUDE: &str = "
resource u[0..S]; resource s; resource cpu[0..P]; resource l[0..P];
proc move(s, r) = use(l[s], [s != r]*tm) || use(l[r], [s != r]*tm);
";

/// The whole model of a case.
pub(crate) fn source(case: &Golden) -> String {
    if case.term.is_empty() {
        return adversary(case);
    }
    let mut text = String::new();
    let given = |name: &str| case.params.iter().any(|(param, _)| *param == name);
    for name in ["N", "P", "S", "B"] {
        let _ = if given(name) { writeln!(text, "param {name}: int;") } else { writeln!(text, "let {name} = 1;") };
    }
    for name in ["tc", "tf", "tm", "tl", "ts"] {
        let _ = if given(name) { writeln!(text, "param {name}: time;") } else { writeln!(text, "let {name} = 0;") };
    }
    text + PRELUDE + "main = " + case.term + ";"
}

/// W gadgets in each of d levels: all wait for a common resource, the chain that goes on is the last.
fn adversary(case: &Golden) -> String {
    fn gadget(width: i64, level: i64, then: &str, resources: &mut i64) -> String {
        *resources += 1;
        let own = *resources;
        let parts: Vec<String> = (1..=width)
            .map(|position| {
                let chain = if position == width { then } else { "" };
                let chain = format!("use(r[{own}], 1){chain}");
                if level == 1 {
                    format!("{{{chain}}}")
                } else {
                    gadget(width, level - 1, &format!("; {chain}"), resources)
                }
            })
            .collect();
        format!("{{{}}}", parts.join(" || "))
    }
    let of = |name: &str| case.params.iter().find(|(param, _)| *param == name).expect("a parameter of the case").1;
    let mut resources = 0;
    let term = gadget(of("W"), of("depth"), "", &mut resources);
    format!("param W: int; param depth: int; resource r[0..{resources}]; main = {term};")
}

#[test]
fn simulated_times_are_golden() {
    for case in GOLDEN {
        let model = model(&source(case), case.params);
        assert_eq!(simulated(&model).makespan, exact(case.simulated), "{}", case.name);
    }
}

#[test]
fn enumerated_bounds_are_golden() {
    for case in GOLDEN {
        let model = model(&source(case), case.params);
        let bounds = bounds(&model, &model.alternatives[0].term).expect("as the test sets up");
        assert_eq!(bounds.basic, exact(case.basic), "{}", case.name);
        assert_eq!(bounds.head_tail, exact(case.head_tail), "{}", case.name);
        assert!(bounds.upper.to_f64() >= case.simulated as f64, "{}", case.name);
    }
}

#[test]
fn closed_forms_of_numbers_are_golden() {
    for case in GOLDEN {
        let model = model(&source(case), case.params);
        let form = closed_form(&model, &model.alternatives[0].term);
        assert!(form.weaker.is_empty(), "{}: {:?}", case.name, form.weaker);
        let found = form.eval(&Given(&model)).expect("as the test sets up");
        assert_eq!(found, bounds(&model, &model.alternatives[0].term).expect("as the test sets up"), "{}", case.name);
    }
}
