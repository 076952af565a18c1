//! POSIX threads and semaphores, and the threads of ISO C.
//!
//! One row is one function, but for the functions on attribute objects, which are all one.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static PTHREAD: Paradigm = Paradigm {
    name: "pthread",
    aliases: &["pthreads", "posixthreads", "createwait"],
    class: Class::Threads,
    otf2: Some(7),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted: recognise,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    EXACT.get(name).or_else(|| {
        let object = name.strip_prefix("pthread_")?.split_once("attr_")?.0;
        ["", "mutex", "cond", "rwlock", "barrier"].contains(&object).then(|| EXACT.get(ATTRIBUTES)).flatten()
    })
}

/// The row of all functions on attribute objects (`pthread_mutexattr_settype`).
const ATTRIBUTES: &str = "pthread_attr";

static CONSTRUCTS: &[Construct] = constructs! {
    // Threads
    "pthread_create" => PeManagement;
    "pthread_join" => PeManagement;
    "pthread_tryjoin_np" => PeManagement, NonBlocking;
    "pthread_timedjoin_np" => PeManagement;
    "pthread_clockjoin_np" => PeManagement;
    "pthread_exit" => PeManagement;
    "pthread_cancel" => PeManagement, NonBlocking;
    "pthread_detach" => PeManagement, NonBlocking;
    "pthread_kill" => Management;
    "pthread_once" => Management;
    "pthread_self" => Inquiry;
    "pthread_equal" => Inquiry;
    "pthread_setaffinity_np" => Management;
    "pthread_getaffinity_np" => Inquiry;
    "pthread_setspecific" => Management;
    "pthread_getspecific" => Inquiry;
    "pthread_key_create" => Management;
    "pthread_key_delete" => Management;
    "pthread_attr" => Management;
    // Mutexes
    "pthread_mutex_lock" => LockAcquire;
    "pthread_mutex_timedlock" => LockAcquire;
    "pthread_mutex_clocklock" => LockAcquire;
    "pthread_mutex_trylock" => LockAcquire, NonBlocking;
    "pthread_mutex_unlock" => LockRelease;
    "pthread_mutex_init" => Management;
    "pthread_mutex_destroy" => Management;
    "pthread_mutex_consistent" => Management;
    "pthread_mutex_consistent_np" => Management;
    "pthread_mutex_getprioceiling" => Inquiry;
    "pthread_mutex_setprioceiling" => Management;
    // Readers and writers
    "pthread_rwlock_rdlock" => LockAcquire;
    "pthread_rwlock_timedrdlock" => LockAcquire;
    "pthread_rwlock_clockrdlock" => LockAcquire;
    "pthread_rwlock_tryrdlock" => LockAcquire, NonBlocking;
    "pthread_rwlock_wrlock" => LockAcquire;
    "pthread_rwlock_timedwrlock" => LockAcquire;
    "pthread_rwlock_clockwrlock" => LockAcquire;
    "pthread_rwlock_trywrlock" => LockAcquire, NonBlocking;
    "pthread_rwlock_unlock" => LockRelease;
    "pthread_rwlock_init" => Management;
    "pthread_rwlock_destroy" => Management;
    // Spin locks
    "pthread_spin_lock" => LockAcquire;
    "pthread_spin_trylock" => LockAcquire, NonBlocking;
    "pthread_spin_unlock" => LockRelease;
    "pthread_spin_init" => Management;
    "pthread_spin_destroy" => Management;
    // Conditions
    "pthread_cond_wait" => WaitOnValue;
    "pthread_cond_timedwait" => WaitOnValue;
    "pthread_cond_clockwait" => WaitOnValue;
    "pthread_cond_signal" => Signal;
    "pthread_cond_broadcast" => Signal;
    "pthread_cond_init" => Management;
    "pthread_cond_destroy" => Management;
    // Barriers
    "pthread_barrier_wait" => GroupSync of Set;
    "pthread_barrier_init" => Management;
    "pthread_barrier_destroy" => Management;
    // Semaphores
    "sem_wait" => WaitOnValue;
    "sem_timedwait" => WaitOnValue;
    "sem_clockwait" => WaitOnValue;
    "sem_trywait" => WaitOnValue, NonBlocking;
    "sem_post" => Signal;
    "sem_init" => Management;
    "sem_destroy" => Management;
    "sem_open" => Management;
    "sem_close" => Management;
    "sem_unlink" => Management;
    "sem_getvalue" => Inquiry;
    // Threads of ISO C
    "thrd_create" => PeManagement;
    "thrd_join" => PeManagement;
    "thrd_detach" => PeManagement, NonBlocking;
    "thrd_exit" => PeManagement;
    "mtx_lock" => LockAcquire;
    "mtx_timedlock" => LockAcquire;
    "mtx_trylock" => LockAcquire, NonBlocking;
    "mtx_unlock" => LockRelease;
    "mtx_init" => Management;
    "mtx_destroy" => Management;
    "cnd_wait" => WaitOnValue;
    "cnd_timedwait" => WaitOnValue;
    "cnd_signal" => Signal;
    "cnd_broadcast" => Signal;
    "cnd_init" => Management;
    "cnd_destroy" => Management;
};
