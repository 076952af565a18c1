//! Generated code compiles and agrees with the estimate and the simulator, in its own test.

use std::path::Path;
use std::process::Command;

use partune_model::decide::decide;
use partune_model::emit::{Language, emit};

use crate::support::{model, read};

const MODELS: &[(&str, &str)] = &[
    (
        "vector",
        "param S: int where S >= 2; param N: int where N >= 1; param tc: time; param tf: time;
         resource u[1..S]; resource s;
         alt vector = par (i = 1, N) seq (k = 1, S) use(u[k], tc);
         alt scalar = par (i = 1, N) use(s, tf);",
    ),
    (
        "adi",
        "param P: int where P >= 2; param N: int where P | N, N >= 2*P; param tf: time; param tm: time;
         let B = N/P; resource cpu[P]; resource l[P];
         proc move(s, r) = use(l[s], [s != r]*tm) || use(l[r], [s != r]*tm);
         alt remapped = { par (i = 0, N-1) par (j = 0, N-1) move(j div B, i div B); par (j = 0, N-1) seq (i = 1, N-2) use(cpu[j div B], tf) };
         alt pipelined = par (i = 0, N-1) seq (p = 0, P-1) { if (p > 0) move(p-1, p); use(cpu[p], B*tf) };
         alt plain = seq (j = 1, N-2) par (i = 0, N-1) {
           move((j-1) div B, j div B); move((j+1) div B, j div B); use(cpu[j div B], tf) };",
    ),
    (
        "rates",
        "param n: int where n >= 1; param alpha: time; param k: int where k >= 0;
         table load = [1, 2.5, 4, 0.5];
         resource bus * 2; resource disk;
         alt even = par (i = 1, n) { delay(alpha/3); use(bus, alpha*load[i mod 4]) };
         alt late = seq (i = 1, n) { use(disk, i*alpha/8); if (i > 2) use(bus, alpha) };
         alt tree = seq (d = 0, k) par (j = 1, 2^d) use(disk, alpha);",
    ),
    // Fractions as written, and floors of logarithms.
    (
        "rounds",
        "param P: int where P >= 1; param t: time; resource net;
         alt tree = seq (k = 1, ceil(log2(P))) use(net, 3/4*t);
         alt line = { delay(floor(log2(3*P) + 1/2)*t/2); if (prob(1/4)) delay(5/2*t) };",
    ),
    // Without closed form, so that the code enumerates: an index that is not inverted, chance and drawn times, loops by chance, a
    // recursive process, several servers, two dimensions, and a loop variable that is called as a parameter is in small letters.
    (
        "enumerated",
        "param P: int where P >= 1; param N: int where N >= 1; param t: time; param beside: time; param q: prob where q <= 1/2;
         table load = [1, 2.5, 4];
         resource a[P] * 2; resource grid[0..2, 1..P]; resource disk;
         proc halve(n) = if (n > 0) { use(disk, t); { halve(n div 2) || use(a[n mod P], beside) } };
         alt squares = par (p = 1, N) { delay(p*t/P); use(a[(p*p) mod P], load[p mod 3]*t); use(disk, beside/8) };
         alt drawn = par (i = 1, N) { delay(exp(t)); use(disk, uniform(beside, 2*beside)); delay(exp(beside)); if (prob(q)) use(a[i*i mod P], t) };
         alt again = seq (i = 1, N) { while (prob(q)) use(disk, normal(t, 1)); while (iter < i) use(grid[i mod 3, 1 + (i*i) mod P], erlang(3, beside)) };
         alt halves = { halve(13); if (N > P or 3 | N) par (k = 1, N) use(a[(k*k) mod P], t) else delay(beside) };",
    ),
];

fn instances(directory: &Path, language: Language, extension: &str, run: &dyn Fn(&Path)) {
    for (name, source) in MODELS {
        let open = model(source, &[]);
        let decision = decide(&open, &[], None).expect("as the test sets up");
        let text =
            emit(&open, &decision, language, name, &|values| read(source, values).0).expect("as the test sets up");
        assert_eq!(
            text,
            emit(&open, &decision, language, name, &|values| read(source, values).0).expect("as the test sets up")
        );
        let path = directory.join(format!("{name}.{extension}"));
        std::fs::write(&path, text).expect("as the test sets up");
        run(&path);
    }
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(4000).collect::<String>();
    assert!(output.status.success(), "{command:?}\n{}\n{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn rust_agrees() {
    let folder = tempfile::tempdir().expect("as the test sets up");
    instances(folder.path(), Language::Rust, "rs", &|path| {
        let binary = path.with_extension("exe");
        succeeds(Command::new("rustc").args(["--edition", "2021", "--test", "-o"]).arg(&binary).arg(path));
        succeeds(&mut Command::new(&binary));
    });
}

#[test]
fn c_agrees() {
    let folder = tempfile::tempdir().expect("as the test sets up");
    instances(folder.path(), Language::C, "c", &|path| {
        let binary = path.with_extension("exe");
        succeeds(
            Command::new("cc").args(["-Wall", "-Werror", "-DPARTUNE_TEST", "-o"]).arg(&binary).arg(path).arg("-lm"),
        );
        succeeds(&mut Command::new(&binary));
    });
}

#[test]
fn python_agrees() {
    let folder = tempfile::tempdir().expect("as the test sets up");
    instances(folder.path(), Language::Python, "py", &|path| succeeds(Command::new("python3").arg(path)));
}
