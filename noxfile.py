"""The tests on every supported Python: `pip install nox`, then `nox`.

Interpreters must be installed (python3.11, python3.12, python3.13 on the PATH); one that is missing is an
error. `nox -- tests/metrics` runs a part of the tests.
"""

import nox

nox.options.error_on_missing_interpreters = True


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the suite with the pinned packages."""
    session.install("-r", "requirements-dev.txt")
    session.run("python", "-m", "pytest", *session.posargs)
