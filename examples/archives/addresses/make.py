#!/usr/bin/python3
"""Writes the archive in this folder with the C library of OTF2 (Debian package python3-otf2): an OpenSHMEM program in which all accesses have addresses.

Three PEs, times in microseconds. Window "read": twelve elements of 8 bytes, four on each PE; PE q reads elements q, q + 3, q + 6, q + 9 for 10 ms each.
Then, each behind a barrier and in window "write": PE q writes to PE q + 1 at 0, to PE q + 2 at 8, to PE q + 2 at 0. Only the first and the last
touch the same memory, so one barrier between them is enough. Each PE tells addresses in another way: PE 0 as a number of the access, PE 1 as
a text, PE 2 as a number of the call.
"""

import os
import shutil

import otf2
from otf2.enums import (GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm, RegionRole,
                        RmaSyncLevel, CollectiveOp, Type)

HERE = os.path.dirname(os.path.abspath(__file__))
for old in ("traces", "traces.otf2", "traces.def"):
    path = os.path.join(HERE, old)
    shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
scratch = os.path.join(HERE, "scratch")

with otf2.writer.open(scratch, timer_resolution=1_000_000) as archive:
    define = archive.definitions
    node = define.system_tree_node("node", class_name="node")
    pes = []
    for rank in range(3):
        group = define.location_group(f"PE {rank}", system_tree_parent=node)
        pes.append(define.location("main", group=group))

    def region(name, role, paradigm):
        return define.region(name, region_role=role, paradigm=paradigm)

    user = [region(name, RegionRole.FUNCTION, Paradigm.USER) for name in ("main", "read", "first", "second", "third")]
    main, read, first, second, third = user
    get = region("shmem_getmem", RegionRole.RMA, Paradigm.SHMEM)
    put = region("shmem_putmem", RegionRole.RMA, Paradigm.SHMEM)
    barrier = region("shmem_barrier_all", RegionRole.BARRIER, Paradigm.SHMEM)
    world = define.group("", group_type=GroupType.COMM_LOCATIONS, paradigm=Paradigm.SHMEM, members=pes)
    members = define.group("", group_type=GroupType.COMM_GROUP, paradigm=Paradigm.SHMEM, members=pes)
    comm = define.comm("world", group=members)
    windows = [define.rma_win(name, comm) for name in ("read", "write")]
    ways = [
        define.attribute("RMA_ADDRESS", "", Type.UINT64),
        define.attribute("Target offset", "", Type.STRING),
        define.attribute("remote_addr", "", Type.INT64),
    ]

    def access(writer, rank, begin, region, window, target, address, matching):
        """A blocking access of 8 bytes from begin on, 10 ms long."""
        value = f"0x{address:x}" if rank == 1 else address
        told = {ways[rank]: value}
        writer.enter(begin, region, attributes=told if rank == 2 else None)
        tell = writer.rma_put if region is put else writer.rma_get
        tell(begin, window, target, 8, matching, attributes=told if rank != 2 else None)
        writer.rma_op_complete_blocking(begin + 10_000, window, matching)
        writer.leave(begin + 10_000, region)

    def wait(writer, begin, end):
        """A barrier that all reach at once."""
        writer.enter(begin, barrier)
        writer.rma_collective_begin(begin)
        level = RmaSyncLevel.PROCESS | RmaSyncLevel.MEMORY
        writer.rma_collective_end(end, CollectiveOp.BARRIER, level, windows[0], 0xFFFFFFFF, 0, 0)
        writer.leave(end, barrier)

    for rank, pe in enumerate(pes):
        writer = archive.event_writer_from_location(pe)
        writer.enter(0, main)
        writer.enter(0, read)
        for turn in range(4):
            element = rank + 3 * turn
            access(writer, rank, 10_000 * turn, get, windows[0], element // 4, 8 * (element % 4), turn)
        writer.leave(40_000, read)
        end = 40_000
        for phase, (region, distance, address) in enumerate([(first, 1, 0), (second, 2, 8), (third, 2, 0)]):
            writer.enter(end, region)
            wait(writer, end + 5, end + 5_000)
            access(writer, rank, end + 5_000, put, windows[1], (rank + distance) % 3, address, 4 + phase)
            end += 15_000
            writer.leave(end, region)
        writer.leave(end, main)

for name in ("traces", "traces.otf2", "traces.def"):
    os.rename(os.path.join(scratch, name), os.path.join(HERE, name))
os.rmdir(scratch)
