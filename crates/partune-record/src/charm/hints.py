"""Follows hints in a program of charm4py that knows nothing of them: where objects are, which messages are processed first, which are sent together.

Part of partune, run in the namespace of common.py and maps.py. What is to be done comes as JSON that partune has checked. No hint changes what a program computes, unless it relies on an
order of messages that charm4py does not promise.
"""

import contextlib
import heapq
import itertools
import json
import math
import os
import pickle
import sys
import time
import types

# Keys of the header of what makes an object: the PEs that an object of a tree may use for what it creates, and where its creator is; what its array is called.
SPAN, NAME = b"pq", b"pn"
LAST = 1 << 60


def follow(module):
    with open(os.environ["PARTUNE_CHARM_HINTS"]) as file:
        hints = json.load(file)
    charm, chare_module = module.charm, module.chare
    Chare, ArrayMap, Group = chare_module.Chare, chare_module.ArrayMap, chare_module.Group
    ours = sys.modules[__name__] = types.ModuleType(__name__)
    places = {it["array"]: it for it in hints["place"]}
    trees = {it["array"]: it for it in hints["tree"]}
    ranks = {it["object"]: it for it in hints["priority"] if "object" in it}
    levels = {it["message"]: it["level"] for it in hints["priority"] if "message" in it}
    combined = {it["message"]: it for it in hints["combine"]}
    seen, refused, made, counts = set(), {}, {}, {}
    names = {}  # Of arrays that are not the first of their class, as far as this PE has objects of them.

    class State(object):
        running = None  # The object whose method runs.
        heap = None  # The proxy of what empties it.
        direct = None  # The proxy of what makes objects of trees here, and delivers to them.
        called = False
        waits = False  # What is inserted next is made when the runtime comes back to us.

    state = State()
    waiting, order = [], itertools.count()
    spans = {}  # Of objects of trees: first PE, number of them, children so far.
    roots = {}  # Of trees: objects that this PE made and no object of the tree did.
    where = {}  # Objects of trees that this PE made, or that made its own, and their PEs.
    unmade = {}  # Those that are to be made here, and how.
    buffers = {}  # By array, index and method: a proxy, what waits, how much is enough, until when.
    timers = set()  # When they end.

    def say(text):
        note(text, "PARTUNE_CHARM_HINT_NOTES")

    def name_of(aid, C):
        return names.get(aid, C.__name__)

    def named(hints, name, em):
        """A hint for a method, by its name or with its array."""
        return hints.get("%s::%s" % (name, em.name), hints.get(em.name))

    @contextlib.contextmanager
    def headed(more, waits=False):
        """The next message says more in its header."""
        packMsg = charm.packMsg

        def pack(receiver, args, header):
            # What is made at once may send messages of its own.
            charm.packMsg = packMsg
            header.update(more)
            packed = packMsg(receiver, args, header)
            # Arguments that the runtime copies while it sends cannot wait.
            state.waits = waits and b"dcopy" not in header
            return packed

        if more or waits:
            charm.packMsg = pack
        try:
            yield
        finally:
            charm.packMsg, state.waits = packMsg, False

    # Arrays.

    class PartuneMap(ArrayMap):
        def __init__(self, hint, extents):
            self.pe = place(hint, extents, charm.numPes())

        def procNum(self, index):
            return self.pe(index)

    def processors():
        """Of this host, as far as this process may use them; but for a process that is bound to one, others are bound to others."""
        all, own = os.cpu_count() or 1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        return own if own > 1 else all

    def map_of(name, dims):
        """The map of an array that is made; none if there is no hint, or one that does not fit."""
        hint = places.get(name)
        if hint is None:
            return None
        if "aligned" in hint:
            other = made.get(hint["aligned"]["array"])
            if other is None:
                refused["place", name] = "%s, which it is aligned with, is not placed before it" % hint["aligned"]["array"]
                return None
            hint = dict(hint, other=other[0], extents=other[1])
        pes, objects = charm.numPes(), math.prod(dims)
        why = place(hint, dims, pes) if pes > 1 else "there is one PE"
        shared = len(charm.getHostPes(charm.myHost())) > processors()
        least = hint.get("least_shared" if shared else "least", 0)
        if pes > 1 and objects < least * pes * (1 - 1e-6):
            why = "%d objects on %d PEs are fewer than the %g a PE from which it is known to gain%s"
            why %= (objects, pes, least, " where PEs share processors" if shared else "")
        if isinstance(why, str):
            refused["place", name] = why
            return None
        made[name] = (hint, dims)
        return Group(PartuneMap, args=[hint, dims])

    array_ckNew_gen = chare_module.array_ckNew_gen

    def ckNew_gen(C, ep):
        ckNew = array_ckNew_gen(C, ep).__func__

        @classmethod
        def array_ckNew(cls, dims=None, ndims=-1, args=[], map=None, useAtSync=False, is_ray=False):
            count, name = 0, None
            if not is_called_by(Chare.__new__):
                count = counts[C] = counts.get(C, 0) + 1
                name = C.__name__ + ("#%d" % count if count > 1 else "")
                seen.add(name)
                extents = (dims,) if type(dims) is int else tuple(dims or ())
                if map is None and sum(extents) > 0:
                    map = map_of(name, extents)
                elif name in places:
                    refused["place", name] = "the program has a map of its own" if map else "its objects are inserted one by one"
            with headed({NAME: name} if count > 1 else {}):
                proxy = ckNew(cls, dims, ndims, args, map, useAtSync, is_ray)
            if count > 1:
                names[proxy.aid] = name
            return proxy

        return array_ckNew

    # Trees: whoever creates an object without saying where gives it a part of its own PEs.

    array_ckInsert_gen = chare_module.array_ckInsert_gen

    def ckInsert_gen(ep):
        ckInsert, C = array_ckInsert_gen(ep), charm.entryMethods[ep].C

        def array_ckInsert(proxy, index, args=[], onPE=-1, useAtSync=False, single=False, is_ray=False):
            aid = proxy.aid
            hint = trees.get(name_of(aid, C), trees.get(None))
            more, waits = {NAME: names[aid]} if aid in names else {}, False
            if hint is not None and onPE == -1 and not single and charm.numPes() > 1:
                if hint["kind"] == "irregular":
                    state.turn = getattr(state, "turn", charm.myPe()) + 1
                    onPE = state.turn % charm.numPes()
                else:
                    span, creator = part(aid, hint)
                    onPE = where[aid, (index,) if type(index) is int else tuple(index)] = span[0]
                    more[SPAN] = span + (creator, charm.myPe())
                waits = onPE == charm.myPe() and state.direct is not None
            with headed(more, waits):
                return ckInsert(proxy, index, args, onPE, useAtSync, single, is_ray)

        return array_ckInsert

    CkInsert = charm.lib.CkInsert

    def insert(aid, index, ep, pe, packed, use_at_sync):
        """What is made on its creator's PE is made at once, inside of the method that makes it, and all that it makes there. What a method sends leaves when it ends: other PEs would
        begin when the whole branch is done."""
        if not state.waits:
            return CkInsert(aid, index, ep, pe, packed, use_at_sync)
        state.waits, index = False, tuple(index)
        unmade[aid, index] = (ep, pe, packed, use_at_sync)
        state.direct[pe].make(aid, index)

    def part(aid, hint):
        """The PEs of an object that is made now, and the index of the object of the tree that makes it."""
        parent = spans.get(id(state.running))
        if parent is None or parent[4] != aid:
            number = roots[aid] = roots.get(aid, -1) + 1
            parts, creator = split(0, charm.numPes(), hint["roots"]), None
        else:
            number, creator = parent[3], parent[0].thisIndex
            parts = split(parent[1], parent[2], hint["ratios"])
            parent[3] += 1
        return parts[number % len(parts)], creator

    run = module.entry_method.EntryMethod._run

    def _run(em, obj, header, args, ret_fut=False):
        before, state.running = state.running, obj
        span, name = header.get(SPAN), header.get(NAME)
        if name is not None:
            names[obj.thisProxy.aid] = name
        if span is not None:
            aid = obj.thisProxy.aid
            spans[id(obj)] = [obj, span[0], span[1], 0, aid]
            where[aid, span[2]] = span[3]
        try:
            return run(em, obj, header, args, ret_fut=ret_fut)
        finally:
            state.running = before

    class PartuneDirect(Chare):
        """The runtime sends a message to an object by way of the PE that its index belongs to, until it has learnt where the object is; creator and created know it."""

        def __init__(self):
            state.direct = self.thisProxy

        def make(self, aid, index):
            CkInsert(aid, index, *unmade.pop((aid, index)))

        def deliver(self, aid, index, ep, args):
            obj = charm.arrays[aid].get(index)
            if obj is None:
                # It has moved since, or is not there yet.
                charm.CkArraySend(aid, index, ep, charm.packMsg(None, args, {}))
            else:
                charm.invokeEntryMethod(obj, ep, {}, list(args))

    def direct_gen(method, ep, argcount):
        def proxy_entry_method(proxy, *args, **kwargs):
            key = proxy.aid, proxy.elemIdx
            pe = where.get(key)
            if pe is None or pe == charm.myPe() and key not in unmade or state.direct is None or kwargs or len(args) != argcount:
                return method(proxy, *args, **kwargs)
            state.direct[pe].deliver(proxy.aid, proxy.elemIdx, ep, args)

        proxy_entry_method.ep = ep
        return proxy_entry_method

    pauseThread = charm.threadMgr.pauseThread

    def pause():
        """A coroutine waits, and others run until it goes on."""
        mine, state.running = state.running, None
        try:
            return pauseThread()
        finally:
            state.running = mine

    # Priorities: a message waits in a heap until all that came meanwhile are in it too, of which the runtime tells by coming back to us.

    class PartuneHeap(Chare):
        def __init__(self):
            state.heap = self.thisProxy[charm.myPe()]

        def next(self):
            key, aid, index, ep, header, args = heapq.heappop(waiting)
            state.called = bool(waiting)
            if waiting:
                state.heap.next()
            obj = charm.arrays[aid].get(index)
            if obj is None:
                # It has moved since.
                header = {key: it for key, it in header.items() if key in (b"block", b"bcast", b"bcastret", b"sid")}
                charm.CkArraySend(aid, index, ep, charm.packMsg(None, args, header))
            else:
                charm.invokeEntryMethod(obj, ep, header, args)

    keys = {}

    def key_of(obj, aid, ep):
        """The level of a message and the rank of its object; none where no hint is of either."""
        em = charm.entryMethods[ep]
        name = name_of(aid, em.C)
        if (name, ep) not in keys:
            keys[name, ep] = (named(levels, name, em), ranks.get(name))
        level, rank = keys[name, ep]
        if level is None and rank is None:
            return None
        if rank is not None:
            linear = rank["linear"]
            rank = sum(by * at for by, at in zip(linear, obj.thisIndex)) + rank["offset"]
        return (LAST if level is None else level, LAST if rank is None else rank)

    def later(obj, aid, index, ep, header, args):
        """Whether the message waits now."""
        key = key_of(obj, aid, ep)
        if key is None or state.heap is None:
            return False
        heapq.heappush(waiting, (key + (next(order),), aid, index, ep, header, args))
        if not state.called:
            state.called = True
            state.heap.next()
        return True

    recvArrayMsg, recvArrayBcast = charm.recvArrayMsg, charm.recvArrayBcast

    def receive(aid, index, ep, packed, copied):
        obj = charm.arrays[aid].get(index)
        if obj is None or key_of(obj, aid, ep) is None or state.heap is None:
            return recvArrayMsg(aid, index, ep, packed, copied)
        header, args = charm.unpackMsg(packed, copied, obj)
        if header.get("is_ray") or not later(obj, aid, index, ep, header, args):
            charm.invokeEntryMethod(obj, ep, header, args, ret_fut=bool(header.get("is_ray")))

    def receive_all(aid, indexes, ep, packed, copied):
        array = charm.arrays[aid]
        if not indexes or key_of(array[indexes[0]], aid, ep) is None or state.heap is None:
            return recvArrayBcast(aid, indexes, ep, packed, copied)
        header, args = charm.unpackMsg(packed, copied, None)
        for index in indexes:
            if not later(array[index], aid, index, ep, header, args):
                charm.invokeEntryMethod(array[index], ep, header, args)

    # Combining: messages of a method to one object are sent as one, when there are enough, when the oldest has waited long enough, or when there is nothing else to do.

    array_proxy_method_gen = chare_module.array_proxy_method_gen

    def method_gen(ep, argcount, argnames, defaults):
        method = array_proxy_method_gen(ep, argcount, argnames, defaults)
        em = charm.entryMethods[ep]
        if trees:
            method = direct_gen(method, ep, argcount)
        if not any(name.rpartition("::")[2] == em.name for name in combined):
            return method

        def proxy_entry_method(proxy, *args, **kwargs):
            aid, index = proxy.aid, proxy.elemIdx
            key, hint = (aid, index, ep), named(combined, name_of(aid, em.C), em)
            buffer, count = buffers.get(key), 0
            if hint is not None and not kwargs and index != () and len(args) == argcount and charm.numPes() > 1:
                count = buffer[2] if buffer else enough(hint)
            if count <= 1:
                # It goes by itself, and what it is not to overtake goes before it.
                for waits in [key] if index != () else [it for it in buffers if it[0] == aid and it[2] == ep]:
                    flush(waits)
                return method(proxy, *args, **kwargs)
            if buffer is None:
                buffer = buffers[key] = [proxy, [], count, time.time() + hint["timeout_us"] * 1e-6]
                wake(buffer[3])
            # What is sent together is sent later, and arguments may change meanwhile.
            buffer[1].append(pickle.dumps(args, -1))
            if len(buffer[1]) >= count:
                flush(key)

        proxy_entry_method.ep = ep
        return proxy_entry_method

    def enough(hint):
        if hint["count"] != "n_local":
            return hint["count"]
        proxy = getattr(state.running, "thisProxy", None)
        return len(charm.arrays.get(getattr(proxy, "aid", None), ()))

    def wake(due):
        """Sets a timer, unless one ends before: the runtime has few, and the program needs them too. So there are no more than hints have limits."""
        if all(due < other for other in timers) and charm.sched_tagpool:
            timers.add(due)
            charm.scheduleCallableAfter(expire, max(0.0, due - time.time()), [due])

    def expire(due):
        timers.discard(due)
        # The runtime's clock is coarser than ours: what is due as good as now is due.
        now = time.time() + 1e-3
        for key in [key for key, buffer in buffers.items() if buffer[3] <= now]:
            flush(key)
        if buffers:
            wake(min(buffer[3] for buffer in buffers.values()))

    def flush(key):
        buffer = buffers.pop(key, None)
        if buffer is not None:
            buffer[0]._partune_combined(key[2], buffer[1])

    def flush_all():
        for key in list(buffers):
            flush(key)

    def _partune_combined(self, ep, batch):
        for args in batch:
            args = list(pickle.loads(args))
            # Where some wait by a priority, all of them do, or they would not keep their order.
            if not later(self, self.thisProxy.aid, self.thisIndex, ep, {}, args):
                charm.invokeEntryMethod(self, ep, {}, args)

    # What all PEs do in the same order.

    registerInternal, createInternal = charm._registerInternalChares, charm._createInternalChares
    register, registerMainModule = charm.register, charm.registerMainModule

    def register_class(C, *collections, **more):
        for hint in hints["pipeline"]:
            function = C.__dict__.get(hint["method"]) if C.__name__ == hint["class"] else None
            if function is not None:
                names = function.__code__.co_varnames[: function.__code__.co_argcount]
                defaults = list(function.__defaults__ or ())
                at = names.index(hint["parameter"]) - len(names) if hint["parameter"] in names else -LAST
                if -at <= len(defaults):
                    defaults[at] = hint["degree"]
                    function.__defaults__ = tuple(defaults)
                    seen.add((hint["class"], hint["method"]))
        return register(C, *collections, **more)

    def register_internal():
        registerInternal()
        for C in (PartuneMap, PartuneHeap, PartuneDirect):
            C.__module__ = __name__
            setattr(ours, C.__name__, C)
            charm.register(C, (chare_module.GROUP,))

    def create_internal():
        createInternal()
        if (ranks or levels) and charm.numPes() > 1:
            Group(PartuneHeap)
        if trees and charm.numPes() > 1:
            Group(PartuneDirect)

    def begin():
        registerMainModule()
        if combined:
            when_idle(module, flush_all)
        if charm.myPe() == 0:
            say("followed")
            at_end(tell)

    def tell():
        """What came of the hints."""
        if charm.numPes() < 2 and any(hints.values()):
            say("there is one PE, so no object is placed and no message waits")
            return
        methods = {em.name for em in charm.entryMethods.values()}
        arrays = seen | {em.C.__name__ for em in charm.entryMethods.values()}
        for em in charm.entryMethods.values():
            methods |= {"%s::%s" % (name, em.name) for name in arrays if name.partition("#")[0] == em.C.__name__}
        of_arrays = [("place", it) for it in places] + [("tree", it) for it in trees] + [("priority", it) for it in ranks]
        of_methods = [("priority", it) for it in levels] + [("combine", it) for it in combined]
        pipelines = {"%s::%s" % (it["class"], it["method"]): it for it in hints["pipeline"]}
        # Trees need not say of which array they are.
        missing = [(kind, name, "the program made no such array") for kind, name in of_arrays if name and name not in seen]
        of_methods += [("pipeline", it) for it in pipelines]
        missing += [(kind, name, "the program has no such method") for kind, name in of_methods if name not in methods]
        if len(missing) == len(of_arrays) + len(of_methods):
            say("its hints about objects are of another program: this one has none of the arrays and methods that they name, and ran as without them")
        for kind, name, why in missing:
            say("%s of %s is not followed: %s" % (kind, name, why))
        for (kind, name), why in refused.items():
            say("%s of %s is not followed: %s" % (kind, name, why))
        for name, hint in pipelines.items():
            if name in methods and (hint["class"], hint["method"]) not in seen:
                say("pipeline of %s is not followed: it has no parameter %s with a default" % (name, hint["parameter"]))

    charm._registerInternalChares, charm._createInternalChares = register_internal, create_internal
    charm.register, charm.registerMainModule = register_class, begin
    chare_module.array_ckNew_gen = ckNew_gen
    if trees:
        chare_module.array_ckInsert_gen = ckInsert_gen
        charm.lib.CkInsert = insert
    if trees or combined or ranks or levels:
        module.entry_method.EntryMethod._run = _run
        charm.threadMgr.pauseThread = pause
    if ranks or levels:
        charm.recvArrayMsg, charm.recvArrayBcast = receive, receive_all
    if trees or combined:
        chare_module.array_proxy_method_gen = method_gen
    if combined:
        _partune_combined.__qualname__ = "Chare._partune_combined"
        Chare._partune_combined = _partune_combined
