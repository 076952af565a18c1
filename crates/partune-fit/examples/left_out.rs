//! How far off laws are for values that are left out: reads series from the standard input, a value a line after its parameters, an empty line between series,
//! and prints for each value of a series what the law of all others says of it. Used by `bench/fits.sh`.

use std::io::{self, Read as _, Write as _};

use partune_fit::{Point, fit};

fn main() -> io::Result<()> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut out = io::stdout().lock();
    for series in text.split("\n\n") {
        let point = |line: &str| {
            let mut numbers: Vec<f64> = line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
            Some(Point { value: numbers.pop()?, at: numbers, deviation: 0.0 })
        };
        let points: Vec<Point> = series.lines().filter_map(point).collect();
        for left_out in 0..points.len() {
            let mut others = points.clone();
            let it = others.remove(left_out);
            let said = fit(&others).map_or(f64::NAN, |law| law.at(&it.at).0);
            writeln!(out, "{said}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
