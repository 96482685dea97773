"""Runs operations one after the other in one place: functions of a Python plugin, whose modules it imports once, and
scripts (docs/adr/0040-warm-python.md, docs/adr/0043-warm-scripts.md).

Jobs come as lines of JSON on the standard input:

{"kind": "fork", "target", "mode", "ctx_url", "is_resumed", "out", "err"}: what baton_runner.py does with TARGET MODE, in a fork
{"kind": "spawn", "path", "shell", "env", "out", "err"}: the program `path`, or /bin/sh with the command line `shell` where `path`
  is null or no program that the system can start

`out`: whether the output is read. `err`: "err", "out" for errors among the output, or null.

Answers go to the standard output as frames: a letter, four bytes of length, the content.

h  at the start: the next job may come
c  the job cannot run in a fork, and nothing of it has begun; the content says why. The server ends
s  the fork has begun
o, e  output of the fork
x  the end of the fork, as JSON: {"code", "left", "kilobytes"}. With `left` the fork has left something behind that a
   later one would meet
"""
import atexit
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import tempfile
import threading
import time
import traceback

import baton_runner

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_MAX_FRAME = 32 * 1024
# A background process may keep the pipes open after the function has ended; its output is read for this time.
_PIPES_GRACE = 1.0
_LOOK_EVERY = 0.1
# How often the ends of background processes are taken while an operation runs: each counts as a process until then.
_REAP_EVERY = 1.0
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


# Python ignores these signals; a program would inherit that.
_OWN_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)

# What forks would import at their first call otherwise. The first one must be that of _Imports.
_PRELOADED = ('cloudify.proxy_call', 'cloudify.context', 'cloudify.utils', 'cloudify.state', 'encodings.idna')


class Cold(Exception):
    """The job needs a process of its own."""


_c_prctl = ctypes.CDLL(None).prctl


def _prctl(option, value):
    if _c_prctl(option, value, 0, 0, 0) != 0:
        raise Cold('prctl %d failed' % option)


class _Imports(object):
    """The modules of the plugin, as all forks get them."""

    def __init__(self):
        self._names = set()
        self._files = set(os.listdir('/proc/self/fd'))
        self._printed = None

    def add(self, name):
        """Imports a module. Raises Cold where forks would not be what a process of its own is."""
        if name in self._names:
            return
        printed = tempfile.TemporaryFile()
        kept = os.dup(1), os.dup(2)
        try:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            importlib.import_module(name)
        except BaseException as error:
            raise Cold('%s: %s' % (type(error).__name__, error))
        finally:
            os.dup2(kept[0], 1)
            os.dup2(kept[1], 2)
            os.close(kept[0])
            os.close(kept[1])
        printed.seek(0)
        said = printed.read()
        printed.close()
        if said:
            raise Cold('the import prints')
        if threading.active_count() > 1 or len(os.listdir('/proc/self/task')) > 1:
            raise Cold('the import starts threads')
        if set(os.listdir('/proc/self/fd')) - self._files:
            raise Cold('the import opens files')
        if _has_children():
            raise Cold('the import starts processes')
        if sys.modules['cloudify.proxy_call'].asked_without_run:
            raise Cold('the import asks for the context of an operation')
        self._names.add(name)
        gc.collect()
        gc.freeze()


