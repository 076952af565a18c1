//! The regions of operations: what Fortran calls them.

use partune_collect::{Kind, Region};

use crate::PARADIGM;

macro_rules! regions {
    ($($static:ident $name:literal)*) => {
        $(pub(crate) static $static: Region = Region::new($name, Kind::Construct(PARADIGM));)*

        #[cfg(test)]
        pub(crate) const NAMES: &[&str] = &[$($name),*];
    };
}

regions! {
    INIT "caf init"
    FINALIZE "caf finalize"
    STOP "stop"
    ERROR_STOP "error stop"
    FAIL_IMAGE "fail image"
    RANDOM_INIT "random_init"
    THIS_IMAGE "this_image"
    NUM_IMAGES "num_images"
    FAILED_IMAGES "failed_images"
    STOPPED_IMAGES "stopped_images"
    IMAGE_STATUS "image_status"
    IS_CONTIGUOUS "is_contiguous"
    TEAM_NUMBER "team_number"
    GET_COMMUNICATOR "get_communicator"
    ALLOCATE "allocate"
    DEALLOCATE "deallocate"
    ALLOCATE_COMPONENT "allocate component"
    DEALLOCATE_COMPONENT "deallocate component"
    PUT "put"
    COPY "copy"
    GET "get"
    ALLOCATED "allocated"
    SYNC_ALL "sync all"
    SYNC_IMAGES "sync images"
    SYNC_TEAM "sync team"
    SYNC_MEMORY "sync memory"
    LOCK "lock"
    TRY_LOCK "lock acquired_lock"
    UNLOCK "unlock"
    CRITICAL "critical"
    END_CRITICAL "end critical"
    EVENT_POST "event post"
    EVENT_WAIT "event wait"
    EVENT_QUERY "event_query"
    FORM_TEAM "form team"
    CHANGE_TEAM "change team"
    END_TEAM "end team"
    ATOMIC_DEFINE "atomic_define"
    ATOMIC_REF "atomic_ref"
    ATOMIC_CAS "atomic_cas"
    ATOMIC_OP "atomic_op"
    ATOMIC_ADD "atomic_add"
    ATOMIC_AND "atomic_and"
    ATOMIC_OR "atomic_or"
    ATOMIC_XOR "atomic_xor"
    ATOMIC_FETCH_ADD "atomic_fetch_add"
    ATOMIC_FETCH_AND "atomic_fetch_and"
    ATOMIC_FETCH_OR "atomic_fetch_or"
    ATOMIC_FETCH_XOR "atomic_fetch_xor"
    CO_BROADCAST "co_broadcast"
    CO_SUM "co_sum"
    CO_MIN "co_min"
    CO_MAX "co_max"
    CO_REDUCE "co_reduce"
    CO_SUM_TO_ONE "co_sum result_image"
    CO_MIN_TO_ONE "co_min result_image"
    CO_MAX_TO_ONE "co_max result_image"
    CO_REDUCE_TO_ONE "co_reduce result_image"
}
