//! Records MPI inside the user's program: one library for every MPI, in C and Fortran, found when the program runs.
//!
//! For `partune record`, which preloads it. Every function of MPI has a wrapper here (made by `build.rs` from the prototypes in
//! `partune-mpi-abi`), which records the call and calls the library's own; MPI is never linked, its handles are words, and what differs
//! between libraries is looked up there too. Without `PARTUNE_DIR` in the environment, and before MPI starts, wrappers only
//! pass calls on.
//!
//! What MPI calls inside of itself is not recorded. Nobody communicates for the sake of recording, but for one `Allreduce` inside of
//! `MPI_Init` that finds out whether all processes share a clock, and a few messages if they do not.
#![allow(unsafe_code, reason = "arguments of the program and functions of its MPI")]

mod abort;
mod clocks;
mod collective;
mod comms;
mod communicators;
mod completion;
mod files;
mod function;
mod indices;
mod init;
mod invocation;
mod library;
mod lookup;
mod memo;
mod memory;
mod mpi;
mod neighbours;
mod p2p;
mod place;
mod pmpi;
mod requests;
mod rma;
mod spin;
mod types;
mod weak;
mod windows;
mod wrap;

/// The functions that the program calls instead of MPI's.
#[allow(
    non_snake_case,
    non_camel_case_types,
    unreachable_pub,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "they are MPI's"
)]
#[allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block, reason = "generated, all alike")]
mod wrappers {
    use std::ffi::c_int;

    use partune_collect::frame;

    use crate::function::{Function, Language, Mode, Signature};
    use crate::invocation::Form;
    use crate::place::{Place, places};
    use crate::wrap::{self, Handler};
    use crate::{abort, collective, communicators, completion, files, init, p2p, rma, types};

    include!(concat!(env!("OUT_DIR"), "/wrappers.rs"));
}

#[cfg(test)]
mod tests {
    use crate::function::Mode::{Blocking, NonBlocking, Persistent};
    use crate::function::{Function, Signature};
    use crate::place::Place::{self, *};
    use crate::wrappers::ALL;

    /// Handlers by a part of their name, and the parameters that each asks for.
    const NEEDED: &[(&str, &[Place])] = &[
        ("p2p::send)", &[Target, SendTag, SendCount, SendType, Comm]),
        ("p2p::ready)", &[Request]),
        ("p2p::recv)", &[Source, SendTag, Comm]),
        ("p2p::mrecv)", &[Message]),
        ("p2p::sendrecv)", &[Target, SendTag, SendCount, SendType, Source, RecvTag, Comm]),
        ("p2p::matched_probe)", &[Comm, Message]),
        ("completion::one)", &[Request, Status]),
        ("completion::all)", &[Many, Requests, Statuses]),
        ("completion::any)", &[Many, Requests, Index, Status]),
        ("completion::some)", &[Many, Requests, OutCount, Indices, Statuses]),
        ("completion::get_status)", &[Request, Flag]),
        ("completion::cancel)", &[Request]),
        ("completion::free)", &[Request]),
        ("collective::", &[Comm]),
        ("collective::bcast)", &[SendCount, SendType, Root]),
        ("collective::gather)", &[Send, SendCount, SendType, RecvCount, RecvType, Root]),
        ("collective::gatherv)", &[Send, SendCount, SendType, RecvCounts, RecvType, Root]),
        ("collective::scatter)", &[Recv, SendCount, SendType, RecvCount, RecvType, Root]),
        ("collective::scatterv)", &[Recv, SendCounts, SendType, RecvCount, RecvType, Root]),
        ("collective::reduce)", &[Send, SendCount, SendType, Root]),
        ("collective::allreduce)", &[Send, SendCount, SendType]),
        ("collective::allgather)", &[Send, SendCount, SendType, RecvCount, RecvType]),
        ("collective::allgatherv)", &[Send, SendCount, SendType, RecvCounts, RecvType]),
        ("alltoall)", &[SendCount, SendType, RecvCount, RecvType]),
        ("alltoallv)", &[SendCounts, SendType, RecvCounts, RecvType]),
        ("alltoallw)", &[SendCounts, SendTypes, RecvCounts, RecvTypes]),
        ("neighbor_allgatherv)", &[SendCount, SendType, RecvCounts, RecvType]),
        ("collective::reduce_scatter)", &[Send, RecvCounts, SendType]),
        ("collective::reduce_scatter_block)", &[Send, RecvCount, SendType]),
        ("scan)", &[Send, SendCount, SendType]),
        ("communicators::create", &[CommOut]),
        ("communicators::duplicate)", &[Comm, CommOut, Request]),
        ("communicators::get_parent)", &[CommOut]),
        ("communicators::free)", &[CommOut]),
        ("communicators::set_name)", &[Comm, Text]),
        ("rma::create", &[Comm, WinOut]),
        ("rma::allocate", &[Comm, WinOut]),
        ("rma::free)", &[WinOut]),
        ("rma::put)", &[SendCount, SendType, Target, Win]),
        ("rma::get)", &[SendCount, SendType, Target, Win]),
        ("rma::accumulate)", &[SendCount, SendType, Target, Win]),
        ("rma::get_accumulate)", &[SendCount, RecvCount, RecvType, Target, Win]),
        ("rma::fetch_and_op)", &[SendType, Target, Win]),
        ("rma::compare_and_swap)", &[SendType, Target, Win]),
        ("rma::fence)", &[Win]),
        ("rma::start)", &[Group, Win]),
        ("rma::post)", &[Group, Win]),
        ("rma::complete)", &[Win]),
        ("rma::wait)", &[Win]),
        ("rma::lock)", &[Win]),
        ("rma::unlock)", &[Win]),
        ("rma::flush", &[Win]),
        ("files::open)", &[Comm, FileOut, Text]),
        ("files::close)", &[FileOut]),
        ("files::read", &[File, SendCount, SendType]),
        ("files::write", &[File, SendCount, SendType]),
        ("files::transfer_end)", &[File, Status]),
        ("init::session_init)", &[Session]),
        ("Handler::Switch", &[Level]),
    ];

