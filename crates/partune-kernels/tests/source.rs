//! What the source asks for, from LLVM's representation of it, where it can be counted by hand.

use partune_kernels::class::Class;
use partune_kernels::ir::{Asked, IrError, SourceLoop, source_loops};
use proptest::prelude::*;

use crate::known::{core, near};

#[path = "../../../fuzz/ir.rs"]
mod fuzzed;

const LIVERMORE: &str = include_str!("livermore.ll");
const STRANGE: &str = include_str!("strange.ll");

fn of(text: &str, function: &str) -> SourceLoop {
    let loops = source_loops(text).expect("it is a text of LLVM");
    let mut found = loops.into_iter().filter(|it| it.function == function);
    let one = found.next().unwrap_or_else(|| panic!("{function} has a loop"));
    assert!(found.next().is_none(), "{function} has one innermost loop");
    one
}

fn asked(text: &str, function: &str) -> Asked {
    of(text, function).asked.expect("it calls nothing")
}

/// Additions, multiplications, and elements of eight bytes that are loaded and stored.
fn counts(it: &Asked) -> (f64, f64, f64, f64) {
    let elements = |bytes: u64| bytes as f64 / 8.0;
    let essential = &it.essential;
    (
        essential.elements(Class::FpAdd),
        essential.elements(Class::FpMul),
        elements(essential.loaded),
        elements(essential.stored),
    )
}

/// As the source has them: `z[k + 10]` and `z[k + 11]` are one element a turn, as are seven of `u`; what kernel 5 needs of `x` it has made itself, and
/// `y[k + 1]` is the next turn's `y[k]`.
#[test]
fn livermore_kernels_ask_for_what_is_known() {
    for (function, known) in [
        ("lfk1", (2.0, 3.0, 2.0, 1.0)),
        ("lfk3", (1.0, 1.0, 2.0, 0.0)),
        ("lfk5", (1.0, 1.0, 2.0, 1.0)),
        ("lfk7", (8.0, 8.0, 3.0, 1.0)),
        ("lfk12", (1.0, 0.0, 1.0, 1.0)),
    ] {
        let it = asked(LIVERMORE, function);
        assert_eq!(counts(&it), known, "{function}");
        assert_eq!((it.element, it.scattered, it.conditional), (8, 0, 0), "{function}");
    }
}

/// Zen 4 does 24 operations on doubles a cycle, loads 64 bytes and stores 32.
#[test]
fn bounds_are_of_the_unit_that_needs_longest() {
    let zen = core("zen4");
    let bounds = |function: &str| asked(LIVERMORE, function).bounds(zen);
    for (function, m, ma) in [
        ("lfk1", 5.0 / 24.0, 3.0 / 8.0),
        ("lfk3", 2.0 / 24.0, 16.0 / 64.0),
        ("lfk5", 2.0 / 24.0, 16.0 / 64.0),
        ("lfk7", 16.0 / 24.0, 1.0),
        ("lfk12", 1.0 / 24.0, 8.0 / 32.0),
    ] {
        let (is_m, is_ma) = bounds(function);
        near(is_m, m);
        near(is_ma, ma);
    }
}

#[test]
fn loops_have_the_lines_of_their_source() {
    let it = of(LIVERMORE, "lfk5");
    assert_eq!((it.file.as_str(), it.lines), ("/src/livermore.c", (33, 34)));
    // Two loops in one function: the inner one.
    assert_eq!(of(STRANGE, "rows").lines, (8, 8));
}

#[test]
fn what_stays_and_what_moves_is_told_apart() {
    let elements = |function: &str| {
        let (_, _, loaded, stored) = counts(&asked(STRANGE, function));
        (loaded, stored)
    };
    // The array's address and the number of turns are read in every turn, and stay.
    assert_eq!(elements("scale"), (1.0, 1.0));
    // Fields of structures of 32 bytes: a number of four bytes, and two of eight.
    let masses = asked(STRANGE, "masses");
    assert_eq!((masses.element, masses.essential.loaded), (4, 4));
    assert_eq!(elements("middles"), (2.0, 0.0));
    // Products of what stays are what stays; they are written three times.
    assert_eq!(elements("rows"), (1.0, 1.0));
    assert_eq!(elements("walk"), (1.0, 0.0));
    // Both that are loaded were stored before.
    assert_eq!(elements("backwards"), (0.0, 1.0));
    near(asked(STRANGE, "scale").essential.elements(Class::FpDiv64), 1.0);
    near(asked(STRANGE, "walk").essential.elements(Class::FpSqrt64), 1.0);
}

