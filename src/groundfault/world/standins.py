"""`import skia` on a machine without a graphics driver.

The wheel of skia-python is linked to libGL.so.1 and libEGL.so.1 (Debian: libgl1, libegl1), which
servers and slim containers lack, and which drawing on the CPU never calls. Where they are
missing, and only there, a stand-in is loaded under their name: a shared library, written here in
memory, that has the wanted functions' names and nothing behind them.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import re
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["import_skia", "load_stand_in", "stand_in", "wanted_symbols"]

PREFIXES = (b"gl", b"egl", b"XML_")
"""Functions of OpenGL, EGL and expat (which fontconfig reads its settings with)."""
MISSING = re.compile(r"(lib(?:GL|EGL|expat)[\w.-]*\.so[\d.]*): cannot open shared object file")


def import_skia() -> Any:
    """The skia module, with stand-ins for graphics libraries that this machine lacks.

    Raises ModuleNotFoundError where skia-python is not installed.
    """
    for _ in range(4):  # one round for each library that may be missing
        try:
            return importlib.import_module("skia")
        except ModuleNotFoundError:
            raise
        except ImportError as problem:
            missing = MISSING.search(str(problem))
            if missing is None or sys.platform != "linux":
                raise
            load_stand_in(missing[1])
    raise ImportError("skia does not load; install libgl1, libegl1 and libexpat1 (Debian's names)")


def load_stand_in(name: str) -> ctypes.CDLL:
    """Load a stand-in that other libraries find under `name`."""
    spec = importlib.util.find_spec("skia")
    if spec is None or spec.origin is None:
        raise ImportError("skia is not installed")
    origin = Path(spec.origin)
    bundled = origin.parent / "skia_python.libs"
    libraries = [origin, *sorted(bundled.glob("*.so*"))]
    symbols = sorted(
        {symbol for library in libraries for symbol in wanted_symbols(library.read_bytes())}
    )
    (machine,) = struct.unpack_from("<H", origin.read_bytes()[:20], 18)
    # Stays open: the linker knows a library by its path, and the next one must not get the same.
    handle = os.memfd_create(name)
    os.write(handle, stand_in(name.encode(), symbols, machine))
    return ctypes.CDLL(f"/proc/self/fd/{handle}", mode=ctypes.RTLD_GLOBAL)


def wanted_symbols(library: bytes) -> set[bytes]:
    """Names that a 64-bit ELF library expects from others, as far as they have our prefixes."""
    table_at, entry_size, count = struct.unpack_from("<Q10xHH", library, 40)
    sections = [
        struct.unpack_from("<II4Q2I2Q", library, table_at + entry_size * i) for i in range(count)
    ]
    found = set()
    for _, kind, _, _, start, size, link, _, _, each in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        strings = sections[link][4]
        for at in range(start, start + size, each):
            name_at, _, _, section = struct.unpack_from("<IBBH", library, at)
            if section == 0:
                name = library[strings + name_at : library.index(b"\0", strings + name_at)]
                if name.startswith(PREFIXES):
                    found.add(name)
    return found


def stand_in(name: bytes, symbols: list[bytes], machine: int) -> bytes:
    """A 64-bit little-endian ELF shared library that defines the symbols and does nothing."""
    strings = b"\0" + name + b"\0" + b"\0".join(symbols) + b"\0"
    offsets, at = [], len(name) + 2
    for symbol in symbols:
        offsets.append(at)
        at += len(symbol) + 1
    head = 64 + 3 * 56
    symbols_at, count = head, len(symbols) + 1
    hash_at = symbols_at + 24 * count
    strings_at = hash_at + 4 * (3 + count)
    dynamic_at = (strings_at + len(strings) + 15) // 16 * 16
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", at, 0x12, 0, 1, head, 0) for at in offsets)
    # A hash table of one bucket: the linker walks the chain from the first symbol to the last.
    chain = struct.pack(f"<{3 + count}I", 1, count, min(1, count - 1), 0, *range(2, count), 0)[
        : 4 * (3 + count)
    ]
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in (
            (14, 1),
            (4, hash_at),
            (5, strings_at),
            (6, symbols_at),
            (10, len(strings)),
            (11, 24),
            (0, 0),
        )
    )
    size = dynamic_at + len(dynamic)
    elf = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 3, machine, 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0
    )
    load = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, size, size, 0x10000)
    link = struct.pack(
        "<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8
    )
    stack = struct.pack("<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16)  # no code on the stack
    body = elf + load + link + stack + table + chain + strings
    return body.ljust(dynamic_at, b"\0") + dynamic
