//! Expressions: known forms, laws on random ones, and answers under assumptions that must and must not be given.

use partune_expr::{Bool, Context, Expr, Number, Rat, Symbol, max_over, sum};
use proptest::prelude::*;

fn int(name: &str) -> Expr {
    Expr::from(&Symbol::int(name))
}

fn real(name: &str) -> Expr {
    Expr::from(&Symbol::real(name))
}

fn number(value: i64) -> Expr {
    Expr::from(value)
}

fn at_least(context: &mut Context, e: &Expr, bound: &Expr) {
    context.assume(&Bool::le(bound, e));
}

/// `N = P*B` with `P >= 2`, `B >= 2`, and two times.
fn machine() -> Context {
    let mut context = Context::default();
    at_least(&mut context, &int("P"), &number(2));
    at_least(&mut context, &int("B"), &number(2));
    at_least(&mut context, &real("tf"), &number(0));
    at_least(&mut context, &real("tm"), &number(0));
    context
}

#[test]
fn rationals_do_not_overflow_silently() {
    let big = Rat::int(i128::MAX);
    assert!((big + Rat::ONE).is_undefined() && (big * big).is_undefined() && (Rat::ONE / Rat::ZERO).is_undefined());
    assert!(Rat::new(i128::MAX - 1, i128::MAX) < Rat::ONE);
    assert!(Rat::new(i128::MAX - 2, i128::MAX - 1) < Rat::new(i128::MAX - 1, i128::MAX));
    assert_eq!(Rat::parse("1.5e-3"), Some(Rat::new(3, 2000)));
    assert_eq!(Rat::parse("-3/4"), Some(Rat::new(-3, 4)));
    assert_eq!((Rat::parse("1e999"), Rat::parse("x"), Rat::parse("1/0")), (None, None, None));
    assert_eq!((Rat::new(-7, 2).floor(), Rat::new(-7, 2).ceil()), (Rat::int(-4), Rat::int(-3)));
}

#[test]
fn equal_polynomials_are_equal_values() {
    let (n, p) = (int("N"), int("P"));
    let square = (&n + &p) * (&n + &p);
    assert_eq!(square, n.pow(2) + number(2) * &n * &p + p.pow(2));
    assert_eq!((&n * &p).over(&p), n);
    assert_eq!((&n * &p + &p).floor_div(&p), &n + number(1));
    assert_eq!((number(2) * &n + number(2) * &p).over(&(&n + &p)), number(2));
    assert_eq!(n.over(&(&n + &p)) * (&n + &p), n);
    assert!(number(1).over(&(&n - &n)).is_undefined());
    assert_eq!(number(2).power(&(int("d") + number(3))).log2(), int("d") + number(3));
    assert_eq!(number(2).power(&int("d")).log2(), int("d"));
    assert_eq!(number(2).power(&int("P").log2()), int("P"));
}

#[test]
fn floors_of_logarithms_are_exact() {
    assert_eq!((number(6).log2().ceil(), number(6).log2().floor()), (number(3), number(2)));
    assert_eq!(number(6).log2().scale(Rat::new(-1, 2)).floor(), number(-2));
    // log2(3) + log2(5) is below 4, and three halves of log2(10) below 5.
    assert_eq!((number(3).log2() + number(5).log2()).floor(), number(3));
    assert_eq!((number(10).log2().scale(Rat::new(3, 2)) - number(1)).floor(), number(3));
    assert_eq!(
        (Rat::new(3, 4).floor_log2(), Rat::new(1, 3).floor_log2(), Rat::ZERO.floor_log2()),
        (Some(-1), Some(-2), None)
    );
    let p = int("p");
    let at = |e: &Expr, value: i64| e.eval(&|_: &Symbol| Some(Number::Exact(value.into())));
    let is = |value: i64| Ok(Number::Exact(value.into()));
    // Next to powers of two, where a double has the power itself.
    assert_eq!(at(&p.log2().floor(), (1 << 60) - 1), is(59));
    assert_eq!(at(&p.log2().ceil(), (1 << 60) + 1), is(61));
    assert_eq!(at(&p.log2().ceil(), 1 << 60), is(60));
    assert_eq!(at(&p.log2().scale(Rat::new(1, 7)).floor(), 1 << 14), is(2));
    assert!(at(&p.log2().floor(), 0).is_err());
    // The factor of a power is no power of two.
    assert_eq!((number(3) * number(2).power(&p)).log2().to_string(), "log2(3*2^p)");
}

#[test]
fn what_is_written_out_too_often_is_undefined() {
    let doubled =
        |times: usize| (0..times).fold(int("q"), |e, _| Expr::max([&(&e + number(1)), &e.scale(Rat::int(2))]));
    assert!(!doubled(5).is_undefined() && doubled(40).is_undefined());
}

