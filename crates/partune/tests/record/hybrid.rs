//! MPI and OpenMP in one program: what is lost between processes and what inside of them, apart and as a product.

use std::process::Command;

use super::launch::{Built, MPICH, OPEN_MPI, run};

/// What scheduling and the calls themselves may make of a factor.
const TOLERANCE: f64 = 0.03;
const TRIES: usize = 3;

/// Ranks with 50 and 30 ms a turn, whose two threads have 50 + 20 and 30 + 10: 0.8 between processes, 0.55 of all.
#[test]
fn factors_of_processes_and_threads_multiply() {
    for mpi in [OPEN_MPI, MPICH] {
        let Some(built) = Built::new(&mpi, "openmp/hybrid.c", &["-fopenmp"]) else { continue };
        let deviations: Vec<String> = (0..TRIES).map_while(|_| deviation(&built)).collect();
        assert!(deviations.len() < TRIES, "{}: {deviations:#?}", mpi.name);
    }
}

/// How the factors differ from what the program measured; none if they do not.
fn deviation(built: &Built<'_>) -> Option<String> {
    let recorded = built.record(&[], &[]);
    let said = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
    let ranks: Vec<Vec<f64>> = said.lines().filter_map(|line| line.strip_prefix("rank ")).map(numbers).collect();
    assert_eq!(ranks.len(), 2, "{}", recorded.said());
    let run_time = ranks.iter().map(|rank| rank[0]).fold(0.0, f64::max);
    let processes = ranks.iter().map(|rank| rank[1]).sum::<f64>() / 2.0 / run_time;
    let all = ranks.iter().map(|rank| rank[2] + rank[3]).sum::<f64>() / 4.0 / run_time;
    let document = recorded.analysis();
    let factor = |name: &str| document["efficiency"][name].as_f64().expect("the factor is known");
    let found = ["process_parallel", "thread_parallel", "parallel"].map(factor);
    assert!((found[0] * found[1] - found[2]).abs() < 1e-12, "{found:?}");
    let text = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor)).stdout;
    let [between, inside] = [found[0], found[1]].map(|it| format!("{:.1} %", it * 100.0));
    let product = format!("= {between} between processes × {inside} inside of them");
    assert!(String::from_utf8_lossy(&text).contains(&product), "{product}");
    let expected = [processes, all / processes, all];
    let is_near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= TOLERANCE * expected;
    (!found.iter().zip(&expected).all(is_near)).then(|| format!("{found:?} instead of {expected:?}"))
}

fn numbers(line: &str) -> Vec<f64> {
    line.split(' ').map(|it| it.parse().expect("a number")).collect()
}
