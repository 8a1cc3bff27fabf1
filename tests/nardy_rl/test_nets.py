"""The network in its three forms: torch for learning, frozen for self-play, numpy for use."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learning import make_learner, random_net, random_positions, thermometer
from nardy_engine import batch, load_variant
from nardy_rl import outcomes
from nardy_rl.checkpoint import make_manifest, save_network
from nardy_rl.evaluator import Evaluator
from nardy_rl.nets import FrozenNet, ValueNet, pick_device, pick_precision
from nardy_rl.nets.device import DeviceError
from nardy_rl.nets.mlp import cross_entropy, outcome_log_probs

CPU = torch.device("cpu")
GAMES = ["long", "short", "hypergammon"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Leave the other core to other tests; and the number of threads decides how sums round."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def played(variant, n: int, seed: int):
    """Return positions before the roll, their afterstates, and where those of each start."""
    boards = np.ascontiguousarray(random_positions(variant, n, seed))
    rng = np.random.default_rng(seed)
    dice = rng.integers(1, variant.dice.sides + 1, (n, 2))
    after = batch.afterstates(variant, boards, dice)
    return boards, np.ascontiguousarray(after.boards), after.offsets


def frozen_logits(variant, net, boards, after, offsets, dtype) -> np.ndarray:
    """Return the logits that self-play sees."""
    frozen = FrozenNet(net, dtype, CPU)
    hidden = np.zeros((len(after), len(frozen.first_bias)), frozen.hidden_dtype)
    thermometer(variant).first_layer_into(
        boards, after, offsets, (0, len(boards)), frozen.first_weights, frozen.first_bias, hidden
    )
    return frozen.logits(hidden)


def torch_logits(variant, net, after) -> np.ndarray:
    """Return the logits that the learner sees for the side to roll next."""
    features = torch.from_numpy(thermometer(variant).encode(after, swap=True))
    with torch.no_grad():
        return net(features).numpy()


@pytest.mark.parametrize("game", GAMES)
def test_frozen_agrees_with_torch(game: str) -> None:
    """T20: the sparse first layer and the products of self-play give torch's logits to 1e-5."""
    variant = load_variant(game)
    net = random_net(variant)
    boards, after, offsets = played(variant, 60, seed=5)
    expected = torch_logits(variant, net, after)
    got = frozen_logits(variant, net, boards, after, offsets, torch.float32)
    assert len(after) > 300
    np.testing.assert_allclose(got, expected, atol=1e-5, rtol=1e-5)
    assert got.std() > 0.1


@pytest.mark.parametrize("game", GAMES)
def test_bfloat16_agrees_within_its_precision(game: str) -> None:
    """Self-play in bfloat16 values every play within 0.03 points, 0.004 on average."""
    variant = load_variant(game)
    net = random_net(variant)
    boards, after, offsets = played(variant, 60, seed=6)
    possible = batch.outcome_mask(variant, batch.swapped(after))
    points = outcomes.points_vector(variant)

    def equity(dtype: torch.dtype) -> np.ndarray:
        logits = frozen_logits(variant, net, boards, after, offsets, dtype)
        return outcomes.equity(outcomes.masked_softmax(logits, possible), points)

    difference = np.abs(equity(torch.bfloat16) - equity(torch.float32))
    assert difference.max() > 0, "bfloat16 was not used"
    assert difference.max() < 0.03
    assert difference.mean() < 0.004


@pytest.mark.parametrize("game", GAMES)
def test_evaluator_agrees_with_torch(game: str, tmp_path) -> None:
    """A network saved and loaded values positions in numpy as torch does, to 1e-5."""
    variant = load_variant(game)
    net = random_net(variant)
    encoder = thermometer(variant)
    manifest = make_manifest(variant, encoder, (24, 16), games=1, budget="1m", commit="")
    path = save_network(tmp_path / "net", net.arrays(), manifest)
    evaluator = Evaluator.load(path, variant, bearoff=False)
    boards = random_positions(variant, 300, seed=7)
    possible = torch.from_numpy(batch.outcome_mask(variant, boards))
    with torch.no_grad():
        logits = net(torch.from_numpy(encoder.encode(boards)))
        expected = outcome_log_probs(logits, possible).exp().numpy()
    np.testing.assert_allclose(evaluator.probs(boards), expected, atol=1e-5)