#[test]
fn maxima_have_one_form() {
    let (a, b, n) = (real("a"), real("b"), real("n"));
    assert_eq!(Expr::max([&(&a + &n), &(&b + &n)]), &n + Expr::max([&a, &b]));
    assert_eq!(Expr::max([&(&a - &b), &number(0)]), Expr::max([&a, &b]) - &b);
    assert_eq!(Expr::max([&a.scale(Rat::int(3)), &b.scale(Rat::int(3))]), Expr::max([&a, &b]).scale(Rat::int(3)));
    let context = machine();
    let (tm, tf, big) = (real("tm"), real("tf"), int("P") * int("B"));
    let cost = context.max(vec![&tm + &big * &tf, &tf + &big * &tm]);
    assert_eq!(cost, &tm + &tf + (&big - number(1)) * Expr::max([&tm, &tf]));
}

#[test]
#[allow(clippy::many_single_char_names)] // as in the formulas
fn blocks_are_counted() {
    let (p, b, j) = (int("P"), int("B"), Symbol::int("j"));
    let (n, context, at) = (&p * &b, machine(), Expr::from(&j));
    let remote = Bool::eq(&(&at - number(1)).floor_div(&b), &at.floor_div(&b)).not();
    let count = sum(&j, &number(1), &(&n - number(2)), &remote.iverson(), &context);
    assert_eq!(count, &p - number(1));
    let both = Bool::eq(&(&at + number(1)).floor_div(&b), &at.floor_div(&b)).not().iverson() * remote.iverson();
    assert_eq!(sum(&j, &number(1), &(&n - number(2)), &both, &context), number(0));
    let k = int("k");
    let inside = context.with_range(&Symbol::int("k"), &number(0), &(&p - number(1)));
    let own = Bool::eq(&at.floor_div(&b), &k).iverson();
    assert_eq!(sum(&j, &number(0), &(&n - number(1)), &own, &inside), b);
}

#[test]
fn what_does_not_follow_is_not_proven() {
    let context = machine();
    let (p, b) = (int("P"), int("B"));
    assert!(context.nonneg(&(&p * &b - &p - &b)));
    assert!(!context.nonneg(&(&p - &b)) && !context.nonneg(&(&p * &b - number(5))));
    assert!(!context.nonneg(&(real("tm") - real("tf"))) && !context.positive(&real("tf")));
    assert!(!context.nonneg(&int("unknown")));
    assert!(context.nonneg(&(Expr::max([&real("tm"), &real("tf")]) - real("tf"))));
    assert!(!context.nonneg(&(real("tf") - Expr::max([&real("tm"), &real("tf")]))));
    let j = Symbol::int("j");
    let inside = context.with_range(&j, &number(0), &(&p * &b - number(1)));
    let block = Expr::from(&j).floor_div(&b);
    assert!(inside.nonneg(&block) && inside.nonneg(&(&p - number(1) - &block)));
    assert!(!inside.nonneg(&(&p - number(2) - block)));
}

#[test]
fn neighbours_lie_in_one_block_unless_one_begins() {
    let (i, block) = (int("i"), int("B"));
    let before = i.clone() - number(1);
    let step = i.floor_div(&block) - before.floor_div(&block);
    let begins = Bool::divides(&block, &i);
    let mut context = machine();
    at_least(&mut context, &i, &number(1));
    assert!(!context.le(&number(1), &step), "some do not begin");
    assert!(context.with(&begins).le(&number(1), &step));
    assert!(context.with(&begins).le(&block, &i), "a positive multiple is at least the divisor");
    assert!(!context.le(&block, &i));
    assert!(context.with(&begins.not()).le(&step, &number(0)));
}

#[test]
fn points_change_no_answer() {
    let names = ["P", "B", "tf", "tm"];
    let symbols: Vec<Symbol> =
        names.iter().map(|name| if name.len() > 1 { Symbol::real(name) } else { Symbol::int(name) }).collect();
    let plain = machine();
    let mut with_points = machine();
    with_points.find_points(&symbols);
    let (p, b, tf, tm) = (int("P"), int("B"), real("tf"), real("tm"));
    let n = &p * &b;
    let candidates = [
        n.clone() - number(4),
        n.clone() - number(5),
        n.floor_div(&b) - p.clone(),
        (n.clone() - number(1)).floor_div(&b) - p.clone(),
        number(1).floor_div(&p),
        Expr::max([&tf, &tm]) - tf.clone(),
        Expr::max([&tf, &tm]) - tf.clone() - tm.clone(),
        tf.clone() - tm.clone(),
        (n.clone() - number(1)) * tf.clone() - tm.clone(),
        Bool::le(&tf, &tm).iverson() * (tm.clone() - tf.clone()),
        Bool::le(&number(3), &p).iverson() * (p.clone() - number(3)),
        Bool::le(&number(3), &p).iverson() - number(1),
    ];
    for e in candidates {
        assert_eq!(plain.nonneg(&e), with_points.nonneg(&e), "{e}");
        assert_eq!(plain.simplify(&e), with_points.simplify(&e), "{e}");
    }
}

