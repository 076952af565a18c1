//! Mutexes, locks of readers and writers, and spin locks, also by the names of ISO C.
//!
//! A lock that nobody waited for was got without a record. So whoever gives it back, and keeps somebody waiting, tells both: that it has it since that began
//! to wait, as far as events of its own are not later, and that it gives it back. Whoever gets a lock that others get too, and that is held for long, says so.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use partune_collect::facts::Lock;
use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Model};
use partune_collect::{Call, Region, callers, enter, now, tell_since};

use crate::awake::{self, World, is_awake};
use crate::function::call;
use crate::objects::{self, Release};
use crate::waits::{self, Waiting, aside};

/// All that have a lock in common.
const ALL: u32 = u32::MAX;

/// How a lock is told.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// One thread has it.
    Exclusive,
    /// One writer has it, or readers.
    Write,
    Read,
}

impl Kind {
    pub(crate) fn acquired(self, call: &mut Call<'_>, world: &World, (number, order): (u32, u32)) {
        match self {
            Kind::Exclusive => call.acquired(Model::Pthread, number, order),
            Kind::Write => call.rma_acquire_lock(world.window, ALL, number.into(), Lock::Exclusive),
            Kind::Read => call.rma_acquire_lock(world.window, ALL, number.into(), Lock::Shared),
        }
    }

    /// Tells that a lock is given back, and if nobody knows it, that it was held.
    pub(crate) fn released(self, call: &mut Call<'_>, world: &World, release: Release) {
        let Release { number, order, is_known, .. } = release;
        if !is_known {
            self.acquired(call, world, (number, order));
        }
        match self {
            Kind::Exclusive => call.released(Model::Pthread, number, order),
            Kind::Write | Kind::Read => call.rma_release_lock(world.window, ALL, number.into()),
        }
    }
}

/// A lock is about to be given back, and that it is held is told, if nobody knows it. None if neither is recorded.
pub(crate) fn released(kind: Kind, lock: usize) -> Option<Release> {
    let world = awake::world()?;
    let mut release = waits::released(lock)?;
    if !release.is_known {
        let got = (release.number, release.order);
        release.is_known = tell_since(release.since, |call| kind.acquired(call, world, got));
    }
    Some(release)
}

fn releasing(region: &'static Region, frame: Frame, kind: Kind, lock: usize) -> Option<(Call<'static>, Release)> {
    let release = released(kind, lock)?;
    let call = enter(region, frame);
    if call.is_none() {
        unseen(kind, release);
    }
    Some((call?, release))
}

/// A lock is given back by a call that is not recorded. Who waits for it is told all the same.
pub(crate) fn unseen(kind: Kind, release: Release) {
    if let Some(world) = awake::world() {
        tell_since(now(), |call| kind.released(call, world, release));
    }
}

/// The calling thread got a lock without a wait that is recorded. Those that wait for it say so.
#[inline]
pub(crate) fn taken(lock: usize, holder: fn(usize) -> u32) {
    if objects::is_awaited(lock) {
        aside(|| {
            objects::held(lock, holder);
            Some(())
        });
    }
}

thread_local! {
    /// Locks that the thread got without a record, and since when it has them; those of one place push each other out.
    static HELD: [Cell<(usize, u64)>; PLACES] = const { [const { Cell::new((0, 0)) }; PLACES] };
}
const PLACES: usize = 8;

/// The calling thread got a lock without a record. It is measured how long it has it.
#[inline]
fn measure(lock: usize) {
    HELD.with(|held| held[objects::place::<PLACES>(lock)].set((lock, now())));
}

/// How long it has had a lock that is measured, which is so no more.
#[inline]
pub(crate) fn measured(lock: usize) -> Option<u64> {
    HELD.with(|held| {
        let held = &held[objects::place::<PLACES>(lock)];
        (held.get().0 == lock).then(|| now().saturating_sub(held.replace((0, 0)).1))
    })
}

/// Whether the program is about to get a lock; what runtimes lock is their own business. Asked before it is got: the answer may take memory, and where a runtime watches what the process
/// maps, memory may take the very lock.
#[inline]
fn is_program(frame: Frame) -> bool {
    let at = frame.return_address();
    callers::is_known_program(at).unwrap_or_else(|| aside(|| Some(callers::is_program(at))).unwrap_or(false))
}

/// The program got a lock without a wait.
#[inline]
fn got_at_once(region: &'static Region, frame: Frame, kind: Kind, lock: usize) {
    if !(objects::may_be_long(lock) && is_told(region, frame, kind, lock)) {
        measure(lock);
    }
}

