//! Tests of the language of test traces.

mod language;
