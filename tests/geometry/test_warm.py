import subprocess
import sys

import pytest

pytestmark = pytest.mark.kernels


def test_warming_up_runs_every_kernel_of_the_room():
    code = (
        "from wayfold.core.jit import KERNELS; from wayfold.geometry._warm import warm; warm();"
        "own = [k for k in KERNELS if 'geometry' in k.__module__]; assert len(own) > 15;"
        "cold = [k.__name__ for k in own if not k.signatures]; assert not cold, cold"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
