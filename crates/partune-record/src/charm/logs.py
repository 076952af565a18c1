"""What a recorder of charm4py writes: the log of a PE, the symbol table, and times. Part of partune."""

import fcntl
import mmap
import os
import time

WINDOW = 1 << 20


class Log(object):
    """A file that is written in mapped windows; zeros after its end are no part of it."""

    def __init__(self, path, most):
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        # Whoever completes the recording waits for it; it goes with the process.
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.most = most
        self.begin = 0
        self.at = 0
        self.map = None
        self.open_window()

    def open_window(self):
        if self.begin >= self.most:
            raise OSError("its part of --max-size is full")
        # Where the disk is full this fails, and not a write into the window.
        os.posix_fallocate(self.file, self.begin, WINDOW)
        self.map = mmap.mmap(self.file, WINDOW, offset=self.begin)

    def write(self, line):
        end = self.at + len(line)
        while end > WINDOW:
            here = WINDOW - self.at
            self.map[self.at :] = line[:here]
            line = line[here:]
            self.begin += WINDOW
            self.at, end = 0, len(line)
            self.open_window()
        self.map[self.at : end] = line
        self.at = end

    def close(self):
        os.ftruncate(self.file, self.begin + self.at)


class Symbols(object):
    """The symbol table. An array has classes and entry methods of its own: their numbers are above those of the runtime."""

    def __init__(self, charm, path):
        self.charm = charm
        self.path = path
        self.arrays = {}

    def entry_name(self, em):
        function = getattr(em.C, em.name)
        if em.C.__name__ == "DefaultMainchare" and em.name == "__init__" and self.charm.entry_func is not None:
            function = self.charm.entry_func
            return "%s(%s)" % (function.__name__, ", ".join(names(function)))
        return "%s(%s)" % (em.name, ", ".join(names(function)[1:]))

    def begin(self, arguments):
        lines = ["PROJECTIONS_ID", "VERSION 11.0", "TOTAL_PHASES 1", 'MACHINE "charm4py"']
        lines += ["PROCESSORS %d" % self.charm.numPes(), 'COMMANDLINE "%s"' % text(" ".join(arguments))]
        for of_type in self.charm.classEntryMethods:
            for C, methods in of_type.items():
                lines += self.of_class(C.__name__, methods, 0, -1)
        self.append(lines + ["END"])

    def of_class(self, name, methods, base, dimensions):
        if not methods or methods[0].epIdx < 0:
            return []
        number = base | methods[0].epIdx
        lines = ['CHARE %d "%s" %d' % (number, text(name), dimensions)]
        return lines + ['ENTRY CHARE %d "%s" %d 0' % (base | m.epIdx, text(self.entry_name(m)), number) for m in methods]

    def array(self, aid, chare, dimensions, single):
        """An array was made, or an object that is in none, whose number stands for an index."""
        C = next((C for C in self.charm.classEntryMethods[2] if C.idx and C.idx[2] == chare), None)
        if C is None:
            return
        name = C.__name__
        if not single:
            count = self.arrays[C] = self.arrays.get(C, 0) + 1
            name += "#%d" % count if count > 1 else ""
        self.append(self.of_class(name, self.charm.classEntryMethods[2][C], aid << 16, 1 if single else dimensions))

    def append(self, lines):
        with open(self.path, "a") as file:
            file.write("\n".join(lines) + "\n")


def names(function):
    code = getattr(function, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code is not None else ("self",)


def text(name):
    return "".join(" " if it in '"\\' or ord(it) < 32 else it for it in name)[:1000]


def start_of_clock():
    """Nanoseconds of the monotonic clock that count as 0: that of the recording, or elsewhere its wall-clock time."""
    boot, monotonic, wall = os.environ.get("PARTUNE_CHARM_CLOCK", "- 0 0").split()
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            if file.read().strip() == boot:
                return int(monotonic)
    except OSError:
        pass
    return time.monotonic_ns() - (time.time_ns() - int(wall))
