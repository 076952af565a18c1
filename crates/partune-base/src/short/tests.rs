//! Names by hand: what demanglers print, and what people say.

use super::*;

const NAMES: &[(&str, &str)] = &[
    ("main", "main"),
    ("main()", "main"),
    ("int main(int, char **)", "main"),
    ("app::solve(int, std::vector<double, std::allocator<double> > const&)", "app::solve"),
    ("void app::solve<double>(std::vector<double>&)", "app::solve<…>"),
    ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<…>::push_back"),
    ("std::vector<int, std::allocator<int>>::push_back", "std::vector<…>::push_back"),
    ("unsigned long a::B<c::D>::e<f, (g)1>(int) const", "a::B<…>::e<…>"),
    ("A<int>::~A()", "A<…>::~A"),
    // Operators.
    ("operator<<(std::ostream&, A const&)", "operator<<"),
    ("std::ostream& std::operator<< <char>(std::ostream&, char const*)", "std::operator<< <…>"),
    ("bool operator< <A>(A const&, A const&)", "operator< <…>"),
    ("bool a::operator<(B<int> const&, B<int> const&)", "a::operator<"),
    ("A::operator()(int) const", "A::operator()"),
    ("void A::operator()<int>(int) const", "A::operator()<…>"),
    ("B<int>::operator[](unsigned long)", "B<…>::operator[]"),
    ("A::operator->() const", "A::operator->"),
    ("A::operator->*(int B::*)", "A::operator->*"),
    ("A::operator>>=(int)", "A::operator>>="),
    ("A::operator<=>(A const&) const", "A::operator<=>"),
    ("A::operator=(A&&)", "A::operator="),
    ("operator,(A, B)", "operator,"),
    ("A::operator bool() const", "A::operator bool"),
    ("A::operator unsigned long() const", "A::operator unsigned long"),
    ("A::operator std::vector<int>() const", "A::operator std::vector<…>"),
    ("operator new(unsigned long)", "operator new"),
    ("operator new[](unsigned long, std::align_val_t)", "operator new[]"),
    ("operator delete(void*)", "operator delete"),
    ("A::operator newtype() const", "A::operator newtype"),
    ("operator\"\" _km(long double)", "operator\"\" _km"),
    ("my_operator(int)", "my_operator"),
    ("operators(int)", "operators"),
    // Lambdas, local types, unnamed namespaces.
    ("main::{lambda(int)#1}::operator()(int) const", "main::{lambda()#1}::operator()"),
    ("f(int)::{lambda()#2}::operator()() const", "f::{lambda()#2}::operator()"),
    ("A<int>::f(int) const::{lambda(auto:1)#1}::operator()<int>(int) const", "A<…>::f::{lambda()#1}::operator()<…>"),
    ("{lambda()#1}::operator()() const", "{lambda()#1}::operator()"),
    ("main::'lambda'(int)::operator()(int) const", "main::'lambda'::operator()"),
    ("main()::<lambda(int)>", "main::<lambda()>"),
    ("f()::Local::run()", "f::Local::run"),
    ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
    ("void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<…>"),
    ("a::(anonymous namespace)::B::c()", "a::(anonymous namespace)::B::c"),
    ("{unnamed type#1}::f()", "{unnamed type#1}::f"),
    // Arguments of templates that have brackets and comparisons.
    ("std::function<void (int)>::operator()(int) const", "std::function<…>::operator()"),
    ("void f<(a)1, (1>2)>(int)", "f<…>"),
    ("void f<&A::operator>, 3>(int)", "f<…>"),
    ("void f<&A::operator-> >(int)", "f<…>"),
    ("void f<'>'>()", "f<…>"),
    ("A<(anonymous namespace)::B>::c()", "A<…>::c"),
    ("A<main::{lambda(int)#1}>::c(B<int>)", "A<…>::c"),
    ("std::enable_if<(2)<(3), int>::type f<int>(int)", "f<…>"),
    // Results that look like arguments.
    ("decltype (x.a(y)) f<int>(int)", "f<…>"),
    ("decltype(auto) f<int>(int)", "f<…>"),
    ("void (*g(int))(double)", "g"),
    ("void (*a::g<int>(int))(double)", "a::g<…>"),
    // Pieces, tags, and what tools append.
    ("work()._omp_fn.0", "work._omp_fn.0"),
    ("mesh::smooth(double*, int)@plt", "mesh::smooth@plt"),
    ("fmax@plt", "fmax@plt"),
    ("void work<int>(int) [clone ._omp_fn.0]", "work<…>"),
    ("text[abi:cxx11](int)", "text"),
    ("A::text[abi:cxx11]() const", "A::text"),
    ("void f(T) [with T = int]", "f"),
    ("int main(int, char **) C [{a.c} {1,1}-{9,1}]", "main"),
    // Rust.
    ("core::fmt::Formatter::pad", "core::fmt::Formatter::pad"),
    ("<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "<alloc::vec::Vec<…> as core::iter::Extend<…>>::extend"),
    ("app::run::{{closure}}", "app::run::{{closure}}"),
    ("app::run::<i32>::{closure#0}", "app::run::<…>::{closure#0}"),
    ("a::<impl b::C<d> for e::F>::g", "a::<impl b::C<…> for e::F>::g"),
];

#[test]
fn names_are_as_people_say_them() {
    for (name, is) in NAMES {
        assert_eq!(short(name), *is, "{name}");
    }
}

#[test]
fn a_short_name_stays() {
    for (_, name) in NAMES {
        assert_eq!(short(name), *name);
    }
}

#[test]
fn what_is_no_function_of_these_languages_stays() {
    for name in [
        "",
        "step (fine)",
        "solve <coarse>",
        "(undefined region)",
        "heat.py:42 in <module>",
        "<listcomp>",
        "!$omp parallel @a.c:1",
        "libc.so.6+0x29d10",
        "f(int",
        "f)int(",
        "A<int::f()",
        "a[3]",
        "{",
        "'",
        "f(int) and more",
        "operator",
        "größe<",
        "…<…",
    ] {
        assert_eq!(short(name), name);
    }
}

/// Whatever it is given, it neither fails nor takes long.
#[test]
fn nests_as_deep_as_text_does() {
    for open in ["<", "(", "{", "operator<", "a<", "a(", "f()::", "operator ", "void (*"] {
        let text = open.repeat(100_000);
        for text in [format!("{text}f()"), format!("{text}{}", ")".repeat(100_000)), text] {
            assert!(short(&text).len() <= text.len());
        }
    }
}