def _has_children():
    """Whether any process is left below this one; ended ones are forgotten."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
        except ChildProcessError:
            return False


class _Server(object):
    def __init__(self):
        self._jobs = os.fdopen(os.dup(0), 'rb')
        self._frames = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nothing, descriptor)
        os.close(nothing)
        self._imports = _Imports()
        self._handlers = {}
        # Where the machine has such things already, they are not those of the operation alone.
        self._sees_ipc = not _has_ipc()

    def run(self):
        # Forks have the same account: no fork may read or change the memory of the server.
        _prctl(_PR_SET_DUMPABLE, 0)
        # What a fork leaves behind becomes a child of the server, which sees it then.
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        os.environ['BATON_SCRIPT_KIND'] = 'function'
        baton_runner.add_fallbacks()
        self._tell(b'h')
        for line in self._jobs:
            self._serve(json.loads(line.decode('utf-8')))

    def _tell(self, kind, content=b''):
        rest = kind + len(content).to_bytes(4, 'big') + content
        while rest:
            rest = rest[os.write(self._frames, rest):]

    def _serve(self, job):
        try:
            child, pipes = self._start(job)
        except Cold as error:
            self._tell(b'c', str(error).encode('utf-8', 'replace')[:_MAX_FRAME])
            os._exit(0)
        self._tell(b's')
        code = self._relay(child, pipes)
        if code < 0 and job['kind'] == 'spawn':
            # As the shell says it, in which a program runs elsewhere.
            code = 128 - code
        left = 'processes' if _has_children() else 'shared memory' if self._sees_ipc and _has_ipc() else None
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._tell(b'x', json.dumps({'code': code, 'left': left, 'kilobytes': kilobytes}).encode('utf-8'))
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _start(self, job):
        """Starts the process of the job. Returns its id and its output: descriptor -> letter of the frames."""
        is_fork = job['kind'] == 'fork'
        if is_fork:
            # Servers that only start programs need none of them, and start in half of the time.
            for name in _PRELOADED:
                self._imports.add(name)
        if is_fork and job['mode'] == 'function':
            self._imports.add(job['target'].rpartition('.')[0])
        if not is_fork and not hasattr(os, 'posix_spawn'):
            raise Cold('this Python cannot start programs quickly')
        out, err = os.pipe(), os.pipe()
        # The end of a cancel is that of the child; its group is that of the server.
        self._handlers = dict((s, signal.signal(s, signal.SIG_IGN)) for s in _SIGNALS)
        streams = _streams(job, out[1], err[1])
        if is_fork:
            child = os.fork()
            if child == 0:
                self._become(job, streams, out + err)
        else:
            child = _spawn(job, streams)
        os.close(out[1])
        os.close(err[1])
        return child, {out[0]: b'o', err[0]: b'e'}

    def _become(self, job, streams, pipes):
        """Ends as the process that runs the operation. Never returns."""
        status = 1
        try:
            for descriptor, number in streams:
                os.dup2(descriptor, number)
            for descriptor in (self._frames, self._jobs.fileno()) + pipes:
                os.close(descriptor)
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            _prctl(_PR_SET_DUMPABLE, 1)
            _prctl(_PR_SET_CHILD_SUBREAPER, 0)
            os.environ['CTX_SOCKET_URL'] = job['ctx_url']
            if job['is_resumed']:
                os.environ['BATON_IS_RESUMED'] = '1'
            sys.argv = [baton_runner.__file__, job['target'], job['mode']]
            sys.modules['__main__'] = baton_runner
            baton_runner.main()
        except SystemExit as error:
            status = error.code
        except BaseException:
            traceback.print_exc()
        try:
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException:
            pass
        os._exit(status & 0xff)

    def _relay(self, child, pipes):
        """Passes the output on until the child has ended, and returns its exit code (-N: signal N)."""
        waiting = select.poll()
        for pipe in pipes:
            waiting.register(pipe, select.POLLIN)
        ended = os.pidfd_open(child) if hasattr(os, 'pidfd_open') else None
        if ended is not None:
            waiting.register(ended, select.POLLIN)
        status, grace = None, _PIPES_GRACE
        while status is None or (pipes and grace > 0):
            before = time.monotonic()
            ready = waiting.poll(1000 * (_REAP_EVERY if status is None and ended is not None else _LOOK_EVERY))
            if status is not None:
                grace -= time.monotonic() - before
            for descriptor, _ in ready:
                if descriptor == ended:
                    continue
                content = os.read(descriptor, _MAX_FRAME)
                if content:
                    self._tell(pipes[descriptor], content)
                else:
                    waiting.unregister(descriptor)
                    os.close(descriptor)
                    del pipes[descriptor]
            if status is None:
                status = _reap(child)
                if status is not None and ended is not None:
                    waiting.unregister(ended)
        for pipe in pipes:
            os.close(pipe)
        if ended is not None:
            os.close(ended)
        return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _streams(job, out, err):
    """Descriptors of the child, in this order: (descriptor, number that it becomes). Others stay open to nothing."""
    wanted = [(out, 1)] if job['out'] else []
    if job['err'] == 'err':
        wanted.append((err, 2))
    elif job['err'] == 'out':
        wanted.append((1, 2))
    return wanted


def _spawn(job, streams):
    """Starts a program. All descriptors of the server but the standard ones are closed in it."""
    actions = [(os.POSIX_SPAWN_DUP2, descriptor, number) for descriptor, number in streams]
    options = {'file_actions': actions, 'setsigdef': _SIGNALS + _OWN_SIGNALS}
    if job['path'] is not None:
        try:
            return os.posix_spawn(job['path'], [job['path']], job['env'], **options)
        except OSError:
            # The shell runs a text without `#!`, and says what is wrong with others.
            pass
    try:
        return os.posix_spawn('/bin/sh', ['/bin/sh', '-c', job['shell']], job['env'], **options)
    except (OSError, ValueError) as error:
        raise Cold(str(error))


def _reap(child):
    """Takes the ends of all processes that have ended. Returns the status of `child` if it is among them, else None."""
    status = None
    try:
        while status is None:
            found, number = os.waitpid(-1, os.WNOHANG)
            if found == 0:
                break
            if found == child:
                status = number
    except ChildProcessError:
        pass
    return status


def _has_ipc():
    """Whether memory, semaphores or queues of System V are left in the namespace."""
    for name in ('shm', 'sem', 'msg'):
        try:
            with open('/proc/sysvipc/' + name) as listed:
                if len(listed.readlines()) > 1:
                    return True
        except OSError:
            pass
    return False


if __name__ == '__main__':
    try:
        _Server().run()
    except (Cold, ValueError, KeyError):
        os._exit(1)
    os._exit(0)
