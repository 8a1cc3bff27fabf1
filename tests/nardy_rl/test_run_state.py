"""The state that a stopped run goes on from: nothing of it may change unnoticed (T43, T45)."""

import numpy as np
import pytest
from safetensors.numpy import save_file

from nardy_engine.errors import CheckpointError
from nardy_rl.run_state import load_state, save_state

NUMBERS = {"progress": {"games": 7}, "config": {"lr": 1e-3}, "digest": "abc"}
ARRAYS = {
    "net.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "none": np.zeros((0, 2), np.int8),
    "turns": np.array([3, -1], np.int64),
}


def test_round_trip(tmp_path) -> None:
    """Numbers and arrays come back as they were, types and empty arrays included."""
    save_state(tmp_path / "state", NUMBERS, ARRAYS)
    numbers, arrays = load_state(tmp_path / "state")
    assert numbers == {"format": 1, **NUMBERS}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_every_changed_byte_is_noticed(tmp_path) -> None:
    """A flipped bit anywhere in the file is one sentence that names it."""
    path = tmp_path / "state"
    save_state(path, NUMBERS, ARRAYS)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CheckpointError) as error:
            load_state(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["no JSON", "[1]", None])
def test_states_of_others_are_refused(tmp_path, text) -> None:
    """A file with the right mark but without the run's numbers is refused in one sentence."""
    metadata = {"kind": "nardy-run"} | ({} if text is None else {"run": text})
    save_file({"w": np.zeros(3, np.float32)}, tmp_path / "state", metadata)
    with pytest.raises(CheckpointError, match="cannot resume"):
        load_state(tmp_path / "state")


def test_another_format_is_named(tmp_path) -> None:
    """The state of a later version is refused with both format numbers."""
    save_state(tmp_path / "state", {**NUMBERS, "format": 2}, ARRAYS)
    with pytest.raises(CheckpointError, match="format 2; this version of nardy resumes 1"):
        load_state(tmp_path / "state")
