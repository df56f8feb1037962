# SPDX-License-Identifier: Apache-2.0
"""Functions written as LLVM IR become machine code, where llvmlite is installed and it pays.

They are compiled in the process that uses them, in some hundredths of a second, and kept nowhere:
there is no file that another could write.
"""

from __future__ import annotations

import ctypes
import mmap
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

if TYPE_CHECKING:
    from collections.abc import Callable

K = TypeVar("K")


@final
class Machine:
    """The functions of a text, as machine code for this processor.

    Args:
        text: LLVM IR.

    Raises:
        ImportError: where llvmlite is not installed.
        RuntimeError: where it does not know this processor, or the system lets no process run what
            it makes.
    """

    def __init__(self, text: str) -> None:
        import llvmlite.binding as llvm

        if not _may_execute():  # LLVM does not ask, and the process would end
            raise RuntimeError("the system lets no process make memory executable")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=3,
        )
        module = llvm.parse_assembly(text)
        module.verify()
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
        self._engine = llvm.create_mcjit_compiler(module, machine)  # whose the code is
        self._engine.finalize_object()

    def function(self, name: str, *arguments: Any, result: Any = None) -> Callable[..., Any]:  # noqa: ANN401
        """Return a function, which runs beside other threads, as long as this is kept.

        Args:
            name: in the text.
            arguments: their types, of `ctypes`.
            result: its type.
        """
        made = ctypes.CFUNCTYPE(result, *arguments)
        return made(self._engine.get_function_address(name))


def _may_execute() -> bool:
    """Return whether memory that was written may be made executable, as far as systems are alike.

    SELinux may deny it, and systemd's `MemoryDenyWriteExecute`.
    """
    if not hasattr(mmap, "MAP_PRIVATE"):  # Windows
        return True
    page = mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    size, flags = ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC
    return bool(ctypes.CDLL(None).mprotect(address, size, flags) == 0)


@final
class Loader(Generic[K]):
    """Makes kernels once as many values were worked on as make up for what that takes.

    Args:
        enough: so many values; where kernels are there they are used from then on in the process.
        made: makes them, and raises where it cannot.
        right: whether they do what they are to.
    """

    def __init__(self, enough: int, made: Callable[[], K], right: Callable[[K], bool]) -> None:
        self._left, self._made, self._right, self._lock = enough, made, right, Lock()
        self._found: K | None = None
        self._tried = False

    def after(self, values: int) -> K | None:
        """Return the kernels; None where values are still too few, or there are none.

        One thread makes them, and others do without meanwhile.

        Args:
            values: how many more are worked on.
        """
        if self._tried:
            return self._found
        self._left -= values  # threads may lose some
        if self._left > 0 or not self._lock.acquire(blocking=False):
            return None
        try:
            if not self._tried:
                made = self._made()
                self._found = made if self._right(made) else None
        except Exception:  # noqa: BLE001 (not there, too old, another processor: numpy does it)
            self._found = None
        finally:
            self._tried = True
            self._lock.release()
        return self._found
