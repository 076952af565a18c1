//! Tests of the MPI collector.
