# SPDX-License-Identifier: Apache-2.0
"""Local privacy: each person's device randomizes its own record, and no one is trusted with it.

An *encoder* makes integers of a record, a *randomizer* makes a report of them that is private
whatever they are, and decoding what many reports say together is linear. What a device runs imports
numpy alone; interval arithmetic is imported where a draw is open. Names are imported from the files
that have them.
"""
