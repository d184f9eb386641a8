#!/usr/bin/env python3
"""Consumes a spool of Aurora: one line of OUT for each event, exactly once.

    python3 consume.py data/kernel/archive out.jsonl [--drain]

Needs nothing but the standard library. With --drain it ends when nothing waits;
without, it looks again every second.
"""

import json
import os
import sys
import time


def main(spool, out, drain):
    pending, processing, done, dead = (
        os.path.join(spool, state) for state in ("pending", "processing", "done", "dead")
    )
    # What lies here died in the hands of an earlier run of ours.
    for name in os.listdir(processing):
        os.replace(os.path.join(processing, name), os.path.join(pending, name))

    journal, known = open_journal(out)
    while True:
        name = first(pending)
        if name is None:
            if drain:
                return
            time.sleep(1)
            continue
        claimed = os.path.join(processing, name)
        try:
            os.rename(os.path.join(pending, name), claimed)
        except FileNotFoundError:
            continue  # somebody else took it
        try:
            with open(claimed, encoding="utf-8") as f:
                event = json.load(f)
            key = (event["header"]["source"]["app"], event["header"]["message_id"])
        except (ValueError, KeyError, TypeError) as err:
            print(f"{name}: {err}", file=sys.stderr)
            os.rename(claimed, os.path.join(dead, name))
            continue
        if key not in known:
            write(journal, key, event)
            known.add(key)
        # Only now is the effect durable.
        os.rename(claimed, os.path.join(done, name))


def first(pending):
    """The waiting file with the lowest number, or None."""
    best = None
    for name in os.listdir(pending):
        if name.startswith(".") or not name.endswith(".json"):
            continue  # being written, or not an event
        try:
            with open(os.path.join(pending, name), encoding="utf-8") as f:
                seq = json.load(f)["header"]["aurora"]["seq"]
        except FileNotFoundError:
            continue
        except (ValueError, KeyError, TypeError):
            seq = float("inf")  # no order: last, where it will be set aside
        if best is None or (seq, name) < best:
            best = (seq, name)
    return best and best[1]


def open_journal(path):
    """Opens OUT for appending and tells which events are in it."""
    known = set()
    journal = open(path, "a+b")
    journal.seek(0)
    whole = 0
    for line in journal:
        if not line.endswith(b"\n"):
            break  # a crash tore it
        record = json.loads(line)
        known.add((record["app"], record["id"]))
        whole += len(line)
    journal.truncate(whole)
    return journal, known


def write(journal, key, event):
    """Appends one line, durably."""
    record = {"app": key[0], "id": key[1], "type": event["payload"]["type"], "summary": event["payload"].get("summary", "")}
    journal.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
    journal.flush()
    os.fsync(journal.fileno())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], "--drain" in sys.argv[3:])
