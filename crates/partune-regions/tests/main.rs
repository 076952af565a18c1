//! Tests of the marks.
