"""Records a program of charm4py as Projections logs, with records of its own for what these lack (numbers from 200 on).

Part of partune, run in the namespace of common.py and logs.py, once in each process right after charm4py's main module. Each PE writes `program.PE.log` into a folder, through mapped
memory: what is in it outlives the process, whatever ends that. PE 0 writes the symbol table.

A message carries who made it and its number there, in the header that charm4py sends with each; so the log of whoever gets it says both.
"""

import os
import struct
import sys
import time
import zlib

# The key of a header: who made the message and its number there; where it was received, these and its bytes.
MADE = b"pt"
# An attribute of an object that moves.
MOVED = "_partune_moved"
TOKEN = struct.Struct("<II")
# Classes of the runtime, as which objects pass on what others tell each other; programs may have classes of the same names.
RUNTIME = {
    ("charm4py.charm", "CharmRemote"),
    ("charm4py.sections", "SectionManager"),
    ("charm4py.pool", "PoolScheduler"),
    ("charm4py.pool", "Worker"),
}
# What only wakes a coroutine: if it does, the coroutine ran for the message, and not this.
DEPOSITS = {"_future_deposit_result", "_coll_future_deposit_result", "_channelRecv__"}


def record(module):
    folder = os.environ["PARTUNE_CHARM_DIR"]
    charm, chare_module = module.charm, module.chare
    EntryMethod = module.entry_method.EntryMethod
    zero, loaded = start_of_clock(), time.monotonic_ns()
    clock = time.monotonic_ns
    arguments = list(sys.argv)

    class State(object):
        write = None  # Writes a line; none before the runtime has started.
        log = None
        symbols = None
        pe = 0
        number = 0  # Of the last message made.
        made = None  # A message that was packed and is not sent yet: time, number, bytes.
        single = False  # It makes an object that is in no array.
        idle = False
        is_internal = False  # The runtime makes its own objects.
        cause = ()  # Why what runs now runs.
        deliveries = 0
        is_broadcast = False
        bytes_given = 0

    state = State()
    stack = []  # Executions that have begun, each a list: entry, object's numbers, cause, time of a begin that is not written.
    known = {}  # By the object's address: the object, what its entries begin from, its numbers.
    extra = [0, 0, 0]  # Bytes that our key adds to a header of 0, 1 and more others.

    def now():
        return (clock() - zero) // 1000

    def fail(error):
        """Nothing more is written, and the program goes on."""
        state.write = lambda line: None
        note("PE %d: %s" % (state.pe, error))

    def write(line):
        try:
            state.log.write(line.encode())
        except OSError as error:
            fail(error)

    def register():
        registerMainModule()
        # The launcher may have made this process out of another one meanwhile.
        state.pe, state.process = charm.myPe(), os.getpid()
        try:
            stem = os.path.join(folder, "program")
            most = int(os.environ.get("PARTUNE_MAX_SIZE", 1 << 62)) // charm.numPes()
            state.log = Log("%s.%d.log" % (stem, state.pe), most)
            state.write = write
            write("PROJECTIONS-RECORD 0 %d\n6 %d\n" % (state.process, (loaded - zero) // 1000))
            if state.pe == 0:
                state.symbols = Symbols(charm, stem + ".sts")
                state.symbols.begin(arguments)
                with open(stem + ".projrc", "w") as file:
                    file.write("RC_GLOBAL_START_TIME 0\n")
            measure()
            at_end(end_of_log)
            when_idle(module, begin_idle)
        except Exception as error:
            fail("%s: %s" % (type(error).__name__, error))

    def measure():
        import pickle

        def size(header):
            return len(pickle.dumps((header, []), charm.options.pickle_protocol))

        for others in range(3):
            header = {bytes([65 + it]): None for it in range(others)}
            before = size(header)
            header[MADE] = TOKEN.pack(0, 0)
            extra[others] = size(header) - before

    def end_of_log():
        if state.log is not None:
            state.write("7 %d\n" % now())
            state.log.close()
            state.write = lambda line: None
            state.log = None

    def begin_idle():
        if not state.idle and not stack:
            state.idle = True
            state.write("14 %d %d\n" % (now(), state.pe))

    def end_idle(time):
        """Something that is recorded happens. What the runtime does for itself meanwhile ends nothing: it does not tell of its messages."""
        if state.idle:
            state.idle = False
            state.write("15 %d %d\n" % (time, state.pe))

    def is_of_runtime(cls):
        return (cls.__module__, cls.__name__) in RUNTIME

    def identify(obj):
        proxy = getattr(obj, "thisProxy", None)
        aid = getattr(proxy, "aid", None)
        if is_of_runtime(type(obj)):
            found = (obj, 0, "")
        elif aid is None:
            found = (obj, 0, "0 0 0 0 ")
        elif proxy.elemIdx != ():
            found = (obj, aid << 16, "%d " % aid)
        else:
            found = (obj, aid << 16, "".join("%d " % at for at in obj.thisIndex))
        known[id(obj)] = found
        return found

    # Executions.

    def begun(entry, numbers, cause, time):
        if len(cause) == 3:
            source, number, size = cause
        else:
            source, number, size = -1, -1, 0
        state.write("2 0 %d %d %d %d %d 0 %s0\n" % (entry, time, number, source, size, numbers))
        if len(cause) == 4:
            state.write("201 %d %d %d\n" % cause[:3])

    def tell(frame):
        """Writes a begin that is not written: the execution does more than to wake a coroutine."""
        if frame[3] is not None:
            begun(frame[0], frame[1], frame[2], frame[3])
            frame[3] = None

    def ended(frame):
        tell(frame)
        cause = frame[2]
        number = cause[1] if len(cause) == 3 else -1
        state.write("3 0 %d %d %d %d 0 0\n" % (frame[0], now(), number, state.pe))

    def begin(em, obj, header, args):
        _, base, numbers = known.get(id(obj)) or identify(obj)
        cause = header.get(MADE)
        if type(cause) is not tuple:
            cause = ()
            if em.name == "migrated":
                cause = obj.__dict__.pop(MOVED, ())
        elif len(cause) == 1:
            # No program made the message: it is what a reduction came to, or the runtime's own.
            cause = result(em, obj, args, cause[0])
        if cause:
            state.cause = cause
        if stack:
            tell(stack[-1])
        time = now()
        if state.idle:
            end_idle(time)
        frame = [base | em.epIdx, numbers, cause, None]
        if em.name in DEPOSITS:
            frame[3] = time
        else:
            begun(frame[0], numbers, cause, time)
        stack.append(frame)
        return frame

    def end(frame):
        if stack and stack[-1] is frame:
            stack.pop()
        elif frame in stack:
            stack.remove(frame)
        if frame[0] is not None:
            ended(frame)

    run = EntryMethod._run

    def _run(em, obj, header, args, ret_fut=False):
        if state.write is None or state.is_internal or (em.name == "__init__" and is_of_runtime(em.C)):
            return run(em, obj, header, args, ret_fut=ret_fut)
        frame = begin(em, obj, header, args)
        try:
            return run(em, obj, header, args, ret_fut=ret_fut)
        finally:
            end(frame)

    pauseThread = charm.threadMgr.pauseThread

    def pause():
        """A coroutine waits: its execution is over. When it goes on, for whatever message came last, another one begins."""
        frame = stack.pop() if stack else None
        if frame is None:
            return pauseThread()
        if frame[0] is not None:
            ended(frame)
        entry, numbers = frame[:2]
        frame[0] = None
        try:
            return pauseThread()
        finally:
            time, cause = now(), state.cause
            if stack and stack[-1][3] is not None:
                # What wakes it has done nothing else.
                cause, time = stack[-1][2], stack[-1][3]
                stack[-1][0], stack[-1][3] = None, None
            if state.idle:
                end_idle(time)
            frame[:] = [entry, numbers, cause, None]
            begun(entry, numbers, cause, time)
            stack.append(frame)

    # Messages.

    packMsg = charm.packMsg

    def pack(receiver, args, header):
        if state.write is None or state.is_internal:
            return packMsg(receiver, args, header)
        time = now()
        state.number = number = state.number + 1 & 0xFFFFFFFF
        header[MADE] = TOKEN.pack(state.pe, number)
        packed = packMsg(receiver, args, header)
        size = 0
        if receiver is None:
            size = len(packed[0]) - extra[min(len(header) - 1, 2)]
            for copied in header.get(b"dcopy", ()):
                size += copied[3]
        state.made = (time, number, size)
        state.single = b"single" in header
        return packed

    unpackMsg = charm.unpackMsg

    def unpack(packed, copied, receiver):
        if state.idle:
            end_idle(now())
        size = len(packed)
        header, args = unpackMsg(packed, copied, receiver)
        made = header.get(MADE)
        if made is None:
            state.deliveries += 1
            header[MADE] = (state.deliveries,)
        elif type(made) is bytes:
            size = size - extra[min(len(header) - 1, 2)] if size > 6 else 0
            header[MADE] = TOKEN.unpack(made) + (size,)
        return header, args

    def sent(record, entry, more=""):
        if state.made is None or state.write is None:
            return
        time, number, size = state.made
        state.made = None
        if stack:
            tell(stack[-1])
        if state.idle:
            end_idle(time)
        state.write("%d 0 %d %d %d %d %d %d%s\n" % (record, entry, time, number, state.pe, size, now() - time, more))

    def to_all():
        return " %d" % charm.numPes()

    CkArraySend, CkGroupSend, CkChareSend = charm.CkArraySend, charm.CkGroupSend, charm.CkChareSend

    def array_send(aid, index, ep, packed):
        CkArraySend(aid, index, ep, packed)
        if index == ():
            sent(20, aid << 16 | ep, to_all())
        else:
            sent(1, aid << 16 | ep)

    def group_send(gid, index, ep, packed):
        CkGroupSend(gid, index, ep, packed)
        em = charm.entryMethods.get(ep)
        if index == -1:
            sent(20, ep, to_all())
        elif em is not None and em.name == "sendToSection":
            # It is passed on as it is, to whoever is in the section.
            sent(21, ep, " 0")
        else:
            sent(1, ep)

    def chare_send(cid, ep, packed):
        CkChareSend(cid, ep, packed)
        sent(1, ep)

    lib = charm.lib
    CkGroupSendMulti, CkInsert = lib.CkGroupSendMulti, lib.CkInsert
    CkCreateArray, CkCreateGroup = lib.CkCreateArray, lib.CkCreateGroup

    def group_send_several(gid, pes, ep, packed):
        CkGroupSendMulti(gid, pes, ep, packed)
        sent(21, ep, " %d %s" % (len(pes), " ".join(map(str, pes))))

    # What is made here may be made at once, inside of these calls.

    def insert(aid, index, ep, pe, packed, use_at_sync):
        sent(1, aid << 16 | ep)
        CkInsert(aid, index, ep, pe, packed, use_at_sync)

    def create_array(kind, dimensions, ep, packed, *more):
        made, state.made = state.made, None
        # Its number is known after the call; what happens inside of that is told after the message that makes it happen.
        write, inside = state.write, []
        state.write = inside.append if write is not None else None
        aid = CkCreateArray(kind, dimensions, ep, packed, *more)
        state.made, state.write = made, write
        if write is not None and state.symbols is not None:
            single = sum(dimensions) == 0 and is_called_by(chare_module.Chare.__new__)
            state.symbols.array(aid, kind, len(dimensions), single)
        if sum(dimensions) > 0:
            sent(20, aid << 16 | ep, to_all())
        state.made = None
        for line in inside:
            write(line)
        return aid

    def create_group(kind, ep, packed):
        sent(20, ep, to_all())
        return CkCreateGroup(kind, ep, packed)

    # Reductions: each contribution says to which it goes and what gets the result; whoever gets it finds the last of them.

    def target(kind, number, index, ep, fid):
        return zlib.crc32(("%s %d %s %d %s" % (kind, number, index, ep, fid)).encode())

    def target_of(callback):
        fid = 0
        if isinstance(callback, module.Future):
            fid = callback.fid
            callback = callback.getTargetProxyEntryMethod()
        proxy, ep = callback.__self__, callback.ep
        if hasattr(proxy, "section"):
            return None
        if hasattr(proxy, "aid"):
            return proxy.aid << 16 | ep, target("a", proxy.aid, proxy.elemIdx, ep, fid), proxy.elemIdx == ()
        if hasattr(proxy, "gid"):
            return ep, target("g", proxy.gid, proxy.elemIdx, ep, fid), proxy.elemIdx == -1
        return ep, target("c", proxy.cid[0], (), ep, fid), False

    def result(em, obj, args, delivery):
        """What a message without a maker may be: the targets that it could be for."""
        fid = args[0] if em.name in DEPOSITS and args else 0
        proxy = obj.thisProxy
        if hasattr(proxy, "aid"):
            kind, number, index, everybody = "a", proxy.aid, obj.thisIndex, ()
        elif hasattr(proxy, "gid"):
            kind, number, index, everybody = "g", proxy.gid, obj.thisIndex, -1
        else:
            kind, number, index, everybody = "c", proxy.cid[0], (), ()
        one, all = (target(kind, number, it, em.epIdx, fid) for it in (index, everybody))
        return one, all, delivery, None

    contribute, getContributeInfo = charm.contribute, lib.getContributeInfo

    def contribute_info(*arguments):
        info = getContributeInfo(*arguments)
        state.bytes_given = info.getDataSize()
        return info

    def contributes(data, reducer, callback, contributor, section=None):
        proxy = getattr(contributor, "thisProxy", None)
        if state.write is None or section is not None or proxy is None or proxy.issec or state.is_internal:
            return contribute(data, reducer, callback, contributor, section)
        time, to = now(), target_of(callback)
        collection = getattr(proxy, "aid", None)
        collection = proxy.gid if collection is None else collection
        turn = getattr(contributor, "__getRedNo__")()
        contribute(data, reducer, callback, contributor, section)
        if to is not None:
            state.number = number = state.number + 1 & 0xFFFFFFFF
            entry, key, is_to_all = to
            if stack:
                tell(stack[-1])
            about = (entry, time, number, state.pe, state.bytes_given, now() - time, is_to_all, collection, turn, key)
            state.write("200 0 %d %d %d %d %d %d %d %d %d %d\n" % about)

    # Objects that move.

    arrayElemLeave = charm.arrayElemLeave

    def leave(aid, index):
        obj = charm.arrays[aid].get(index)
        if state.write is None or obj is None:
            return arrayElemLeave(aid, index)
        time = now()
        state.number = number = state.number + 1 & 0xFFFFFFFF
        known.pop(id(obj), None)
        try:
            setattr(obj, MOVED, (state.pe, number, 0))
        except AttributeError:
            pass
        packed = arrayElemLeave(aid, index)
        entry = aid << 16 | charm.classEntryMethods[2][type(obj)][1].epIdx
        state.write("1 0 %d %d %d %d %d %d\n" % (entry, time, number, state.pe, len(packed), now() - time))
        return packed

    createInternal = charm._createInternalChares

    def create_internal():
        state.is_internal = True
        try:
            createInternal()
        finally:
            state.is_internal = False

    registerMainModule = charm.registerMainModule
    charm.registerMainModule = register
    charm._createInternalChares = create_internal
    EntryMethod._run = _run
    charm.threadMgr.pauseThread = pause
    charm.packMsg, charm.unpackMsg = pack, unpack
    charm.CkArraySend, charm.CkGroupSend, charm.CkChareSend = array_send, group_send, chare_send
    lib.CkGroupSendMulti, lib.CkInsert = group_send_several, insert
    lib.CkCreateArray, lib.CkCreateGroup = create_array, create_group
    charm.contribute, lib.getContributeInfo = contributes, contribute_info
    charm.arrayElemLeave = leave
