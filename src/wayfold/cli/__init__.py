"""The command line: ``wayfold demo | build | info | path | view | bench | warmup``.

What a user gave wrongly is answered with one sentence on stderr and exit status 2, never with a traceback.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the console script `wayfold`."""
    # Imported here so that `import wayfold.cli` stays cheap for whoever only wants to look.
    from wayfold.cli.app import app
    from wayfold.errors import WayfoldError

    try:
        app(prog_name="wayfold")
    except WayfoldError as error:
        print(f"wayfold: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"wayfold: {where}{error.strerror or error}", file=sys.stderr)
        sys.exit(2)
