"""Says what keeps a process of Python from ending, and ends it: as a plugin of
pytest, or around unittest."""

import multiprocessing
import os
import sys
import threading
import traceback


def own(frame):
    frames = traceback.extract_stack(frame)
    ours = [f for f in frames if f.filename.startswith(os.getcwd() + os.sep) and "site-packages" not in f.filename]
    f = (ours or frames)[-1]
    return "%s:%d" % (f.filename, f.lineno)


def end(code):
    sys.stdout.flush()
    sys.stderr.flush()
    frames = sys._current_frames()
    for t in threading.enumerate():
        if t is not threading.current_thread() and not t.daemon and t.ident in frames:
            os.write(2, ("nexus: still open: thread %s at %s\n" % (t.name, own(frames[t.ident]))).encode())
    for p in multiprocessing.active_children():
        if not p.daemon:
            os.write(2, ("nexus: still open: process %s at %s:0\n" % (p.name, p.pid)).encode())
            p.kill()
    os._exit(int(code))


def pytest_sessionfinish(session, exitstatus):
    session.config._nexus_exit = exitstatus


def pytest_unconfigure(config):
    code = getattr(config, "_nexus_exit", None)
    if code is not None and not hasattr(config, "workerinput"):
        end(code)


try:
    import pytest
except ImportError:
    pass
else:
    pytest_unconfigure = pytest.hookimpl(trylast=True)(pytest_unconfigure)
    pytest_sessionfinish = pytest.hookimpl(trylast=True)(pytest_sessionfinish)

if __name__ == "__main__":
    import unittest

    sys.path.insert(0, os.getcwd())
    end(not unittest.main(module=None, argv=["unittest"] + sys.argv[1:], exit=False).result.wasSuccessful())
