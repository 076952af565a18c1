//! The floors: a crate depends only on crates of a lower floor.
//!
//! The table is ARCHITECTURE.md's "Rooms", and it stands there only. What a floor may not see is what keeps it replaceable: nothing of
//! partune-otf2 can leak into an analysis, because no edge leads there.

use super::{Edge, Package, Problem, Tree};

/// Only tests may use it, and then from any floor.
pub(super) const TESTKIT: &str = "partune-testkit";

/// The first floor that talks to the outside world.
pub(super) const ENGINE: u32 = 5;

/// Rooms of the house that collectors may bring into the user's program, beside each other.
const BROUGHT: &[&str] = &["partune-parts", "partune-mpi-abi"];
/// All that these may bring from outside: the C library, and what walks stacks and reads their tables without it.
const FOREIGN: &[&str] = &["libc", "framehop", "gimli"];

/// Where a room stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Floor {
    Of(u32),
    /// Beside the house: it runs inside the user's program, talks to the outside world, and brings nothing with it but its like.
    Beside,
}

/// The rooms and where they stand: the rows of the table whose first cell is a number or a dash.
pub(super) struct Floors(Vec<(String, Floor)>);

impl Floors {
    pub(super) fn read(architecture: &str) -> Floors {
        let rows = architecture.lines().filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
            let floor = match cells.next()? {
                "–" => Floor::Beside,
                number => Floor::Of(number.parse().ok()?),
            };
            let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
            Some((name.to_owned(), floor))
        });
        Floors(rows.collect())
    }

    pub(super) fn of(&self, name: &str) -> Option<Floor> {
        self.0.iter().find(|(known, _)| known == name).map(|&(_, floor)| floor)
    }

    /// Whether files of a crate may not touch the outside world. Tests may; the clock and the name of the machine are what recorder and launcher
    /// share.
    pub(super) fn is_below_engine(&self, name: &str) -> bool {
        matches!(self.of(name), Some(Floor::Of(floor)) if floor < ENGINE) && name != "partune-parts" && name != TESTKIT
    }
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let floors = Floors::read(&tree.architecture);
    rows(&floors, &tree.packages).chain(tree.packages.iter().flat_map(|package| edges(&floors, package))).collect()
}

/// Rows without a crate, and those of a crate that has one already.
fn rows<'a>(floors: &'a Floors, packages: &'a [Package]) -> impl Iterator<Item = Problem> + 'a {
    floors.0.iter().enumerate().filter_map(|(at, (name, _))| {
        let text = if floors.0[..at].iter().any(|(before, _)| before == name) {
            "has two rows among the rooms"
        } else if packages.iter().any(|package| package.name == *name) {
            return None;
        } else {
            "is among the rooms and no crate"
        };
        Some(Problem::new(format_args!("ARCHITECTURE.md: {name}"), text))
    })
}

