# SPDX-License-Identifier: Apache-2.0
"""Every value of a document, and another one in its place: what a file must not let pass."""

import copy
import json


def edited(plan, change):
    """Return a plan's document whose terms were changed."""
    document = json.loads(plan.to_json())
    change(document["terms"])
    return json.dumps(document)


def put(document, path, change):
    """Return a copy of a document in which a value, or None, became what `change` makes of it."""
    copied = copy.deepcopy(document)
    place = copied
    for key in path[:-1]:
        place = place[key]
    own = place.get(path[-1]) if isinstance(place, dict) else place[path[-1]]
    place[path[-1]] = change(own)
    return copied


def leaves(node, path=()):
    """Return each value of a document that holds no others, with the way to it."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield from leaves(value, (*path, i))
    else:
        yield path, node


def changed(value):
    """Return another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.5 + 0.25
        case None:
            return 1
        case str() if value.lstrip("-").isdigit():
            return str(int(value) * 3 // 2 + 1)
        case _:
            return value + "x"
