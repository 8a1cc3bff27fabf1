"""Every rule test of this folder runs on both engines."""

import pytest

from engines import Engine
from nardy_engine.whole_rolls import ENGINES


@pytest.fixture(params=ENGINES)
def engine(request):
    """Give the test one engine after the other."""
    return Engine(request.param)
