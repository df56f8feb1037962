# SPDX-License-Identifier: Apache-2.0
"""What is written into documents: tables, figures and pictures, each by `python -m pages.NAME`."""
