// The archives that the pages are shown with: those of this repository, and recorded ones where they are present.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

export const ROOT = resolve(process.env.PARTUNE_ROOT ?? "..");
const shared = process.env.PARTUNE_TRACES ?? join(ROOT, "../shared/traces");

/** An archive of this repository: four processes that hand messages around. */
export const ring = join(ROOT, "examples/archives/ring/traces.otf2");
/** The same program, recorded as a profile. */
export const ringProfile = join(ROOT, "examples/archives/ring_profile/traces.otf2");

/** Accesses to shared memory with their addresses. */
export const addresses = join(ROOT, "examples/archives/addresses/traces.otf2");

/** A recorded archive, or null where it is not here. */
export function recorded(name: string): string | null {
  const path = join(shared, "otf2", name, "traces.otf2");
  return existsSync(path) ? path : null;
}

/** Late senders of four processes: two findings with known times. */
export const lateSender = recorded("scorep84-ats-late_sender-4");
/** MPI and OpenMP together, 16 PEs, all kinds of findings. */
export const hybrid = recorded("scorep84-lulesh-hybrid-8x2");
/** 32 processes without source lines, from a simulator. */
export const stencil = recorded("tracer-stencil4d-32");
/** An archive of which hardly anything is left: no PE, no event. */
export const nothing = recorded("casita-4_mpi_lammps_colloid");
/** Two runs of one program, one even and one not. */
export const even = recorded("scorep84-otfcpt-mpi-balanced-4");
export const uneven = recorded("scorep84-otfcpt-mpi-imbalance-4");
/** Two processes with a thread and a stream of a device each. */
export const streams = recorded("casita-2_cuda_simple");
/** Two processes with hardware counters. */
export const measured = recorded("pipit-ping-pong-papi-2");
