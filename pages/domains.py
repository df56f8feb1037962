# SPDX-License-Identifier: Apache-2.0
"""Write the figure and tables of docs/domains.md: `python -m pages.domains [part …]`.

Parts are `gallery`, `saved` and `about`. Tests recompute every number.
"""

from __future__ import annotations

import math
import os
import sys

import numpy as np
from benchmarks.solver import ONE_THREAD, ROOT

from lownoise.certificate import order_norm
from pages.gallery import MEMBERS, Member
from pages.solver import IMAGES, figure_of, outward, power, save, table, written
from pages.users_domains import DOMAINS, ORDERS, UsersDomain

PAGE = ROOT / "docs" / "domains.md"
FIGURE = IMAGES / "domains.svg"
COLUMNS = 4
ABOUT = (2, 12, 33, 64, 256)  # how many ranges are summed about an end
BLUE, BROWN, GREY, FILL = "#1f5fa8", "#c1561b", "#76808a", "#dfe6ee"


def gallery_row(member: Member) -> list[str]:
    """Return a member's line, and its bounds at p = 2 and p = ∞."""
    cells = [f"`{member.code}`"]
    import lownoise as ln

    for order in (2.0, math.inf):
        certificate = ln.theory.enclose(member.domain, order=order).certificate
        cells += [outward(certificate.lower, -1), outward(certificate.upper, 1)]
    return cells


def gallery() -> str:
    draw()
    head = ["domain", "Γ₂ from", "to", "Γ∞ from", "to"]
    return table(head, [gallery_row(member) for member in MEMBERS])


def saved_row(domain: UsersDomain) -> list[str]:
    """Return what the page says of one domain."""
    cells = [domain.name, f"`{domain.code}`", str(domain.domain.dimension)]
    for order in ORDERS:
        ratio, gap = domain.saved(order)
        cells += [f"{ratio:.3f}", power(gap) if gap > 1e-12 else "0"]
    return [*cells, f"{domain.saved_as_given:,.3f}"]


def saved() -> str:
    head = ["records", "domain", "d", "p = 2", "gap", "p = ∞", "gap", "as given"]
    return table(head, [saved_row(domain) for domain in DOMAINS], words=2)


def about_row(d: int, order: float) -> list[str]:
    """Return what a plan says of d ranges [0, 1] that are summed about 0 with the count."""
    import lownoise as ln

    plan = ln.plan(
        ln.Mean([f"x{i}" for i in range(d)], ln.Box([0] * d, [1] * d), center=[0] * d),
        budget=ln.zcdp(0.5),
        relation="add_remove",
        order=order,
    )
    # the box around the changes is [−1, 1]ᵈ⁺¹, with the count
    power_of = 2 * order / (order + 2) if order < math.inf else 2.0
    around = order_norm(plan.terms.weights, power_of)
    found = plan.certificate
    name = "∞" if order == math.inf else f"{order:g}"
    ends = [f"{own:.6g}" for own in (around, found.upper, found.lower)]
    return [str(d), name, *ends, power(found.gap)]


def about() -> str:
    head = ["ranges", "p", "of the box around", "here", "none below", "gap"]
    return table(head, [about_row(d, p) for d in ABOUT for p in ORDERS], words=0)


def draw() -> None:
    """Draw every member with its least ellipses and its least circle."""
    rows = math.ceil(len(MEMBERS) / COLUMNS)
    figure, panels = figure_of(rows, COLUMNS, 8.4, 2.25 * rows)
    turn = np.linspace(0, 2 * np.pi, 361)
    disc = np.column_stack([np.cos(turn), np.sin(turn)])
    for member, panel in zip(MEMBERS, panels.flat, strict=False):
        panel.fill(*member.outline.T, color=FILL, lw=0)
        center, radius = member.circle
        panel.plot(*(center + radius * disc).T, color=GREY, lw=0.9, ls=":")
        for order, color, dash in ((2.0, BLUE, "-"), (math.inf, BROWN, "--")):
            middle, factor = member.ellipse(order)
            panel.plot(*(middle + disc @ factor.T).T, color=color, lw=1.2, ls=dash)
        panel.set_title(member.name, fontsize=9)
        panel.set_aspect("equal", adjustable="datalim")
        panel.set_axis_off()
    for panel in panels.flat[len(MEMBERS) :]:
        panel.set_axis_off()
    key = [
        ("domain", {"color": FILL, "lw": 6}),
        ("least ellipse, p = 2", {"color": BLUE, "lw": 1.2}),
        ("least ellipse, p = ∞", {"color": BROWN, "lw": 1.2, "ls": "--"}),
        ("circle: noise that is the same all round", {"color": GREY, "lw": 0.9, "ls": ":"}),
    ]
    lines = [panels[0, 0].plot([], [], label=name, **style)[0] for name, style in key]
    figure.legend(handles=lines, loc="lower center", ncol=4, frameon=False, fontsize=9)
    save(figure, FIGURE, bottom=0.05)


PARTS = {"gallery": gallery, "saved": saved, "about": about}


def main(arguments: list[str]) -> int:
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        command = [sys.executable, "-m", "pages.domains", *arguments]
        os.execve(sys.executable, command, {**os.environ, **ONE_THREAD})  # noqa: S606
    unknown = set(arguments) - set(PARTS)
    if unknown:
        print(f"no part {', '.join(unknown)}; parts: {', '.join(PARTS)}")
        return 2
    for name in arguments or PARTS:
        body = PARTS[name]()
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), name, body), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