    fn handler_of(name: &str) -> (&'static Function, &'static str) {
        *ALL.iter().find(|(function, _)| function.region.name == name).unwrap_or_else(|| panic!("{name}"))
    }

    #[test]
    fn functions_have_what_their_handlers_ask_for() {
        for (part, needed) in NEEDED {
            let handled: Vec<_> = ALL.iter().filter(|(_, handler)| handler.contains(part)).collect();
            assert!(!handled.is_empty(), "{part}");
            for (function, _) in handled {
                let name = function.region.name;
                let missing: Vec<_> = needed.iter().filter(|place| function.signature.at(**place).is_none()).collect();
                assert!(missing.is_empty(), "{name} has no {missing:?}");
                let Signature { mode, .. } = function.signature;
                assert!(*mode == Blocking || function.signature.at(Request).is_some(), "{name} gives a request");
            }
        }
    }

    #[test]
    fn positions_modes_and_widths() {
        let (send, handler) = handler_of("MPI_Send");
        assert_eq!(
            [Send, SendCount, SendType, Target, SendTag, Comm].map(|place| send.signature.at(place)),
            [0, 1, 2, 3, 4, 5].map(Some)
        );
        assert_eq!((send.signature.mode, handler), (Blocking, "Handler::Tell(p2p::send)"));
        let modes =
            ["MPI_Isend", "MPI_Send_init", "MPI_Ibcast", "MPI_Bcast_init_c", "MPI_Rput", "MPI_Put", "MPI_Session_init"];
        let modes = modes.map(|name| handler_of(name).0.signature.mode);
        assert_eq!(modes, [NonBlocking, Persistent, NonBlocking, Persistent, NonBlocking, Blocking, Blocking]);
        let wide = |name: &str, place| handler_of(name).0.signature.is_wide(place);
        assert!(wide("MPI_Send_c", SendCount) && !wide("MPI_Send", SendCount) && wide("MPI_Alltoallv_c", RecvCounts));
        assert_eq!(handler_of("MPI_Comm_rank").1, "Handler::Plain");
        assert_eq!(handler_of("MPIX_Bcast_init").1, "Handler::Keep(collective::bcast)");
        let parameters = ["MPI_Init", "MPI_Init_thread", "MPI_Send", "MPI_Pcontrol"];
        assert_eq!(parameters.map(|name| handler_of(name).0.signature.fortran_parameters), [0, 2, 6, 1]);
    }

    #[test]
    fn what_only_computes_is_left_alone() {
        let wrapped = |name: &str| ALL.iter().any(|(function, _)| function.region.name == name);
        for name in [
            "MPI_Wtime",
            "MPI_Wtick",
            "MPI_Aint_add",
            "MPI_Comm_f2c",
            "MPI_Status_c2f",
            "MPI_T_init_thread",
            "MPI_Comm_toint",
        ] {
            assert!(!wrapped(name), "{name}");
        }
        assert!(ALL.len() > 550 && wrapped("MPI_Comm_rank") && wrapped("MPI_Type_commit"));
    }
}
