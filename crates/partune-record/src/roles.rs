//! Roles of constructs as OTF2 names them, so that other tools colour a recorded archive as they do their own.

use partune_otf2::codec::numbers::role::{
    ALL_TO_ALL, ALL_TO_ONE, ALLOCATE, BARRIER, COLLECTIVE, FILE_IO, FUNCTION, ONE_TO_ALL, POINT_TO_POINT, RMA,
};
use partune_paradigm::recognise;
use partune_trace::{Completion, Role};

/// `OTF2_RegionRole` of a construct of a paradigm.
pub(crate) fn of(construct: &str, paradigm: &str) -> u8 {
    let Some(known) = recognise(construct, Some(paradigm)) else { return FUNCTION };
    match known.construct.role {
        // What begins a collective of its own is one for other tools too.
        Role::GroupSync if known.construct.completion != Completion::NonBlocking => BARRIER,
        Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::Scan => COLLECTIVE,
        Role::OneToAll => ONE_TO_ALL,
        Role::AllToOne => ALL_TO_ONE,
        Role::AllToAll => ALL_TO_ALL,
        Role::Send | Role::Recv | Role::SendRecv | Role::Probe | Role::CommSync => POINT_TO_POINT,
        Role::Put
        | Role::Get
        | Role::Atomic
        | Role::RmaGroupSync
        | Role::RmaPost
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::LockAcquire
        | Role::LockRelease
        | Role::WaitOnValue
        | Role::Signal => RMA,
        Role::GlobalAlloc => ALLOCATE,
        Role::Io => FILE_IO,
        Role::Init
        | Role::Finalize
        | Role::Inquiry
        | Role::DeviceWait
        | Role::WorkSharing
        | Role::Parallel
        | Role::TaskCreate
        | Role::TaskRun
        | Role::TaskWait
        | Role::PeManagement
        | Role::Management
        | Role::Measurement
        | Role::User => FUNCTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_have_the_roles_of_other_recorders() {
        let roles = [
            "MPI_Send",
            "MPI_Waitall",
            "MPI_Barrier",
            "MPI_Bcast",
            "MPI_Reduce",
            "MPI_Allreduce",
            "MPI_Ibarrier",
            "MPI_Put",
        ];
        let expected = [POINT_TO_POINT, POINT_TO_POINT, BARRIER, ONE_TO_ALL, ALL_TO_ONE, ALL_TO_ALL, COLLECTIVE, RMA];
        assert_eq!(roles.map(|name| of(name, "MPI")), expected);
        assert_eq!(of("solve", "MPI"), FUNCTION);
    }
}
