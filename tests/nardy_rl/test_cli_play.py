"""`nardy play`: the dialogue by script, and the real command once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from command_line import complaints, nardy
from nardy_engine import load_variant, notation, variant_names
from nardy_rl.commands.session import Quit, Session
from nardy_rl.players import Turn, make_bot

RACE_START = {
    "setup.start": {"24": 4, "6": 11},
    "head.limit": "none",
    "head.exception": "none",
    "head.exception_doubles": [],
}
"""The start of khachapuri (KHA-1), where a 6-6 cannot be played (X-R1)."""


class Script:
    """A person who types prepared lines and remembers what was shown."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.lines = iter(lines)
        self.shown: list[str] = []
        self.prompts: list[str] = []

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        try:
            return next(self.lines)
        except StopIteration:
            raise EOFError from None

    def write(self, text: str) -> None:
        self.shown += text.split("\n")

    def text(self) -> str:
        return "\n".join(self.shown)


class Obedient(Script):
    """A person who asks for the legal plays and makes the first one listed."""

    def read(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if "Another game" in prompt:
            return "n"
        if self.shown[-1].startswith("  ") and any(
            line.endswith(" legal:") for line in self.shown[-500:]
        ):
            start = max(i for i, line in enumerate(self.shown) if line.endswith(" legal:"))
            play = self.shown[start + 1].strip()
            self.shown.append("")
            return play
        return "moves"


class FirstBot:
    """Plays the first afterstate."""

    name = "first"

    def choose(self, turn: Turn) -> np.ndarray:
        return turn.after.offsets[:-1].astype(np.int64)


@pytest.fixture
def session() -> Callable[..., tuple[Session, Script]]:
    """Return a function that sits a scripted person down against a simple bot."""

    def build(*lines: str, variant: str = "long", options=None, person=None, **settings):
        script = person or Script(lines)
        game = load_variant(variant, options)
        made = Session(game, FirstBot(), read=script.read, write=script.write, **settings)
        return made, script

    return build


@pytest.mark.parametrize("variant", variant_names())
def test_a_whole_game_reaches_a_result(session, variant: str) -> None:
    """The plays that `moves` lists are accepted to the end; the points are those of the game."""
    game, script = session(variant=variant, person=Obedient(), seed=4)
    score = game.run()
    assert score.games == 1
    assert 0 in (score.you, score.bot)
    points = {points for _, points in load_variant(variant).win_kinds}
    assert score.you + score.bot in points  # L-40, S-8
    assert re.search(r"(You win|The bot wins): [\w ]+, \d+ points?\.", script.text())
    assert f"Score: {score}." in script.shown


def test_an_illegal_play_is_explained_and_asked_again(session) -> None:
    """A wrong play says why, then the same roll is asked again (L-4)."""
    game, script = session("24/12", "24/14", "quit", seat="white", manual_dice=True)
    answers = iter(["6 4", "24/12", "12/11", "24/14", "2 1", "quit"])
    script.lines = answers
    game.run()
    assert any("24/12 is 12 pips" in line for line in script.shown)
    assert any("no checker on 12" in line for line in script.shown)
    prompts = [prompt for prompt in script.prompts if "Your play" in prompt]
    assert prompts == ["You roll 6-4. Your play: "] * 3
    assert any(line.startswith("The bot rolls 2-1: ") for line in script.shown)


def test_a_forced_pass_is_announced(session) -> None:
    """6-6 at the start of khachapuri cannot be played: the person passes unasked (T-8, X-R1)."""
    game, script = session("66", "66", options=RACE_START, seat="white", manual_dice=True)
    game.run()
    assert "You roll 6-6: no legal play, you pass." in script.shown
    assert "The bot rolls 6-6: no legal play, it passes." in script.shown


def test_the_only_legal_play_needs_no_typing(session) -> None:
    """Long nardy's first play is forced for 6-4; Enter makes it (L-9)."""
    game, script = session("64", "", "64", "quit", seat="white", manual_dice=True)
    game.run()
    assert any("the only legal play is 24/14" in line for line in script.shown)
    assert any(line.startswith("The bot rolls 6-4: 24/14") for line in script.shown)


def test_undo_gives_back_the_position_and_the_roll(session) -> None:
    """After `undo` the same board and the same dice are played again."""
    game, script = session("undo", "", "undo", "board", "quit", seat="white", seed=5)
    game.run()
    assert "  there is nothing to take back" in script.shown
    assert "  taken back" in script.shown
    prompts = [prompt for prompt in script.prompts if "Your play" in prompt]
    assert len(prompts) == 5
    assert prompts[3] == prompts[0]
    boards = [
        tuple(script.shown[i : i + 16])
        for i, line in enumerate(script.shown)
        if line.strip().startswith("Long nardy: White")
    ]
    assert boards[-1] == boards[0] != boards[1]


def test_the_same_seed_gives_the_same_dice(session) -> None:
    """Dice depend on the seed and the turn, not on what is played."""
    rolls = []
    for seed in (8, 8, 9):
        game, script = session(variant="short", person=Obedient(), seed=seed, seat="white")
        game.run()
        rolls.append(re.findall(r"rolls? (\d-\d)", script.text())[:12])
    assert rolls[0] == rolls[1] != rolls[2]


def test_opening_dice_are_played_by_the_higher_thrower(session) -> None:
    """Short nardy: the opening throw shows two numbers, and they are the first roll (S-2)."""
    begun = set()
    for seed in range(12):
        game, script = session("quit", variant="short", seed=seed)
        game.run()
        throw = next(line for line in script.shown if line.startswith("Opening throw"))
        you, bot = map(int, re.findall(r"\d", throw)[:2])
        assert you != bot
        assert ("you begin" in throw) == (you > bot)
        first = re.search(r"to play (\d)-(\d)|bot rolls (\d)-(\d)", script.text())
        assert first
        assert {int(n) for n in first.groups() if n} == {you, bot}
        begun.add(you > bot)
    assert begun == {True, False}


def test_the_winner_of_the_throw_rolls_anew_in_long_nardy(session) -> None:
    """With opening=reroll some first roll differs from the opening throw (L-2)."""
    differs = False
    for seed in range(6):
        game, script = session("quit", seed=seed)
        game.run()
        throw = next(line for line in script.shown if line.startswith("Opening throw"))
        first = re.search(r"to play (\d)-(\d)|bot rolls (\d)-(\d)", script.text())
        assert first
        numbers = sorted(int(n) for n in first.groups() if n)
        differs |= numbers != sorted(map(int, re.findall(r"\d", throw)[:2]))
    assert differs


def test_typed_rolls_are_checked(session) -> None:
    """A roll that no dice show is asked again, an opening double too (S-2)."""
    game, script = session(
        "70", "x", "33", "31", "8/5 6/5", "quit", variant="short", seat="white", manual_dice=True
    )
    game.run()
    assert any("a die shows 1 to 6" in line for line in script.shown)
    assert any("'x' is no roll" in line for line in script.shown)
    assert any("equal dice are thrown again" in line for line in script.shown)
    assert "You roll 3-1. Your play: " in script.prompts


def test_hints_come_from_the_rater(session) -> None:
    """`hint 2` shows the lines that the network's rating gives; without one it says so."""
    asked = []

    def rater(position, dice, top):
        asked.append((position, dice, top))
        return [f"line {n}" for n in range(top)]

    endless = f"hint {'9' * 5000}"
    game, script = session("hint 2", "hint", endless, "quit", seat="white", rater=rater, seed=1)
    game.run()
    start = load_variant("long").start_position()
    assert [(position, top) for position, _, top in asked] == [(start, 2), (start, 3), (start, 3)]
    assert "  line 1" in script.shown
    game, script = session("hint", "quit", seat="white", seed=1)
    game.run()
    assert "  no hints: there is no network for long" in script.shown


def test_dice_that_one_side_cannot_play_are_for_the_other(session) -> None:
    """X-G1: after White's 6-6 the bot must play a six before it rolls; then it rolls."""
    game, script = session("66", "", "31", "quit", variant="gulbar", seat="white", manual_dice=True)
    game.run()
    assert "The bot plays 6-6, which you could not: 24/18." in script.shown
    assert [p for p in script.prompts if "roll" in p][:2] == ["Your roll: ", ROLL_OF_6_6]
    assert "The bot's roll: " in script.prompts


ROLL_OF_6_6 = "You roll 6-6. Your play: "


def test_a_full_double_of_gulbar_rolls_again(session) -> None:
    """X-G3: White plays all four of 4-4 and rolls again (GUL-4)."""
    game, script = session("44", "", "65", "quit", variant="gulbar", seat="white", manual_dice=True)
    game.run()
    assert "You have played the whole double and may roll again." in script.shown
    assert script.prompts.count("Your roll: ") == 2
    assert "You roll 6-5. Your play: " in script.prompts


def test_a_cascade_asks_level_by_level(session) -> None:
    """X-N1: 4-4 goes on with four fives; then the sixes that nobody can play are lost."""
    game, script = session(
        "44", "", "", "quit", variant="mad_nardy", seat="white", manual_dice=True
    )
    game.run()
    text = script.text()
    assert "You roll 4-4: the only legal play is 24/16(2)" in text
    assert "The double goes on, you play 5-5-5-5: the only legal play is 16/6(2)" in text
    assert "The double goes on, you play 6-6-6-6: no legal play, you pass." in text
    assert "The bot plays 6-6-6-6, which you could not: no legal play, it passes." in text
    assert "The bot's roll: " in script.prompts


def test_a_turn_of_the_wrong_parity_is_skipped(session) -> None:
    """X-C1, X-C3: White does not play 6-3, Black does not play 4-2 (CHN-1)."""
    game, script = session("63", "42", "quit", variant="even_odd", seat="white", manual_dice=True)
    game.run()
    assert "You roll 6-3: the smaller number is not even, you pass." in script.shown
    assert "The bot rolls 4-2: the smaller number is not odd, it passes." in script.shown


@pytest.mark.parametrize(("answer", "spread"), [("15/14", True), ("", False)])
def test_a_move_before_the_roll_can_be_made_or_not(session, answer: str, spread: bool) -> None:
    """EMI-11: with three checkers on a point White may spread them, or press Enter."""
    options = {"setup.start": {"24": 6, "15": 6}, "setup.emir_above": 2}
    game, script = session(
        "21", "24/21", "65", "x", answer, "64", "moves", "quit",
        variant="emir", options=options, seat="white", manual_dice=True,
    )  # fmt: skip
    game.run()
    asked = [p for p in script.prompts if p.startswith("Before you roll")]
    assert asked == ["Before you roll you may move (Enter: none). Your play: "] * 2
    assert any("point" in line for line in script.shown if line.startswith("  "))
    assert script.prompts.count("Your roll: ") == 2
    plays = script.shown[script.shown.index(next(t for t in script.shown if " legal:" in t)) :]
    assert any("14/" in play for play in plays) is spread


def test_a_draw_gives_points_to_nobody(session) -> None:
    """DR-1: both sides bear off their last checkers: a draw, counted as a game."""
    one_left = {"setup.start": {"1": 1}, "setup.checkers": 1, "last_roll_draw": "on"}
    options = RACE_START | one_left
    game, script = session("21", "", "21", "n", options=options, seat="white", manual_dice=True)
    score = game.run()
    assert "A draw: nobody gets points." in script.shown
    assert (score.you, score.bot, score.games) == (0, 0, 1)


def test_the_end_of_input_leaves_the_game(session) -> None:
    """Ctrl-D is `quit`: the session ends with the score, and no game is counted."""
    game, script = session()
    score = game.run()
    assert score.games == 0
    assert script.shown[-1] == "You leave the game. Score: you 0, bot 0 (0 games)."


def test_one_game_alone_says_that_the_person_left(session) -> None:
    """`play_game`, for other front ends, raises `Quit`."""
    game, _ = session("quit")
    with pytest.raises(Quit):
        game.play_game()


def test_the_bots_of_the_package_play(session) -> None:
    """A session takes the bots of `make_bot`: their plays are legal and announced."""
    script = Obedient()
    variant = load_variant("short")
    bot = make_bot("pubeval", variant)
    game = Session(variant, bot, read=script.read, write=script.write, seed=2)
    assert game.run().games == 1
    assert "against pubeval" in script.shown[0]


def test_the_real_command_draws_a_board_and_takes_a_play(tiny_network) -> None:
    """`nardy play` in a process: board, hint, forced first play, the bot's answer, farewell."""
    net = str(tiny_network("long"))
    done = nardy(
        "play", "--bot", "race", "--hints", net, "--side", "white", "--seed", "3",
        stdin="hint\n\nquit\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    variant = load_variant("long")
    board = notation.board_ascii(variant, variant.start_position()).splitlines()
    assert board[3] in done.stdout
    assert "  1. 24/" in done.stdout
    assert "The bot rolls " in done.stdout
    assert "You leave the game." in done.stdout
    assert complaints(done.stderr) == []
