"""Three programs of 64 processes, each as a recording (OTF2) and as a trace for SimGrid: halo exchange, all-to-all, pipeline.

usage: replay.py FOLDER TURNS

Work differs from process to process and turn to turn, the same in both. Times of operations in the recording are those of another machine, which a
prediction must not need."""
import os
import random
import sys

import otf2

RANKS, SIDE, BYTES = 64, 8, 32768
BYTE = 6  # SimGrid's number of MPI_BYTE
SECOND = 1_000_000_000


class Program:
    """What each rank does: ("compute", seconds), ("isend", rank, bytes), ("irecv", …), ("send", …), ("recv", …), ("waitall",), ("alltoall", bytes)."""

    def __init__(self):
        self.steps = [[] for _ in range(RANKS)]

    def add(self, rank, *step):
        self.steps[rank].append(step)


def work():
    return random.uniform(0.8e-3, 1.2e-3)


def halo(turns):
    program = Program()
    for _ in range(turns):
        for rank in range(RANKS):
            x, y = rank % SIDE, rank // SIDE
            around = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
            neighbours = [(a % SIDE) + SIDE * (b % SIDE) for a, b in around]
            program.add(rank, "compute", work())
            for neighbour in neighbours:
                program.add(rank, "irecv", neighbour, BYTES)
            for neighbour in neighbours:
                program.add(rank, "isend", neighbour, BYTES)
            program.add(rank, "waitall")
    return program


def alltoall(turns):
    program = Program()
    for _ in range(turns):
        for rank in range(RANKS):
            program.add(rank, "compute", 4 * work())
            program.add(rank, "alltoall", 1024)
    return program


def pipeline(turns):
    program = Program()
    for _ in range(turns):
        for rank in range(RANKS):
            if rank > 0:
                program.add(rank, "recv", rank - 1, BYTES)
            program.add(rank, "compute", work())
            if rank + 1 < RANKS:
                program.add(rank, "send", rank + 1, BYTES)
    return program


def for_simgrid(program, folder):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/traces.txt", "w") as names:
        for rank, steps in enumerate(program.steps):
            names.write(f"{folder}/{rank}.txt\n")
            with open(f"{folder}/{rank}.txt", "w") as out:
                out.write(f"{rank} init\n")
                for kind, *rest in steps:
                    if kind == "compute":
                        out.write(f"{rank} compute {rest[0] * 1e9:.0f}\n")
                    elif kind == "waitall":
                        out.write(f"{rank} waitall 8\n")
                    elif kind == "alltoall":
                        out.write(f"{rank} alltoall {rest[0]} {rest[0]} {BYTE} {BYTE}\n")
                    else:
                        out.write(f"{rank} {kind} {rest[0]} 0 {rest[1]} {BYTE}\n")
                out.write(f"{rank} finalize\n")


class Recorder:
    """Writes what a rank does as it would be recorded."""

    NAMES = {"isend": "MPI_Isend", "irecv": "MPI_Irecv", "send": "MPI_Send", "recv": "MPI_Recv", "waitall": "MPI_Waitall", "alltoall": "MPI_Alltoall"}

    def __init__(self, trace):
        definitions = trace.definitions
        root = definitions.system_tree_node("machine")
        node = definitions.system_tree_node("node", parent=root)
        groups = [definitions.location_group(f"rank {rank}", system_tree_parent=node) for rank in range(RANKS)]
        places = [definitions.location("main", group=group) for group in groups]
        self.writers = [trace.event_writer_from_location(place) for place in places]
        world = definitions.group(
            "world", group_type=otf2.GroupType.COMM_LOCATIONS, paradigm=otf2.Paradigm.MPI, members=places
        )
        ranks = definitions.group(
            "ranks", group_type=otf2.GroupType.COMM_GROUP, paradigm=otf2.Paradigm.MPI, members=list(range(RANKS))
        )
        del world
        self.world = definitions.comm("MPI_COMM_WORLD", group=ranks)
        region = lambda name, paradigm: definitions.region(name, paradigm=paradigm)
        self.main = region("main", otf2.Paradigm.USER)
        self.regions = {kind: region(name, otf2.Paradigm.MPI) for kind, name in self.NAMES.items()}
        self.requests = [0] * RANKS
        self.open = [[] for _ in range(RANKS)]

    def enter(self, rank, kind, time):
        self.writers[rank].enter(time, self.regions[kind])

    def leave(self, rank, kind, time):
        self.writers[rank].leave(time, self.regions[kind])


