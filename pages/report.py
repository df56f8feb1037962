# SPDX-License-Identifier: Apache-2.0
"""Draw docs/images/report.png, the report that `make demo` writes: `python -m pages.report`.

The page is the demonstration's, with noise of a fixed simulation, so that the picture stays as it
is until the page changes. A browser without a window draws it: chromium, or google-chrome.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.solver import ROOT
from tests.golden.accessors import simulated

from lownoise import report
from lownoise.cli.demo import demonstrate

IMAGE = ROOT / "docs" / "images" / "report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = (860, 1150)  # as far as the comparison with usual noise


def page(folder: Path) -> Path:
    """Write the page of the demonstration."""
    with simulated(1):
        release = demonstrate(folder / "privacy.ledger").release
    path = folder / "report.html"
    path.write_text(report.render_html(report.sections(release)), encoding="utf-8")
    return path


def main() -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"no browser is installed; install one of {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars")
        window = f"--window-size={SIZE[0]},{SIZE[1]}"
        command = [browser, *flags, window, f"--screenshot={IMAGE}", page(Path(folder)).as_uri()]
        subprocess.run(command, check=True, capture_output=True)
    print(f"wrote {IMAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