/// Tells that it did, if that is told of this lock.
#[cold]
fn is_told(region: &'static Region, frame: Frame, kind: Kind, lock: usize) -> bool {
    let told = aside(|| {
        let (world, thread) = (awake::world()?, team::thread()?);
        let mut call = objects::is_told(lock, thread).then(|| enter(region, frame))??;
        let got = objects::got(lock, thread, call.time());
        kind.acquired(&mut call, world, got);
        call.leave();
        Some(())
    });
    told.is_some()
}

/// It gives back a lock that it had for so long, and that was not told.
#[inline]
fn had(lock: usize, time: u64) {
    let shortest = awake::world().map_or(u64::MAX, World::shortest);
    if time >= shortest || objects::may_be_long(lock) {
        was_had(lock, time >= shortest);
    }
}

#[cold]
fn was_had(lock: usize, is_long: bool) {
    aside(|| {
        if is_long {
            objects::was_long(lock, team::thread()?);
        } else {
            objects::was_short(lock);
        }
        Some(())
    });
}

fn end(waiting: Option<Waiting>, kind: Kind, is_got: bool) {
    aside(|| {
        let mut waiting = waiting?;
        match (waiting.returned(), is_got) {
            (true, true) => {
                let got = waiting.got();
                kind.acquired(&mut waiting.call, waiting.world, got);
                waiting.call.leave();
            }
            (true, false) => {
                waiting.stop();
                waiting.call.leave();
            }
            (false, _) => {
                let lock = waiting.object;
                waiting.stop();
                waiting.call.withdraw();
                if is_got {
                    measure(lock);
                }
            }
        }
        Some(())
    });
}

/// Of glibc's `pthread_mutex_t`, in words of 32 bits: `__data.__count`, `__data.__owner` and `__data.__kind`.
const COUNT: usize = 1;
const OWNER: usize = 2;
const KIND: usize = 4;

/// A word of a mutex; 0 where it is another library's.
fn word(mutex: usize, at: usize) -> u32 {
    if cfg!(all(target_env = "gnu", target_pointer_width = "64")) {
        // SAFETY: the program's mutex, which it uses now; other threads write such a word as a whole.
        unsafe { (*(mutex as *const AtomicU32).add(at)).load(Ordering::Relaxed) }
    } else {
        0
    }
}

/// Whether the calling thread goes on holding a mutex when it gives it back once: it got it several times.
pub(crate) fn is_nested(mutex: usize) -> bool {
    /// Of the kind, the bits that say which of four it is.
    const WHICH: u32 = 3;
    const RECURSIVE: u32 = 1;
    word(mutex, KIND) & WHICH == RECURSIVE && word(mutex, COUNT) > 1
}

/// What the system calls the thread that holds a mutex; 0 if none does, or if it was got or is given back right now and that lasts.
pub(crate) fn holder(mutex: usize) -> u32 {
    /// Who has got it says so a few instructions later.
    const LOOKS: usize = 100;
    let mut looks = (0..LOOKS).map(|_| word(mutex, OWNER)).inspect(|_| std::hint::spin_loop());
    looks.find(|tid| *tid != 0).unwrap_or(0)
}

fn is_never_nested(_: usize) -> bool {
    false
}

/// What the C library's functions return: of those that get a lock, and of all others if they did what they were asked for.
const GOT: c_int = 0;
const OWNER_DIED: c_int = libc::EOWNERDEAD;
const BUSY: c_int = libc::EBUSY;
/// `thrd_busy`, and no more than `thrd_success`.
const C_BUSY: c_int = 1;

macro_rules! acquire {
    ($($region:ident $kind:ident $name:ident($($more:ident),*) tries $try:ident else $busy:ident $(of $holder:ident)?;)*) => {$(
        pub(crate) static $region: Region = crate::construct(stringify!($name));

        /// Gets a lock.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: usize, $($more: usize),*) -> c_int {
            if !is_awake() {
                return call!($name(lock $(, $more)*));
            }
            let whose: Option<fn(usize) -> u32> = None$(.or(Some($holder)))?;
            let frame = frame::here();
            let is_program = is_program(frame);
            let tried = call!($try(lock));
            if tried != $busy {
                if is_program && matches!(tried, GOT | OWNER_DIED) && !(whose.is_some() && is_nested(lock)) {
                    got_at_once(&$region, frame, Kind::$kind, lock);
                }
                $(taken(lock, $holder);)?
                return tried;
            }
            let waiting = aside(|| Waiting::begin(&$region, frame, lock, whose));
            let result = call!($name(lock $(, $more)*));
            if waiting.is_some() {
                end(waiting, Kind::$kind, matches!(result, GOT | OWNER_DIED));
            }
            $(taken(lock, $holder);)?
            result
        }
    )*};
}