def record(program, folder):
    """All ranks side by side, on a machine on which a message takes a microsecond and all-to-all two."""
    with otf2.writer.open(folder, timer_resolution=SECOND) as trace:
        recorder = Recorder(trace)
        clocks, positions = [0] * RANKS, [0] * RANKS
        sent, collective, all_there = {}, {}, {}
        counts = [dict() for _ in range(RANKS)]
        for rank in range(RANKS):
            recorder.writers[rank].enter(0, recorder.main)
        left = True
        while left:
            left = False
            for rank in range(RANKS):
                steps = program.steps[rank]
                while positions[rank] < len(steps):
                    if not do(recorder, rank, steps[positions[rank]], clocks, sent, counts[rank], collective, all_there):
                        break
                    positions[rank] += 1
                    left = True
        assert all(position == len(steps) for position, steps in zip(positions, program.steps))
        for rank in range(RANKS):
            recorder.writers[rank].leave(clocks[rank], recorder.main)


def do(recorder, rank, step, clocks, sent, count, collective, all_there):
    """One step of a rank; false if it has to wait for another one first."""
    kind, *rest = step
    writer, clock, world = recorder.writers[rank], clocks[rank], recorder.world
    nth = count.get(step[:2] if kind != "waitall" else kind, 0)
    message = 1000
    if kind == "compute":
        clocks[rank] = clock + round(rest[0] * 1e9)
    elif kind in ("send", "isend"):
        recorder.enter(rank, kind, clock)
        if kind == "send":
            writer.mpi_send(clock, rest[0], world, 0, rest[1])
        else:
            recorder.requests[rank] += 1
            writer.mpi_isend(clock, rest[0], world, 0, rest[1], recorder.requests[rank])
            recorder.open[rank].append(("isend", recorder.requests[rank]))
        sent[rank, rest[0], nth] = clock
        clocks[rank] = clock + 100
        recorder.leave(rank, kind, clock + 100)
    elif kind == "irecv":
        recorder.enter(rank, kind, clock)
        recorder.requests[rank] += 1
        writer.mpi_irecv_request(clock, recorder.requests[rank])
        recorder.open[rank].append(("irecv", recorder.requests[rank], rest[0], nth, rest[1]))
        clocks[rank] = clock + 100
        recorder.leave(rank, kind, clock + 100)
    elif kind == "recv":
        at = sent.get((rest[0], rank, nth))
        if at is None:
            return False
        recorder.enter(rank, kind, clock)
        clocks[rank] = max(clock + 100, at + message)
        writer.mpi_recv(clocks[rank], rest[0], world, 0, rest[1])
        recorder.leave(rank, kind, clocks[rank])
    elif kind == "waitall":
        received = [it for it in recorder.open[rank] if it[0] == "irecv"]
        times = [sent.get((it[2], rank, it[3])) for it in received]
        if None in times:
            return False
        recorder.enter(rank, kind, clock)
        end = max([clock + 100] + [at + message for at in times])
        for it in recorder.open[rank]:
            if it[0] == "irecv":
                writer.mpi_irecv(end, it[2], world, 0, it[4], it[1])
            else:
                writer.mpi_isend_complete(end, it[1])
        recorder.open[rank] = []
        clocks[rank] = end
        recorder.leave(rank, kind, end)
    else:
        turn = all_there.setdefault(nth, {})
        if rank not in turn:
            turn[rank] = clock
        if len(turn) < RANKS:
            return False
        recorder.enter(rank, kind, clock)
        writer.mpi_collective_begin(clock)
        clocks[rank] = max(turn.values()) + 2000
        writer.mpi_collective_end(
            clocks[rank], otf2.CollectiveOp.ALLTOALL, world, 0xFFFFFFFF, rest[0] * RANKS, rest[0] * RANKS
        )
        recorder.leave(rank, kind, clocks[rank])
    if kind != "compute":
        count[step[:2] if kind != "waitall" else kind] = nth + 1
    return True


def main():
    folder, turns = sys.argv[1], int(sys.argv[2])
    random.seed(17)
    for make in (halo, alltoall, pipeline):
        program = make(turns)
        record(program, f"{folder}/{make.__name__}")
        for_simgrid(program, f"{folder}/{make.__name__}.ti")
        operations = sum(step[0] != "compute" for steps in program.steps for step in steps)
        print(make.__name__, operations)


main()