def test_frozen_weights_do_not_follow_an_update() -> None:
    """T08, T20: a frozen copy keeps its logits after an update; a new copy has the new ones."""
    variant = load_variant("short")
    net = random_net(variant)
    boards, after, offsets = played(variant, 20, seed=8)
    old = FrozenNet(net, torch.float32, CPU)
    assert old is not net

    def logits(frozen: FrozenNet) -> np.ndarray:
        hidden = np.zeros((len(after), len(frozen.first_bias)), frozen.hidden_dtype)
        thermometer(variant).first_layer_into(
            boards, after, offsets, (0, len(boards)), frozen.first_weights, frozen.first_bias,
            hidden,
        )  # fmt: skip
        return frozen.logits(hidden)

    before = logits(old)
    targets = outcomes.one_hot(np.zeros(len(boards), np.int8), variant.n_outcomes)
    learner = make_learner(net, variant, batch_size=len(boards))
    learner.learn(boards, targets, 1e-2, np.random.default_rng(0))
    assert np.array_equal(logits(old), before)
    fresh = logits(FrozenNet(learner.net, torch.float32, CPU))
    assert np.abs(fresh - before).max() > 1e-3
    np.testing.assert_allclose(fresh, torch_logits(variant, net, after), atol=1e-5, rtol=1e-5)


def test_copies_of_the_weights_share_no_memory() -> None:
    """T20, T23: arrays() are copies, and load_arrays() copies what it is given."""
    variant = load_variant("long")
    net = random_net(variant)
    arrays = net.arrays()
    other = random_net(variant, seed=2)
    other.load_arrays(arrays)
    features = torch.from_numpy(thermometer(variant).encode(random_positions(variant, 9, seed=1)))
    with torch.no_grad():
        expected = net(features)
        for array in arrays.values():
            array.fill(1)
        assert torch.equal(other(features), expected)
        assert torch.equal(net(features), expected)


def test_logits_are_not_overwritten_by_the_next_call() -> None:
    """T23: the result of a call stays as it is when the network is asked again."""
    variant = load_variant("long")
    frozen = FrozenNet(random_net(variant), torch.float32, CPU)
    rng = np.random.default_rng(0)
    first = frozen.logits(rng.normal(size=(7, 24)).astype(np.float32))
    kept = first.copy()
    second = frozen.logits(rng.normal(size=(7, 24)).astype(np.float32))
    assert np.array_equal(first, kept)
    assert not np.array_equal(first, second)


def test_weights_are_float32() -> None:
    """T10: weights stay float32, in which 1 + 1e-4 is not 1, whatever the playing precision."""
    net = random_net(load_variant("short"))
    FrozenNet(net, torch.bfloat16, CPU)
    assert {parameter.dtype for parameter in net.parameters()} == {torch.float32}
    assert {array.dtype for array in net.arrays().values()} == {np.dtype(np.float32)}


def test_a_new_network_starts_at_base_rates() -> None:
    """Untrained, it gives either side half of the games and each kind 0.3 times the one before."""
    variant = load_variant("short")
    encoder = thermometer(variant)
    net = ValueNet(encoder.width, (64,), 6, torch.Generator().manual_seed(0))
    start = variant.start_position().board()[None]
    with torch.no_grad():
        logits = net(torch.from_numpy(encoder.encode(start)))
        probs = outcome_log_probs(logits, torch.ones(1, 6, dtype=torch.bool)).exp()[0].numpy()
    base = np.array([1, 0.3, 0.09] * 2) / (2 * 1.39)
    np.testing.assert_allclose(probs, base, atol=0.08)


def test_initial_weights_depend_on_the_generator_only() -> None:
    """T42: the same seed gives the same start, whatever torch's global generator did before."""
    nets = []
    for noise in (1, 2):
        torch.manual_seed(noise)
        torch.rand(noise)
        nets.append(ValueNet(10, (7,), 4, torch.Generator().manual_seed(5)).arrays())
    for name, array in nets[0].items():
        assert np.array_equal(array, nets[1][name])
    other = ValueNet(10, (7,), 4, torch.Generator().manual_seed(6)).arrays()
    assert not np.array_equal(other["layers.0.weight"], nets[0]["layers.0.weight"])


