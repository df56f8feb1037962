# SPDX-License-Identifier: Apache-2.0
"""Codes of a column made and added up by machine code, in one pass, where llvmlite is installed.

What it does stands in `kernels.ll`. It is compiled in the process that uses it, in some hundredths
of a second, and kept nowhere: there is no file that another could write.
"""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lownoise.numbers.arrays import Integers, Vector

    Scalars = tuple[float, float, float, float]  # the ends, the center and the inverse of a step

TEXT = Path(__file__).with_name("kernels.ll")
_AT_ONCE = 1 << 24  # values, whose sums are exact as floats
_WIDTH = 8  # values of one operation


@final
class Kernels:
    """The functions of `kernels.ll`, as machine code for this processor.

    Raises:
        ImportError: where llvmlite is not installed.
        RuntimeError: where it does not know this processor, or the system lets no process run what
            it makes.
    """

    def __init__(self) -> None:
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
        module = llvm.parse_assembly(TEXT.read_text(encoding="utf-8"))
        module.verify()
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
        self._engine = llvm.create_mcjit_compiler(module, machine)  # whose the code is
        self._engine.finalize_object()
        number, whole, address = ctypes.c_double, ctypes.c_int64, ctypes.c_void_p
        given = (address, whole, *[number] * 5)

        def function(name: str, *arguments: Any) -> Callable[..., None]:  # noqa: ANN401
            made = ctypes.CFUNCTYPE(None, *given, *arguments)  # it runs beside other threads
            return made(self._engine.get_function_address(name))

        self._sums = function("sums", address)
        self._places = function("places", address, address)

    def sum(self, scalars: Scalars, values: Vector) -> tuple[int, int]:
        """Return the exact sum of the codes of values that are there, and how many are missing.

        Args:
            scalars: the ends, the center, and the inverse of the step.
            values: floats in a row, shape (n,).
        """
        found = np.empty(3, dtype=np.int64)
        total = lacking = 0
        for part in _parts(values, np.nan):
            self._sums(part.ctypes.data, len(part), *scalars, 0.0, found.ctypes.data)
            high, low, lacks = found.tolist()
            total, lacking = total + (high << 26) + low, lacking + lacks
        return total, lacking - (-len(values) % _WIDTH)

    def add_at(
        self, found: Integers, scalars: Scalars, missing: int, values: Vector, at: Integers
    ) -> None:
        """Add the codes of values to the sums at their places, by high and low bits.

        Args:
            found: shape (groups, 2).
            scalars: as of `sum`.
            missing: the code of NaN.
            values: floats in a row, shape (n,).
            at: one more than the place of each row, 0 where it has none, in a row, shape (n,):
                nothing here looks whether these are places, so the caller must have.
        """
        sums = np.zeros((len(found) + 1, 2), dtype=np.int64)
        for part, own in zip(_parts(values, 0.0), _parts(at, 0), strict=True):
            given = part.ctypes.data, len(part), *scalars, float(missing)
            self._places(*given, own.ctypes.data, sums.ctypes.data)
        found += sums[1:]


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


def _parts(values: Any, filler: float) -> Iterator[Any]:  # noqa: ANN401 (of one type)
    """Yield values in parts of whole eights, the last of them filled up."""
    whole = len(values) // _WIDTH * _WIDTH
    for start in range(0, whole, _AT_ONCE):
        yield values[start : min(start + _AT_ONCE, whole)]
    if whole < len(values):
        last = np.full(_WIDTH, filler, dtype=values.dtype)
        last[: len(values) - whole] = values[whole:]
        yield last


@final
class Loader:
    """Makes the kernels once as many values were added up as make up for what that takes.

    Args:
        enough: so many values; where kernels are there they are used from then on in the process.
        right: whether kernels do what they are to.
    """

    def __init__(self, enough: int, right: Callable[[Kernels], bool]) -> None:
        self._left, self._right, self._lock = enough, right, Lock()
        self._found: Kernels | None = None
        self._tried = False

    def after(self, values: int) -> Kernels | None:
        """Return the kernels; None where values are still too few, or there are none.

        One thread makes them, and others do without meanwhile.

        Args:
            values: how many more are added up.
        """
        if self._tried:
            return self._found
        self._left -= values  # threads may lose some
        if self._left > 0 or not self._lock.acquire(blocking=False):
            return None
        try:
            if not self._tried:
                made = Kernels()
                self._found = made if self._right(made) else None
        except Exception:  # noqa: BLE001 (not there, too old, another processor: numpy does it)
            self._found = None
        finally:
            self._tried = True
            self._lock.release()
        return self._found