fn edges(floors: &Floors, package: &Package) -> Vec<Problem> {
    let place = &package.name;
    // The automation is no part of the tool.
    let is_automation = place == "xtask";
    let own = if is_automation { Some(Floor::Of(0)) } else { floors.of(place) };
    let Some(own) = own else {
        return vec![Problem::new(place, "has no floor: add a row to the rooms in ARCHITECTURE.md")];
    };
    let is_brought = own == Floor::Beside || BROUGHT.contains(&place.as_str());
    let wrong = |Edge { to, dev, foreign }: &Edge| {
        if *foreign {
            let wrong = is_brought && !dev && !FOREIGN.contains(&to.as_str());
            return wrong.then(|| format!("must not bring {to} into the user's program"));
        }
        if to == TESTKIT {
            return (!dev && !is_automation).then(|| format!("{to} is for tests: make it a dev-dependency"));
        }
        match (own, floors.of(to)) {
            (_, None) => Some(format!("depends on {to}, which has no floor")),
            (Floor::Beside, Some(other)) => {
                let wrong = !dev && other != Floor::Beside && !BROUGHT.contains(&to.as_str());
                wrong.then(|| format!("a collector must not bring {to} into the user's program"))
            }
            (Floor::Of(_), Some(Floor::Beside)) => (!dev).then(|| format!("must not link {to}, which is a collector")),
            (Floor::Of(own), Some(Floor::Of(below))) if below < own => None,
            // What is shipped stays acyclic; tests of an analysis may read archives.
            (Floor::Of(own), Some(Floor::Of(beside))) if *dev && beside == own => None,
            (Floor::Of(own), Some(Floor::Of(above))) => {
                Some(format!("floor {own} must not depend on {to}, floor {above}"))
            }
        }
    };
    package.edges.iter().filter_map(wrong).map(|text| Problem::new(place, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of one kind or another are in other tables; only the second column of rooms is a crate.
    const ROOMS: &str = "| floor | crate | what |\n|---|---|---|\n| 0 | `partune-base` | x |\n| 0 | `partune-parts` | x |\n\
                         | 1 | `partune-trace` | x |\n| 3 | `partune-otf2` | `partune-x` |\n| 3 | `partune-analysis` | x |\n\
                         | 4 | `partune-index` | x |\n| 5 | `partune-engine` | x |\n| 3 | `partune-testkit` | |\n\
                         | – | `partune-collect` | x |\n| – | `partune-collect-mpi` | x |\n| word | `partune-y` |\n";

    fn package(name: &str, edges: Vec<Edge>) -> Package {
        Package { name: name.to_owned(), manifest: String::new(), edges, tests: Vec::new() }
    }

    #[track_caller]
    fn check(name: &str, to: &str, dev: bool, problems: usize) {
        let foreign = !to.starts_with("partune");
        let package = package(name, vec![Edge { to: to.to_owned(), dev, foreign }]);
        assert_eq!(edges(&Floors::read(ROOMS), &package).len(), problems, "{name} -> {to}");
    }

    #[test]
    fn the_table_is_read() {
        let floors = Floors::read(ROOMS);
        assert_eq!(floors.0.len(), 10);
        assert_eq!(floors.of("partune-otf2"), Some(Floor::Of(3)));
        assert_eq!(floors.of("partune-collect"), Some(Floor::Beside));
        assert_eq!([floors.of("partune-x"), floors.of("partune-y")], [None, None]);
        assert!(floors.is_below_engine("partune-index") && !floors.is_below_engine("partune-engine"));
        assert!(!floors.is_below_engine("partune-collect") && !floors.is_below_engine("partune-parts"));
    }

    #[test]
    fn rooms_and_crates_are_the_same() {
        let floors =
            Floors::read("| 0 | `partune-base` | x |\n| 1 | `partune-trace` | x |\n| 2 | `partune-base` | x |\n");
        let places = |packages: &[Package]| rows(&floors, packages).map(|problem| problem.place).collect::<Vec<_>>();
        let (base, trace) = (package("partune-base", Vec::new()), package("partune-trace", Vec::new()));
        assert_eq!(places(&[base]), ["ARCHITECTURE.md: partune-trace", "ARCHITECTURE.md: partune-base"]);
        assert_eq!(places(&[trace]).len(), 2);
        let unknown = package("partune-new", Vec::new());
        assert_eq!(edges(&floors, &unknown).len(), 1, "a crate without a row");
    }

    #[test]
    fn edges_go_down() {
        check("partune-trace", "partune-base", false, 0);
        check("partune-base", "partune-diag", false, 1);
        check("partune-analysis", "partune-otf2", false, 1);
        check("partune-analysis", "partune-otf2", true, 0);
        check("partune-analysis", "partune-engine", true, 1);
        check("partune-otf2", "partune-unheard-of", false, 1);
        check("partune-unheard-of", "partune-base", false, 1);
    }

    #[test]
    fn collectors_bring_nothing_but_each_other() {
        check("partune-collect-mpi", "partune-base", false, 1);
        check("partune-collect-mpi", "partune-collect", false, 0);
        check("partune-collect-mpi", "partune-trace", true, 0);
        check("partune-collect", "partune-otf2", true, 0);
        check("partune-collect", "partune-parts", false, 0);
        check("partune-collect", "libc", false, 0);
        for brought in ["partune-collect", "partune-parts"] {
            check(brought, "serde", false, 1);
            check(brought, "serde", true, 0);
        }
        check("partune-parts", "partune-base", false, 1);
        check("partune-otf2", "serde", false, 0);
    }

    #[test]
    fn the_house_links_no_collector() {
        check("partune-engine", "partune-collect", false, 1);
        check("partune-engine", "partune-collect", true, 0);
        check("partune-engine", "partune-parts", false, 0);
    }

    #[test]
    fn the_testkit_is_for_tests_on_any_floor() {
        check("partune-index", TESTKIT, true, 0);
        check("partune-engine", TESTKIT, false, 1);
    }
}
