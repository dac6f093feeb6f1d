"""The bundled PostgreSQL and Valkey, and the supervisor that runs everything on one machine.

`python -m gedaechtnis.embedded run` starts services, web, worker and beat;
`python -m gedaechtnis.embedded exec -- COMMAND` runs one command with services around it;
`python -m gedaechtnis.embedded serve` runs web, worker and beat on services of one's own.
"""

from __future__ import annotations