#[test]
fn what_cannot_be_known_is_said() {
    // Four bytes of the index move by a constant; eight of what it leads to do not.
    let gather = asked(STRANGE, "gather");
    assert_eq!((gather.scattered, gather.essential.loaded), (8, 12));
    assert_eq!(of(STRANGE, "calls").asked, None);
    // An atomic addition is one, and an exchange is none. No additions are a zero without a sign.
    let call = "call double @f(double noundef %7)";
    let by = |what: &str| asked(&STRANGE.replace(call, what), "calls").flops();
    near(by("atomicrmw fadd ptr @data, double %7 seq_cst, align 8"), 2.0);
    near(by("atomicrmw volatile xchg ptr @data, double %7 monotonic, align 8"), 1.0);
    let none = STRANGE.replace("%9 = fadd double %.01, %8", "%9 = or i64 %.01, %8");
    assert!(asked(&none.replace(call, "load double, ptr @data"), "calls").flops().is_sign_positive());
    let some = asked(STRANGE, "some");
    // Of the sum and the second look at the element not every turn has one.
    assert_eq!((some.flops(), some.conditional), (0.0, 2));
}

#[test]
fn texts_without_loops_that_have_lines_are_refused() {
    let wrong = |text: &str| source_loops(text).expect_err("there is nothing to tell");
    assert_eq!(wrong(""), IrError::NoFunctions);
    assert_eq!(wrong("int main(void) { return 0; }\n"), IrError::NoFunctions);
    assert_eq!(wrong(&LIVERMORE.replace("!dbg", "!other")), IrError::NoLines);
    // As it is before opt: the counter is in memory.
    let in_memory =
        "define void @f() {\n  %1 = alloca i32\n  br label %2\n\n2:\n  %3 = load i32, ptr %1\n  br label %2\n}\n";
    assert_eq!(wrong(in_memory), IrError::InMemory);
    // Without a loop there is none, and nothing is wrong.
    assert_eq!(source_loops("define void @f() {\n  ret void\n}\n"), Ok(Vec::new()));
}

/// Versions before 15 write what pointers point to.
#[test]
fn typed_pointers_are_read() {
    let old = LIVERMORE.replace("ptr @", "double* @").replace("ptr %", "double* %");
    assert_eq!(counts(&asked(&old, "lfk7")), (8.0, 8.0, 3.0, 1.0));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(at in 0..STRANGE.len(), with in "[ -~\n]{0,12}", keep in 0_usize..40) {
        let (at, end) = (STRANGE.floor_char_boundary(at), STRANGE.ceil_char_boundary((at + keep).min(STRANGE.len())));
        fuzzed::text(format!("{}{with}{}", &STRANGE[..at], &STRANGE[end..]).as_bytes());
    }
}

/// Types in types, sums of sums and products of products: neither the stack nor memory grows with the power of them.
#[test]
fn deep_texts_are_no_hard_work() {
    let arrays = format!("%t = type {}i8{}\n", "[2 x ".repeat(50_000), "]".repeat(50_000));
    fuzzed::text(format!("{arrays}{STRANGE}").as_bytes());
    let mut types = String::from("%t0 = type { i8, i8 }\n");
    types.extend((1..200).map(|at| format!("%t{at} = type {{ %t{0}, %t{0}, %t{at} }}\n", at - 1)));
    fuzzed::text(format!("{types}{STRANGE}").as_bytes());
    let mut sums =
        String::from("define void @f() !dbg !1 {\n  br label %a\n\na:\n  %v0 = phi i64 [ 0, %0 ], [ %n, %a ]\n");
    for at in 1..3_000 {
        let operation = ["add", "mul", "and"][at % 3];
        sums.extend(["v", "w"].map(|name| format!("  %{name}{at} = {operation} i64 %{name}{0}, %{name}{0}\n", at - 1)));
    }
    sums += "  %n = add i64 %v0, 1\n  br label %a\n}\n";
    fuzzed::text(sums.as_bytes());
}
