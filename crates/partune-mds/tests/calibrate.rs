//! Classes of work whose cost is known, found again from what PEs computed; and what cannot be found.

use partune_expr::Rat;
use partune_mds::Options;
use partune_mds::calibrate::{Calibrated, Measured, calibrate};
use partune_model::change::Original;
use partune_model::{Values, defaults, lower, parse};

/// What PEs computed, by phase.
type Times<'a> = &'a [(&'a str, &'a [f64])];

fn fitted(source: &str, given: &[(&str, i64)], named: &[&str], times: Times<'_>) -> Result<Calibrated, String> {
    let (file, told) = parse(source);
    assert!(told.is_empty(), "{told:?}");
    let given: Values = given.iter().map(|(name, value)| ((*name).to_owned(), Rat::from(*value))).collect();
    let mut all = defaults(&file, &given);
    all.extend(given.clone());
    let files = |name: &str| Err(format!("no file {name} in tests"));
    let (model, told) = lower(source, &file, &all, &files);
    let model = model.unwrap_or_else(|| panic!("{told:?}"));
    let original =
        Original { text: source, file: &file, values: &given, model: &model, alternative: &model.alternatives[0] };
    let measured: Vec<Measured> =
        times.iter().map(|(phase, pes)| Measured { phase: (*phase).to_owned(), pes: pes.to_vec() }).collect();
    let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
    calibrate(&original, &named, &measured, &files, &Options::default())
        .map_err(|error| format!("{} [{}]", error.message, error.help))
}

#[track_caller]
fn found(source: &str, times: Times<'_>) -> Calibrated {
    fitted(source, &[], &[], times).unwrap_or_else(|told| panic!("{told}"))
}

fn values(it: &Calibrated) -> Vec<(&str, f64)> {
    it.classes.iter().map(|class| (class.name.as_str(), class.value.to_f64())).collect()
}

/// Eight elements on two PEs: in phase a each costs its number of facets and one bar, in phase b an update and 1 ms that is known. Each PE gets two lines
/// in a, and they are there in b.
const CLASSES: &str = "param facet: time = 1us; param bar: time; param update: time = 5s; param spare: time = 1;
    domain d = 0..7; data A[d]: f64; decompose d -> 2 by block; machine { line 16; memory 1ms };
    main = { phase a forall (i in d) task { reads A[i]; weight i*facet + bar };
             phase b forall (i in d) task { reads A[i]; weight (1 + i mod 2)*update + 1ms } };";

#[test]
fn classes_that_are_known_are_found() {
    // Facets of 0 to 3 and 4 to 7: 6 and 22. With 2 ms a facet, 10 ms a bar and 3 ms an update.
    let a = [6.0 * 2e-3 + 4.0 * 10e-3 + 2e-3, 22.0 * 2e-3 + 4.0 * 10e-3 + 2e-3];
    let b = [6.0 * 3e-3 + 4e-3, 6.0 * 3e-3 + 4e-3];
    let it = found(CLASSES, &[("a", &a), ("b", &b)]);
    assert_eq!(values(&it), [("facet", 2e-3), ("bar", 10e-3), ("update", 3e-3)], "`spare` is in no weight");
    assert_eq!(it.classes[1].before, None);
    for phase in &it.phases {
        assert!(phase.all().rest_s().abs() < 1e-9 && phase.off() < 1e-6 && !phase.is_dealt, "{phase:?}");
    }
    assert_eq!(it.phases[0].pes[0].latency_s, 2e-3);
    // The longer PE of each phase.
    assert!((it.outcome.run_s - a[1] - b[1]).abs() < 1e-9 && it.unmeasured.is_empty());
}

#[test]
fn what_the_model_does_not_say_stays_unexplained() {
    // 5 ms more on one PE in b, where the model has both alike: the mean goes into the update, and 2.5 ms are off on each.
    let b = [6.0 * 3e-3 + 4e-3, 6.0 * 3e-3 + 4e-3 + 5e-3];
    let it = found(CLASSES, &[("b", &b)]);
    let rest: Vec<f64> = it.phases[0].pes.iter().map(|pe| (pe.rest_s() * 1e6).round()).collect();
    assert_eq!(rest, [-2500.0, 2500.0]);
    assert!((it.phases[0].off() - 2.5e-3 / 24.5e-3).abs() < 1e-6, "{}", it.phases[0].off());
    assert_eq!(it.unmeasured, ["a"]);
    // Less than what is fixed: no class costs less than nothing, and the model says too much.
    let it = found(CLASSES, &[("b", &[1e-3, 1e-3])]);
    let update = it.classes.iter().find(|class| class.name == "update").expect("it is in weights");
    assert!(update.value.is_zero() && (it.phases[0].all().rest_s() + 6e-3).abs() < 1e-9, "{it:?}");
}

/// Dealt out to who comes first: who did what depends on times, so that only both together are known.
#[test]
fn loops_that_are_dealt_out_are_fitted_as_a_whole() {
    let source = "param c: time = 1; domain d = 0..7; data A[d]: f64; decompose d -> 2 by block;
        main = phase a forall (i in d) schedule self(1) task { reads A[i]; weight i*c };";
    let it = found(source, &[("a", &[20.0, 8.0])]);
    assert_eq!(values(&it), [("c", 1.0)]);
    assert!(it.phases[0].is_dealt && it.phases[0].all().rest_s().abs() < 1e-9);
}

/// A model, values given, classes named, what was measured, and how the error begins.
type Case<'a> = (&'a str, &'a [(&'a str, i64)], &'a [&'a str], Times<'a>, &'a str);

#[test]
fn what_cannot_be_fitted_is_said() {
    let times: Times<'_> = &[("a", &[1.0, 1.0]), ("b", &[1.0, 1.0])];
    let cases: [Case<'_>; 6] = [
        (
            CLASSES,
            &[],
            &["facets"],
            times,
            "`facets` is no parameter of the model that is a time [choose of these: facet, bar",
        ),
        (CLASSES, &[("bar", 1)], &["spare"], times, "no weight of a task depends on `spare`"),
        (CLASSES, &[], &[], &[("a", &[1.0])], "1 PEs were measured in `a`, and the model has 2"),
        (
            CLASSES,
            &[],
            &[],
            &[("c", &[1.0, 1.0])],
            "nothing was measured of any phase of the model [its phases are a, b]",
        ),
        (
            "param n: int = 3; domain d = 0..1; data A[d]: f64; decompose d -> 2 by block; main = phase a forall (i in d) task { reads A[i]; weight n };",
            &[],
            &[],
            &[("a", &[1.0, 1.0])],
            "no weight of a task depends on a parameter that is a time",
        ),
        (
            "param c: time = 1; domain d = 0..1; data A[d]: f64; decompose d -> 2 by block; main = phase a forall (i in d) task { reads A[i]; weight c*c };",
            &[],
            &[],
            &[("a", &[1.0, 1.0])],
            "weights in `a` are no sums of multiples of c",
        ),
    ];
    for (source, given, named, times, wanted) in cases {
        let told = fitted(source, given, named, times).err().unwrap_or_default();
        assert!(told.starts_with(wanted), "wanted {wanted}\n{told}");
    }
}