def test_perfect_predictions_have_no_loss_beyond_the_entropy() -> None:
    """T13: targets equal to the predictions cost their entropy; another row's target costs more."""
    rng = np.random.default_rng(3)
    probs = torch.from_numpy(rng.dirichlet(np.ones(6), 5).astype(np.float32))
    possible = torch.ones(5, 6, dtype=torch.bool)
    entropy = -(probs * probs.log()).sum(dim=1).mean()
    assert cross_entropy(probs.log(), possible, probs).item() == pytest.approx(entropy.item())
    certain = torch.eye(6)[:5]
    assert cross_entropy(100 * certain, possible, certain).item() == pytest.approx(0, abs=1e-6)
    assert cross_entropy(100 * certain, possible, certain.roll(1, 0)).item() > 50


def test_shapes_that_would_broadcast_are_refused() -> None:
    """T13: [N, 1] logits against [N] or [N, O] targets raise instead of spreading out."""
    for shape in ((5,), (5, 6), (1, 1)):
        with pytest.raises(ValueError, match="differ"):
            cross_entropy(torch.zeros(5, 1), torch.ones(5, 1, dtype=torch.bool), torch.zeros(shape))


def test_impossible_outcomes_have_probability_zero() -> None:
    """T30: a masked outcome has probability exactly 0 and gets no gradient; masks invert with ~."""
    logits = torch.tensor([[50.0, 0.0, 1.0, 2.0]], requires_grad=True)
    possible = torch.tensor([[False, True, True, True]])
    probs = outcome_log_probs(logits, possible).exp()
    assert probs[0, 0].item() == 0
    assert probs.sum().item() == pytest.approx(1)
    cross_entropy(logits, possible, torch.tensor([[0.0, 1.0, 0.0, 0.0]])).backward()
    assert logits.grad is not None
    assert logits.grad[0, 0].item() == 0
    assert logits.grad[0, 1].item() < 0


def test_gradients_are_those_of_the_loss() -> None:
    """Back-propagation through mask and softmax agrees with differences of the loss."""
    generator = torch.Generator().manual_seed(2)
    net = ValueNet(6, (5,), 4, generator).double()
    features = torch.randn(8, 6, generator=generator, dtype=torch.float64)
    possible = torch.rand(8, 4, generator=generator) > 0.3
    possible[:, 0] = True
    targets = possible * torch.rand(8, 4, generator=generator, dtype=torch.float64)
    targets /= targets.sum(dim=1, keepdim=True)
    cross_entropy(net(features), possible, targets).backward()
    for parameter in net.parameters():
        assert parameter.grad is not None
        flat = parameter.data.view(-1)
        for i in range(0, len(flat), 3):
            losses = []
            for step in (1e-6, -2e-6):
                flat[i] += step
                losses.append(cross_entropy(net(features), possible, targets).item())
            flat[i] += 1e-6
            slope = (losses[0] - losses[1]) / 2e-6
            assert parameter.grad.view(-1)[i].item() == pytest.approx(slope, abs=1e-6)


def test_targets_are_constants() -> None:
    """T08: no gradient flows into what the targets were made from."""
    source = torch.tensor([[0.3, 0.7]], requires_grad=True)
    logits = torch.zeros(1, 2, requires_grad=True)
    cross_entropy(logits, torch.ones(1, 2, dtype=torch.bool), source * 1.0).backward()
    assert source.grad is None
    assert logits.grad is not None


def test_devices_and_precisions_by_name(monkeypatch) -> None:
    """Left to itself it takes what there is; a GPU that does not exist is refused in a sentence."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device("auto") == pick_device("cpu") == CPU
    with pytest.raises(DeviceError, match="use device=cpu or device=auto"):
        pick_device("cuda")
    assert pick_precision("fp32", CPU) is torch.float32
    assert pick_precision("bf16", CPU) is torch.bfloat16
    assert pick_precision("auto", CPU) in (torch.float32, torch.bfloat16)
