//! The data files: complete, consistent with each other, and as the table of Hung and Davidson is.

use partune_advice::{Action, Change, GapName, Knob, Level, Library, Rule, Value, knobs, knowledge};
use partune_analysis::Pattern;
use partune_paradigm::PARADIGMS;

use crate::action;

fn actions() -> impl Iterator<Item = &'static Action> {
    knowledge().actions.iter()
}

fn of_table() -> impl Iterator<Item = &'static Action> {
    actions().filter(|action| action.id.starts_with("A-"))
}

fn rules() -> impl Iterator<Item = (&'static Action, &'static Rule)> {
    actions().flat_map(|action| action.when.iter().map(move |rule| (action, rule)))
}

#[test]
fn every_file_is_in_the_list() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/actions");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, actions().count());
}

#[test]
fn ids_are_unique_and_the_tables_come_first() {
    let ids: Vec<&str> = actions().map(|action| action.id.as_str()).collect();
    let expected: Vec<String> = (1..=40).map(|number| format!("A-{number}")).collect();
    assert_eq!(ids[..40], expected);
    let word = |id: &str| id.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'-');
    assert!(ids[40..].iter().all(|id| word(id)), "{ids:?}");
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), ids.len());
}

#[test]
fn steps_and_issues_exist_and_are_in_order() {
    let known = knowledge();
    assert_eq!(known.steps.iter().map(|it| it.id).collect::<Vec<u8>>(), (1..=7).collect::<Vec<u8>>());
    let ids: Vec<u8> = known.issues.iter().map(|it| it.id).collect();
    assert_eq!(ids, (1..=ids.len() as u8).collect::<Vec<u8>>());
    let step = |id: u8| known.steps.iter().any(|it| it.id == id);
    assert!(known.issues.iter().all(|it| step(it.step)));
    assert!(known.rechecks.iter().all(|it| step(it.after) && step(it.step) && !it.why.is_empty()));
    for action in actions() {
        let sets = [&action.positive, &action.negative, &action.affected];
        for issue in sets.into_iter().flatten().chain([&action.issue]) {
            assert!(known.issue(*issue).is_some(), "{}: there is no issue {issue}", action.id);
        }
    }
}