acquire! {
    MUTEX_LOCK Exclusive pthread_mutex_lock() tries pthread_mutex_trylock else BUSY of holder;
    MUTEX_TIMEDLOCK Exclusive pthread_mutex_timedlock(time) tries pthread_mutex_trylock else BUSY of holder;
    MUTEX_CLOCKLOCK Exclusive pthread_mutex_clocklock(clock, time) tries pthread_mutex_trylock else BUSY of holder;
    RWLOCK_RDLOCK Read pthread_rwlock_rdlock() tries pthread_rwlock_tryrdlock else BUSY;
    RWLOCK_TIMEDRDLOCK Read pthread_rwlock_timedrdlock(time) tries pthread_rwlock_tryrdlock else BUSY;
    RWLOCK_CLOCKRDLOCK Read pthread_rwlock_clockrdlock(clock, time) tries pthread_rwlock_tryrdlock else BUSY;
    RWLOCK_WRLOCK Write pthread_rwlock_wrlock() tries pthread_rwlock_trywrlock else BUSY;
    RWLOCK_TIMEDWRLOCK Write pthread_rwlock_timedwrlock(time) tries pthread_rwlock_trywrlock else BUSY;
    RWLOCK_CLOCKWRLOCK Write pthread_rwlock_clockwrlock(clock, time) tries pthread_rwlock_trywrlock else BUSY;
    SPIN_LOCK Exclusive pthread_spin_lock() tries pthread_spin_trylock else BUSY;
    C_LOCK Exclusive mtx_lock() tries mtx_trylock else C_BUSY of holder;
    C_TIMEDLOCK Exclusive mtx_timedlock(time) tries mtx_trylock else C_BUSY of holder;
}

macro_rules! tries {
    ($($name:ident)*) => {$(
        /// Gets a mutex, if nobody has it.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(mutex: usize) -> c_int {
            let result = call!($name(mutex));
            if is_awake() {
                taken(mutex, holder);
            }
            result
        }
    )*};
}

tries! {
    pthread_mutex_trylock
    mtx_trylock
}

macro_rules! release {
    ($($region:ident $kind:ident $name:ident unless $nested:ident;)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// Gives a lock back.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(lock: usize) -> c_int {
            if !is_awake() {
                return call!($name(lock));
            }
            if $nested(lock) {
                return call!($name(lock));
            }
            if let Some(time) = measured(lock) {
                had(lock, time);
            }
            if !objects::is_awaited(lock) {
                return call!($name(lock));
            }
            let frame = frame::here();
            let releasing = aside(|| releasing(&$region, frame, Kind::$kind, lock));
            let result = call!($name(lock));
            if releasing.is_some() {
                given_back(releasing, Kind::$kind, result == GOT);
            }
            result
        }
    )*};
}

release! {
    MUTEX_UNLOCK Exclusive pthread_mutex_unlock unless is_nested;
    RWLOCK_UNLOCK Write pthread_rwlock_unlock unless is_never_nested;
    SPIN_UNLOCK Exclusive pthread_spin_unlock unless is_never_nested;
    C_UNLOCK Exclusive mtx_unlock unless is_nested;
}

/// It was given back when the call began: another thread may have it since.
fn given_back(releasing: Option<(Call<'static>, Release)>, kind: Kind, is_done: bool) {
    aside(|| {
        let (mut call, release) = releasing?;
        let world = awake::world().filter(|_| is_done);
        if let Some(world) = world {
            kind.released(&mut call, world, release);
        }
        call.returned();
        call.leave();
        Some(())
    });
}

macro_rules! destroy {
    ($($name:ident $(if $done:ident)?;)*) => {$(
        /// Ends an object, if it can.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(object: usize) -> c_int {
            let result = call!($name(object));
            if is_awake() $(&& result == $done)? {
                aside(|| {
                    objects::forget(object);
                    Some(())
                });
            }
            result
        }
    )*};
}

destroy! {
    pthread_mutex_destroy if GOT;
    pthread_rwlock_destroy if GOT;
    pthread_spin_destroy if GOT;
    pthread_cond_destroy if GOT;
    sem_destroy if GOT;
    mtx_destroy;
    cnd_destroy;
}
