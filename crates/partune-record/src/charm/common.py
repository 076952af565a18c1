"""What recording a program of charm4py and following hints in it share. Part of partune."""

import atexit
import ctypes
import os
import sys

# The condition of the runtime's scheduler that this PE begins to idle.
BEGINS_IDLE = 2
kept = []  # What the C side calls.


def note(text, where="PARTUNE_CHARM_NOTES"):
    """Says something to whoever started the program."""
    path = os.environ.get(where)
    if path:
        with open(path, "a") as file:
            file.write(text.replace("\n", " ") + "\n")


def at_end(do):
    """Once the runtime has started: calls when this process ends. The runtime ends it where Python does not see that: so it is a handler of the C library,
    which is called while Python is still there."""
    C, process = ctypes.CDLL(None), os.getpid()
    mark = ctypes.create_string_buffer(1)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: do() if os.getpid() == process else None)
    kept.extend((handler, mark))
    C["__cxa_atexit"](handler, None, mark)
    atexit.register(lambda: C["__cxa_finalize"](mark))


def when_idle(module, do):
    """Once the runtime has started: calls whenever this PE begins to idle."""
    path = os.path.join(os.path.dirname(module.__file__), ".libs", "libcharm.so")
    library = ctypes.PyDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double)(lambda *_: do())
    kept.append(handler)
    library.CcdCallOnConditionKeep(BEGINS_IDLE, handler, None)


def is_called_by(function):
    """Whether a function is among the nearest callers of ours."""
    frame = sys._getframe(2)
    for _ in range(4):
        if frame is None or frame.f_code is function.__code__:
            return frame is not None
        frame = frame.f_back
    return False