#[test]
fn sums_have_closed_forms() {
    let (n, i, mut context) = (int("n"), Symbol::int("i"), Context::default());
    at_least(&mut context, &n, &number(0));
    let at = Expr::from(&i);
    let total = |body: &Expr| sum(&i, &number(1), &n, body, &context);
    assert_eq!(total(&at.pow(2)).to_string(), "n*(2*n^2 + 3*n + 1)/6");
    assert_eq!(total(&number(2).power(&at)), number(2) * number(2).power(&n) - number(2));
    assert_eq!(max_over(&i, &number(1), &n, &(&at * (&n - &at)), &context).to_string(), "max(i = 1, n) i*(n - i)");
    assert_eq!(max_over(&i, &number(1), &n, &at.pow(2), &context), n.pow(2));
}

/// A small expression over `x` and `y`, both for algebra and for direct computation.
#[allow(clippy::type_complexity)]
fn small() -> impl Strategy<Value = (Expr, fn(i64, i64) -> i64)> {
    let leaf: Vec<(Expr, fn(i64, i64) -> i64)> = vec![
        (int("x"), |x, _| x),
        (int("x") * int("y") - number(3), |x, y| x * y - 3),
        (int("x").floor_div(&number(3)), |x, _| x.div_euclid(3)),
        ((int("x") + number(4)).floor_div(&int("y")), |x, y| (x + 4).div_euclid(y)),
        (Expr::max([&int("x"), &(int("y") - number(2))]), |x, y| x.max(y - 2)),
        (Bool::lt(&int("x"), &int("y")).iverson(), |x, y| i64::from(x < y)),
        (Bool::divides(&int("y"), &int("x")).iverson(), |x, y| i64::from(x % y == 0)),
        (int("x").modulo(&int("y")), |x, y| x.rem_euclid(y)),
    ];
    proptest::sample::select(leaf)
}

proptest! {
    #[test]
    fn algebra_keeps_values((a, f) in small(), (b, g) in small(), x in -20_i64..20, y in 1_i64..9) {
        let at = |symbol: &Symbol| {
            let value = if &*symbol.name == "x" { x } else { y };
            Some(Number::Exact(value.into()))
        };
        let value = |e: &Expr| e.eval(&at).unwrap();
        let exact = |value: i64| Number::Exact(value.into());
        prop_assert_eq!(value(&(&a + &b)), exact(f(x, y) + g(x, y)));
        prop_assert_eq!(value(&(&a * &b)), exact(f(x, y) * g(x, y)));
        prop_assert_eq!(value(&Expr::max([&a, &b])), exact(f(x, y).max(g(x, y))));
        prop_assert_eq!(value(&(&a - &b).pow(3)), exact((f(x, y) - g(x, y)).pow(3)));
        prop_assert_eq!(value(&Bool::le(&a, &b).iverson()), exact(i64::from(f(x, y) <= g(x, y))));
        prop_assert_eq!(value(&Bool::eq(&a, &b).iverson()), exact(i64::from(f(x, y) == g(x, y))));
        let mut context = Context::default();
        at_least(&mut context, &int("y"), &number(1));
        let sum_of = context.simplify(&(&a * &b + &a));
        prop_assert_eq!(value(&sum_of), exact(f(x, y) * g(x, y) + f(x, y)));
        // What is proven is true.
        if context.nonneg(&(&a - &b)) {
            prop_assert!(f(x, y) >= g(x, y));
        }
        // A sum over x equals its terms.
        let total = sum(&Symbol::int("x"), &number(-3), &(int("y") + number(2)), &(&a * &b), &context);
        let terms: i64 = (-3..=y + 2).map(|x| f(x, y) * g(x, y)).sum();
        prop_assert_eq!(value(&total), exact(terms));
        let largest = max_over(&Symbol::int("x"), &number(-3), &(int("y") + number(2)), &(&a + &b), &context);
        let terms = (-3..=y + 2).map(|x| f(x, y) + g(x, y)).max();
        prop_assert_eq!(value(&largest), exact(terms.unwrap()));
    }
}
