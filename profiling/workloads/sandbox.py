"""Start a command with limits, as nobody and without network. Linux only, standard library only.

Used by path, as a short-lived first stage that limits itself and then becomes the command:

    python -I sandbox.py '{"memory_bytes": 4294967296, …}' python runner.py …

A stage of its own, because limits set between fork and exec of a threaded agent can deadlock it.
"""

import ctypes
import grp
import json
import os
import pwd
import resource
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
# What a GPU program cannot do without; everything else an agent has in its environment stays there.
KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_MODULE_LOADING",
)


@dataclass(frozen=True)
class Limits:
    """What a workload may use; each loader process counts for itself, memory also all together.

    memory_bytes: data of one process (RLIMIT_DATA), and resident memory of the whole group, which the
    agent watches. user: whom to become when started as root (None: stay, for code that is ours).
    groups: those of them that exist are kept, for a Jetson's GPU belongs to `video` and `render`.
    network: whether the workload may use it.
    """

    memory_bytes: int = 8 << 30
    cpu_s: int = 4 * 3600
    file_bytes: int = 1 << 30
    open_files: int = 1024
    processes: int = 512
    user: str | None = "nobody"
    groups: tuple[str, ...] = ("video", "render")
    network: bool = False


def sandboxed(command: Sequence[str], limits: Limits) -> list[str]:
    """The command line that runs `command` under `limits`."""
    return [sys.executable, "-I", __file__, json.dumps(asdict(limits)), *command]


def clean_environment(scratch: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The few variables a GPU program needs, with every writable place in `scratch`."""
    kept = {name: environment[name] for name in KEPT if name in environment}
    places = dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME", "TORCHINDUCTOR_CACHE_DIR"), str(scratch))
    return {**kept, **places, "USER": "nobody", "LOGNAME": "nobody", "PYTHONUNBUFFERED": "1"}


def hand_over(folder: Path, user: str | None) -> None:
    """Give an empty folder to the user a root agent runs workloads as; else leave it ours."""
    folder.chmod(0o700)
    if os.geteuid() == 0 and user is not None:
        owner = pwd.getpwnam(user)
        os.chown(folder, owner.pw_uid, owner.pw_gid)


def _libc(name: str, *arguments: int) -> None:
    function = getattr(ctypes.CDLL(None, use_errno=True), name)
    if function(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{name}{arguments}: {os.strerror(ctypes.get_errno())}")


def _leave_network() -> None:
    """A network namespace of its own; not every kernel lets an unprivileged user have one."""
    if os.geteuid() == 0:
        _libc("unshare", CLONE_NEWNET)
        return
    user, group = os.geteuid(), os.getegid()
    _libc("unshare", CLONE_NEWUSER | CLONE_NEWNET)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _limit(limits: Limits) -> None:
    values = {
        resource.RLIMIT_DATA: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_s,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_CORE: 0,
    }
    # Counted over all processes of a user: fair only where the user is the workload's own.
    if os.geteuid() == 0 and limits.user is not None:
        values[resource.RLIMIT_NPROC] = limits.processes
    for kind, value in values.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _become(limits: Limits) -> None:
    if os.geteuid() != 0 or limits.user is None:
        return
    user = pwd.getpwnam(limits.user)
    os.setgroups([entry.gr_gid for entry in grp.getgrall() if entry.gr_name in limits.groups])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def main() -> None:
    values, command = json.loads(sys.argv[1]), sys.argv[2:]
    limits = Limits(**values)
    if not limits.network:
        try:
            _leave_network()
        except OSError as error:
            print(f"note: this kernel gives no network namespace ({error})", file=sys.stderr)
    _limit(limits)
    _become(limits)
    _libc("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    # An agent killed without warning takes its workload with it.
    _libc("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is the point
    except OSError as error:
        sys.exit(f"cannot start {command[0]} as {pwd.getpwuid(os.geteuid()).pw_name}: {error.strerror}")


if __name__ == "__main__":
    main()
