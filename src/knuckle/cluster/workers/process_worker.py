"""A worker process: reads orders and chunks from its standard input, and writes what became of them.

Messages are pickled; the first is the order, all others are numbers of chunks. It ends when nobody writes any more.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import Any, BinaryIO


def send(stream: BinaryIO, content: bytes) -> None:
    """A message, with its length before it."""
    stream.write(struct.pack("<Q", len(content)) + content)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """A message; None if there will be none."""
    head = stream.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    content = stream.read(size)
    return content if len(content) == size else None


def main() -> None:
    """Works until there is nothing left to read."""
    orders, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed meanwhile is no answer
    first = receive(orders)
    if first is None:
        return
    folders, content = pickle.loads(first)
    sys.path[:] = [*sys.path, *(one for one in folders if one not in sys.path)]
    from knuckle.engine.native.threads import set_threads

    set_threads(1)
    try:
        order = pickle.loads(content)
    except Exception as error:  # what the sweep is made of is not to be had here
        from .work_errors import sendable

        send(answers, pickle.dumps((None, None, sendable(error))))
        return
    send(answers, pickle.dumps((None, None, None)))  # it can begin
    while (message := receive(orders)) is not None:
        send(answers, _answer(order, pickle.loads(message)))


def _answer(order: Any, chunk: int) -> bytes:
    from .work_errors import sendable

    try:
        return pickle.dumps((chunk, order.carry_out(chunk), None))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return pickle.dumps((chunk, None, sendable(error)))


if __name__ == "__main__":
    main()