/// How often each issue and gap is in each column of the table as it is printed, and rows of which theory and text say something.
#[test]
fn the_tables_actions_have_its_sets() {
    let issues = |of: fn(&Action) -> &Vec<u8>| -> Vec<usize> {
        (1..=20).map(|issue| of_table().filter(|action| of(action).contains(&issue)).count()).collect()
    };
    assert_eq!(issues(|it| &it.positive), [1, 5, 1, 2, 5, 2, 3, 2, 1, 1, 2, 3, 3, 1, 2, 7, 0, 7, 7, 5]);
    assert_eq!(issues(|it| &it.negative), [0, 5, 0, 1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(issues(|it| &it.affected), [4, 6, 10, 10, 4, 3, 4, 1, 4, 1, 1, 9, 1, 14, 10, 2, 5, 9, 9, 2]);
    let names = ["C", "S", "$", "P", "C'", "L", "M'", "D"];
    let gaps = |of: fn(&Action) -> &Vec<GapName>| -> Vec<usize> {
        let count = |name: &str| of_table().filter(|action| of(action).iter().any(|gap| gap.name() == name)).count();
        names.iter().map(|name| count(name)).collect()
    };
    assert_eq!(gaps(|it| &it.targets), [2, 2, 7, 1, 19, 5, 7, 4]);
    assert_eq!(gaps(|it| &it.affects), [7, 8, 21, 1, 28, 17, 14, 14], "without M, which is no gap, of three cells");
    let of_issue = |issue: u8| of_table().filter(|action| action.issue == issue).count();
    let counts: Vec<usize> = (1..=20).map(of_issue).collect();
    assert_eq!(counts, [1, 2, 1, 1, 5, 2, 3, 2, 1, 1, 2, 3, 2, 1, 2, 3, 0, 4, 3, 1]);
    let sets = |id: &str| (action(id).positive.clone(), action(id).negative.clone(), action(id).affected.clone());
    assert_eq!(sets("A-6"), (vec![4, 5], vec![12], vec![2, 14]));
    assert_eq!(sets("A-17"), (vec![8], vec![4, 5, 9], vec![14]));
    assert_eq!(sets("A-27"), (vec![14], vec![], (2..=13).collect()));
    assert_eq!(sets("A-29"), (vec![15, 16, 18, 19, 20], vec![2, 17], vec![]));
    assert_eq!(sets("A-38"), (vec![16, 19, 20], vec![2], vec![3, 15, 17, 18]));
    // Corrected against the print.
    assert_eq!((sets("A-18").0, sets("A-19").0), (vec![9], vec![10]));
    assert_eq!((sets("A-33").0, sets("A-33").1), (vec![18], vec![]));
}

#[test]
fn no_action_is_both_good_and_bad_for_an_issue() {
    for action in actions() {
        assert!(!action.negative.iter().any(|issue| action.helps(*issue)), "{}", action.id);
    }
}

#[test]
fn doubts_are_marked_and_read() {
    let doubtful: Vec<&str> =
        of_table().filter(|it| !it.doubtful.is_empty()).map(|it| it.id.strip_prefix("A-").unwrap()).collect();
    let expected = [1, 6, 13, 16, 18, 19, 21, 22, 23, 24, 25, 26, 28, 32, 33, 39, 40].map(|it| it.to_string());
    assert_eq!(doubtful, expected);
    let fields = ["positive", "negative", "affected", "targets", "affects"];
    let known = |action: &Action| action.doubtful.keys().all(|field| fields.contains(&field.as_str()));
    assert!(actions().all(known));
    assert_eq!(action("A-21").targeted(), action("A-20").targeted());
    assert_eq!(action("A-21").affected_gaps(), action("A-20").affected_gaps());
    let first = &knowledge().steps[0];
    assert!(action("A-1").targeted().iter().all(|gap| first.gaps.contains(gap)), "and not the printed P");
}

#[test]
fn every_action_is_considered_by_its_step() {
    for action in actions() {
        let issue = knowledge().issue(action.issue).unwrap();
        let step = &knowledge().steps[usize::from(issue.step) - 1];
        let outside: Vec<&GapName> = action.targeted().iter().filter(|gap| !step.considers(**gap)).collect();
        // An action may help against another step's gap too, but its step must come to it.
        assert!(outside.len() < action.targeted().len() || action.targeted().is_empty(), "{}: {outside:?}", action.id);
    }
}

#[test]
fn actions_say_what_they_are() {
    for action in actions() {
        let id = &action.id;
        assert!(action.name.len() > 5 && action.text.len() > 30 && action.text.ends_with('.'), "{id}");
        assert!(!action.source.is_empty(), "{id}");
        assert_eq!(
            action.is_predicted(),
            action.unpredicted.is_none() && action.unseen.is_none(),
            "{id}: a change, or why there is none"
        );
        assert_eq!(action.when.is_empty(), action.unseen.is_some(), "{id}: a rule, or why there is none");
        for (paradigm, recipe) in &action.recipes {
            assert!(PARADIGMS.iter().any(|it| it.name == paradigm), "{id}: {paradigm}");
            assert!(
                recipe.text.len() > 10 && recipe.text.ends_with('.') && recipe.source.len() > 3,
                "{id}: {paradigm}"
            );
        }
    }
}

#[test]
fn every_level_has_actions_and_what_partune_does_is_a_command() {
    for level in Level::ALL {
        assert!(actions().any(|action| action.level == level), "{level:?}");
    }
    let by = || actions().filter_map(|action| action.by_partune.as_deref().map(|by| (action, by)));
    for (action, by) in by() {
        assert!(by.starts_with("partune "), "{}: {by}", action.id);
    }
    // Whatever sets a variable is what `partune tune` does.
    for what in ["eager-limit", "collective-algorithm", "bind-threads", "loop-schedule"] {
        assert!(by().any(|(action, by)| action.id == what && by.contains("partune tune")), "{what}");
    }
    // What follows the load is decided while the program runs, and only that is.
    let adapted = by().filter(|(_, by)| by.contains("--adapt")).all(|(action, _)| action.level == Level::RunTime);
    assert!(adapted);
}

#[test]
fn rules_can_be_met() {
    for (action, rule) in rules() {
        let id = &action.id;
        assert!(!rule.patterns.is_empty() || !rule.gaps.is_empty(), "{id}: a rule that everything meets");
        assert!(rule.paradigms.iter().all(|name| PARADIGMS.iter().any(|it| it.name == name)), "{id}");
        if rule.patterns.is_empty() {
            assert!(rule.roles.is_empty() && !rule.by_one_pe, "{id}: of a finding, and it takes none");
            let names = |change: &Change| change.needs_place() || change.needs_cause() || change.needs_pe();
            assert!(!rule.changes.iter().any(names), "{id}: names a place, and there is none");
        }
    }
}

/// Patterns without an action, each with its reason. The user's own say themselves what can be done.
const WITHOUT: &[(Pattern, &str)] = &[];

#[test]
fn every_pattern_has_an_action_or_a_reason() {
    for pattern in Pattern::ALL {
        let has = rules().any(|(_, rule)| rule.patterns.contains(&pattern));
        let reason = WITHOUT.iter().find(|(without, _)| *without == pattern);
        assert_eq!(has, reason.is_none(), "{}", pattern.name());
        assert!(reason.is_none_or(|(_, why)| !why.is_empty()));
    }
}

#[test]
fn changes_are_of_the_grammar() {
    let changes: Vec<&Change> = rules().flat_map(|(_, rule)| &rule.changes).collect();
    assert!(!changes.is_empty());
    for change in changes {
        assert!(is_change(change.template()), "{}", change.template());
    }
}

#[test]
fn what_is_no_change_is_refused() {
    for wrong in [
        "improve {place}",
        "remove",
        "remove {code}",
        "remove {place} 3",
        "combine {place}",
        "combine {place} 1",
        "delay-wait {place} {cause}",
        "scale {cause}",
        "scale {cause} time",
        "set network speed=2",
        "dedicate {cause}",
        "collective {place}",
    ] {
        assert!(!is_change(wrong), "{wrong}");
    }
}

/// `VERB TARGET [SETTING…]`, with a placeholder for each place and PE.
fn is_change(template: &str) -> bool {
    let words: Vec<&str> = template.split(' ').collect();
    let place = |word: &str| ["{place}", "{cause}"].contains(&word);
    let count = |word: &str| word.parse::<u32>().is_ok_and(|count| count > 1);
    match words.as_slice() {
        ["balance" | "spread" | "remove" | "merge" | "p2p" | "nonblocking", target] => place(target),
        ["delay-wait", waiting, "past", other] => place(waiting) && place(other),
        ["combine" | "split", target, times] => place(target) && count(times),
        ["collective", target, algorithm] => place(target) && !algorithm.is_empty(),
        ["dedicate", target] => *target == "{pe}",
        ["scale", target, settings @ ..] if !settings.is_empty() => {
            let keys: &[&str] = match *target {
                "network" => &["latency", "bandwidth"],
                "cpu" => &["speed"],
                _ => &["time"],
            };
            let known = place(target) || ["network", "cpu", "{pe}"].contains(target);
            known && settings.iter().all(|it| is_setting(it, keys, '*'))
        }
        ["set", "network", settings @ ..] if !settings.is_empty() => {
            settings.iter().all(|it| is_setting(it, &["latency", "bandwidth", "eager"], '='))
        }
        _ => false,
    }
}

fn is_setting(word: &str, keys: &[&str], operator: char) -> bool {
    let number = |text: &str| text == "inf" || text.parse::<f64>().is_ok_and(|value| value >= 0.0);
    word.split_once(operator).is_some_and(|(key, value)| keys.contains(&key) && number(value))
}

#[test]
fn changes_are_filled_in() {
    let moved = action("late-work").when[0].changes[0].fill("exchange", "a{pe}.c:3", "pe:1");
    assert_eq!(moved, "delay-wait exchange past a{pe}.c:3", "a name is not filled in again");
    assert_eq!(action("dedicate-master").when[0].changes[0].fill("a", "b", "pe:0"), "dedicate pe:0");
    assert_eq!(
        action("faster-network").when[0].changes[0].fill("a", "b", "c"),
        "scale network latency*0.5 bandwidth*2"
    );
}

fn knob(what: &str) -> &'static Knob {
    knobs().iter().find(|knob| knob.what(Some("allreduce")) == what).expect("it is there")
}

#[test]
fn knobs_are_called_what_the_installed_library_calls_them() {
    let limit = knob("eager_limit");
    let of = |version: &str, listing: &str| -> Vec<String> {
        limit.libraries(version).flat_map(|library| library.variables(listing, None)).collect()
    };
    let open_mpi = "mca:btl:vader:param:btl_vader_rndv_eager_limit:value:32768
        mca:btl:vader:param:btl_vader_eager_limit:value:4096
        mca:btl:vader:param:btl_vader_eager_limit:source:default
        mca:btl:tcp:param:btl_tcp_eager_limit:value:65536";
    let names = ["OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_vader_eager_limit"];
    assert_eq!(of("Open MPI v4.1.4, package: Debian OpenMPI", open_mpi), names);
    assert_eq!(of("MPICH Version:\t4.0.2", "MPICH Device:    \tch4:ucx"), ["UCX_RNDV_THRESH"]);
    assert!(of("MPICH Version:\t4.0.2", open_mpi).is_empty());
    assert!(of("Some MPI 1.0", open_mpi).is_empty());
}

/// What the libraries of Debian 12 print, shortened: of the names that two of their lines have in common only those of the whole variable count.
#[test]
fn algorithms_are_those_that_the_library_lists() {
    let of = |version: &str, listing: &str, accepts: &dyn Fn(&str) -> bool| {
        let known = knob("collective:allreduce").libraries(version);
        let of = |library: &Library| {
            let values: Vec<String> =
                library.values(listing, Some("allreduce"), accepts).iter().map(Value::to_string).collect();
            (library.variables(listing, Some("allreduce")), values)
        };
        known.map(of).collect::<Vec<_>>()
    };
    let open_mpi = "mca:coll:tuned:param:coll_tuned_allreduce_algorithm_count:value:7
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:value:ring
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:help:Can be locked down to any of: 0 ignore, 1 basic linear
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:1:basic_linear
mca:coll:tuned:param:coll_tuned_allreduce_algorithm:enumerator:value:4:ring
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:2:chain";
    let variable = "OMPI_MCA_coll_tuned_allreduce_algorithm".to_owned();
    let expected = vec![(vec![variable], vec!["ignore".to_owned(), "basic_linear".to_owned()])];
    assert_eq!(of("Open MPI v4.1.4", open_mpi, &|_| false), expected, "the one that is set is not another one");

    let mpich = "\tMPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=1\tSCOPE_ALL_EQ\tMPI_INT\tVariable to select allreduce algorithmauto - Internal \
                 algorithm selection (see FILE)nb       - Force nonblocking algorithmsmp - Force smp algorithmring - Force ring
\tMPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=0\tMPI_INT\tVariable to select iallreduce algorithmsched_auto - Internal";
    let names = ["auto", "nb", "smp", "ring"];
    let variable = "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM".to_owned();
    let expected = vec![(vec![variable.clone()], ["auto", "smp", "ring"].map(str::to_owned).to_vec())];
    assert_eq!(of("MPICH Version:\t4.0.2", mpich, &|name| names.contains(&name)), expected);
    assert_eq!(of("MPICH Version:\t4.0.2", mpich, &|_| false), [(vec![variable], Vec::new())]);
    assert_eq!(of("MPICH Version:\t4.0.2", "", &|_| true), [(Vec::new(), Vec::new())]);
}

#[test]
fn what_predicts_a_knob_is_a_change() {
    let place = ["{place}".to_owned()];
    for knob in knobs() {
        let of_value = knob.changes(&place, &Value::Number(65536)).into_iter().flatten();
        for change in of_value.chain(knob.most(&place, 0.5).into_iter().flatten()) {
            assert!(is_change(&change), "{change}");
        }
    }
    let places = ["solve".to_owned(), "\"omp for\"".to_owned()];
    let each = vec!["balance solve".to_owned(), "balance \"omp for\"".to_owned()];
    assert_eq!(knob("env:OMP_SCHEDULE").most(&places, 1.0), Some(each));
    let limit = knob("eager_limit").changes(&places, &Value::Number(4096));
    assert_eq!(limit, Some(vec!["set network eager=4096".to_owned()]), "it is of no place");
}
