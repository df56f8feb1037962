# SPDX-License-Identifier: Apache-2.0
"""A drawing becomes part of a page: its own ids, the page's colours, words for screen readers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

_LINK = re.compile(r"url\(#")
_FONT = re.compile(r"font: (?P<size>[\d.]+px) [^;]*")  # older matplotlib: size and family
_FAMILY = re.compile(r"font-family: [^;]*; ")


def inline(
    drawing: str,
    *,
    name: str,
    look: str,
    title: str,
    description: str,
    colors: Mapping[str, str],
) -> str:
    """Return matplotlib's SVG as an element for HTML.

    Args:
        drawing: the file, text kept as text.
        name: begins every id, so that two drawings on one page do not meet.
        look: its class.
        title: its name to a screen reader.
        description: what a reader who does not see it should know.
        colors: CSS colours by the placeholder that was drawn with.
    """
    root = ET.fromstring(drawing)  # noqa: S314 (drawn here, with names escaped)
    for element in root.iter():
        _adapt(element, name, colors)
    for parent in list(root.iter()):
        for child in parent.findall("metadata") + parent.findall("style"):
            parent.remove(child)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("class", look)
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    for i, (tag, text) in enumerate((("title", title), ("desc", description))):
        words = ET.Element(tag, id=f"{name}-{tag}")
        words.text = text
        root.insert(i, words)
    return ET.tostring(root, encoding="unicode")


def _adapt(element: ET.Element, name: str, colors: Mapping[str, str]) -> None:
    """Drop namespaces, which HTML knows by itself, and rewrite ids, links, fonts and colours."""
    element.tag = _local(element.tag)
    for key, value in list(element.attrib.items()):
        del element.attrib[key]
        if _local(key) == "id":
            new = f"{name}-{value}"
        elif _local(key) == "href":
            new = f"#{name}-{value.removeprefix('#')}"
        else:
            new = _FAMILY.sub("", _FONT.sub(r"font-size: \g<size>", value))
            new = _LINK.sub(f"url(#{name}-", new)
            for placeholder, color in colors.items():
                new = new.replace(placeholder, color)
        element.set(_local(key), new)


def _local(key: str) -> str:
    return key.rpartition("}")[2]
