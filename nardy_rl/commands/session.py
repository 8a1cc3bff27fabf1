"""A person against a bot: the games and the dialogue, without a terminal.

`Session` talks through two callables, `read(prompt) -> line` and `write(text)`, so that tests
script it and other front ends can use it. The person is "you"; colours appear only where the
opening rule decides who begins (White is the first player, L-2).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from nardy_engine import Outcome, Play, Position, Variant, notation, reference
from nardy_engine.batch import Afterstates
from nardy_engine.errors import NardyError
from nardy_engine.notation import Side
from nardy_engine.notation.board_text import SIGNS
from nardy_engine.notation.segments import dice_text, is_skipped, segment_dice
from nardy_engine.notation.situation import SIDE_NAMES
from nardy_engine.rules.components import Opening, TeleportKind
from nardy_engine.rules.memory import has_segments
from nardy_engine.types import Dice
from nardy_rl.commands.parser import parse_dice
from nardy_rl.players import Bot, Turn

Seat = Literal["white", "black", "random"]
Rater = Callable[[Position, Dice | None, int], Sequence[str]]
"""Lines that rate the best plays of a position and roll: `(position, dice, how many)`."""

HELP = """\
Type a play as it is written in books: 24/18 13/9, bar/20, 6/off, or 8/5(2) for two checkers.{more}
  hint [N]   the N best plays with their equities
  moves      all legal plays
  board      draw the board again
  undo       take back your last play (and the bot's answer)
  quit       leave the game
Points are numbered from your side: your home is 1 to {home}, your checkers move downwards.
The bot's plays are written in its own numbers, counted from its side."""


_TELEPORT_HELP = "A checker that goes straight home from the head is written 24/6."
_SEGMENT_HELP = """\
Dice that one side cannot play may be for the other side, and a double may be followed by higher
ones: each time you are asked for one play, with the dice that are to be played now."""
_EMIR_HELP = """\
13e/8 moves the emir where another checker could go too; 13/8* captures or hits. Before a roll you
may place a nuker, res/24, or spread a stack, 15/14 15/11; an empty line makes no such move."""


_MOST_DIGITS = 4
"""Digits that `hint N` reads."""


class Quit(Exception):
    """The person wants to leave."""


@dataclass
class Game:
    """One game in progress."""

    number: int
    position: Position
    """Row 0 is the side to act."""
    yours: bool
    """True: the person acts."""
    your_side: Side
    """White is the side that began (L-2)."""
    turn: int = 0
    dice: Dice | None = None
    """The roll to play, or None before it is thrown, and where the position says what is played."""
    history: list[tuple[Position, int, Dice | None]] = field(default_factory=list)
    """`(position, turn, dice)` before each play that the person chose."""


@dataclass
class Score:
    """Points and games of the match so far."""

    you: int = 0
    bot: int = 0
    games: int = 0

    def __str__(self) -> str:
        """Say it as a person would."""
        plural = "game" if self.games == 1 else "games"
        return f"you {self.you}, bot {self.bot} ({self.games} {plural})"


class Session:
    """Games of one person against one bot."""

    def __init__(
        self,
        variant: Variant,
        bot: Bot,
        *,
        read: Callable[[str], str],
        write: Callable[[str], None],
        seed: int = 0,
        seat: Seat = "random",
        manual_dice: bool = False,
        rater: Rater | None = None,
    ) -> None:
        """Prepare a session; `run` starts it.

        Args:
            variant: The game.
            bot: The opponent.
            read: Asks for a line; raises `EOFError` when there are no more.
            write: Shows text of one or more lines.
            seed: The same seed gives the same dice, whatever is played.
            seat: `white` begins every game, `black` never; `random`: the opening throw decides.
            manual_dice: The person types every roll, for a game with real dice.
            rater: Gives the hints; None: there is no network for this game.
        """
        self.variant = variant
        self.bot = bot
        self.score = Score()
        self._read = read
        self._write = write
        self._seed = seed
        self._seat = seat
        self._manual = manual_dice
        self._rater = rater

    # -- games --------------------------------------------------------------------------------

    def run(self) -> Score:
        """Play games until the person has enough; return the score."""
        self._write(f"{self.variant.title} against {self.bot.name}. 'help' explains the input.")
        try:
            while True:
                self.play_game()
                self._write(f"Score: {self.score}.")
                if not self._ask("Another game? [y/n] ").lower().startswith("y"):
                    break
        except Quit:
            self._write(f"You leave the game. Score: {self.score}.")
        return self.score

    def play_game(self) -> Outcome:
        """Play one game to its end and add it to the score.

        Returns:
            The outcome, seen from the person.

        Raises:
            Quit: The person left.
        """
        game = self._opening(self.score.games)
        while True:
            play = self._person_plays(game) if game.yours else self._bot_plays(game)
            if play is None:
                continue  # taken back: `game` is where it was before
            outcome = reference.outcome(self.variant, play.end)
            if outcome is not None:
                return self._finish(outcome, game.yours)
            rolled = game.dice is not None
            game.position, same_side = reference.next_position(self.variant, play.end)
            if rolled and same_side and not segment_dice(self.variant, game.position):
                who = "You have" if game.yours else "The bot has"
                self._write(f"{who} played the whole double and may roll again.")
            game.yours = game.yours if same_side else not game.yours
            game.turn += 1
            game.dice = None

    def _finish(self, outcome: Outcome, seen_from_you: bool) -> Outcome:
        self.score.games += 1
        if outcome.draw:
            self._write("A draw: nobody gets points.")
            return outcome
        if not seen_from_you:
            outcome = outcome._replace(won=not outcome.won)
        if outcome.won:
            self.score.you += outcome.points
        else:
            self.score.bot += outcome.points
        kind, points = self.variant.win_kinds[outcome.kind]
        who = "You win" if outcome.won else "The bot wins"
        self._write(f"{who}: {kind}, {points} point{'' if points == 1 else 's'}.")
        return outcome

    # -- dice ---------------------------------------------------------------------------------

    def _opening(self, number: int) -> Game:
        """Decide who begins, and with which dice if the opening throw is played (L-2, S-2)."""
        opening_dice = self.variant.opening is Opening.OPENING_DICE
        if self._seat != "random":
            game = self._new_game(number, yours=self._seat == "white")
            if opening_dice and not self._manual:
                game.dice = self._throw(number, -1, different=True)
            return game
        if self._manual:
            thrown = self._typed_roll("Opening throw, your die and the bot's: ", different=True)
        else:
            thrown = self._throw(number, -1, different=True)
        yours = thrown[0] > thrown[1]
        begins = "you begin" if yours else "the bot begins"
        self._write(f"Opening throw: you {thrown[0]}, bot {thrown[1]}; {begins}.")
        game = self._new_game(number, yours)
        game.dice = thrown if opening_dice else None
        return game

    def _new_game(self, number: int, yours: bool) -> Game:
        side: Side = "W" if yours else "B"
        self._write(f"You are {SIDE_NAMES[side]} ({SIGNS[side]}).")
        return Game(number, self.variant.start_position(), yours, side)

    def _throw(self, game: int, turn: int, different: bool = False) -> Dice:
        """Throw the dice of one turn: a function of the seed, so that `undo` cannot change them."""
        rng = random.Random(f"{self._seed} {game} {turn}")
        faces = range(1, self.variant.dice.sides + 1)
        if different:
            first, second = rng.sample(faces, 2)
            return first, second
        return rng.choice(faces), rng.choice(faces)

    def _roll(self, game: Game) -> Dice | None:
        """Throw the dice of the decision; return None if the position says what is played."""
        if self._is_preroll(game) or segment_dice(self.variant, game.position):
            return None
        if game.dice is None:
            different = game.turn == 0 and self.variant.opening is Opening.OPENING_DICE
            if self._manual:
                whose = "Your roll: " if game.yours else "The bot's roll: "
                game.dice = self._typed_roll(whose, different)
            else:
                game.dice = self._throw(game.number, game.turn)
        return game.dice

    def _typed_roll(self, prompt: str, different: bool) -> Dice:
        while True:
            text = self._ask(prompt)
            try:
                dice = parse_dice(self.variant, text)
            except NardyError as error:
                self._write(f"  {error}")
                continue
            if not different or dice[0] != dice[1]:
                return dice
            self._write("  equal dice are thrown again in the opening")

    # -- turns --------------------------------------------------------------------------------

    def _bot_plays(self, game: Game) -> Play:
        dice = self._roll(game)
        plays = reference.plays(self.variant, game.position, dice)
        ends = np.stack([play.end.board() for play in plays])
        offsets = np.array([0, len(plays)], dtype=np.int64)
        rng = np.random.default_rng((self._seed, game.number, game.turn))
        turn = Turn(
            variant=self.variant,
            boards=game.position.board()[None],
            dice=np.array([dice or (1, 1)], dtype=np.int8),  # not looked at where none is thrown
            after=Afterstates(ends, offsets),
            uniform=rng.random(1),
        )
        play = plays[int(self.bot.choose(turn)[0])]
        what = self._what(game, dice)
        if play.steps:
            self._write(f"{what}: {self._text(game, play)}.")
        elif not self._is_preroll(game):
            self._write(f"{what}: {self._why_nothing(game, dice, play)}, it passes.")
        return play

    def _is_preroll(self, game: Game) -> bool:
        return self.variant.recall(game.position.mover, "preroll") == 1

    def _what(self, game: Game, dice: Dice | None) -> str:
        """Say which dice the side to act plays, and why it does."""
        you, verb = ("You", "") if game.yours else ("The bot", "s")
        if dice is not None:
            return f"{you} roll{verb} {dice_text(dice)}"
        if self._is_preroll(game):
            return "Before you roll you may move" if game.yours else "Before its roll the bot moves"
        now = dice_text(segment_dice(self.variant, game.position))
        if self.variant.recall(game.position.mover, "roller"):
            return f"The double goes on, {you[0].lower()}{you[1:]} play{verb} {now}"
        if game.yours:
            return f"You must play {now}, which the bot could not"
        return f"The bot plays {now}, which you could not"

    def _why_nothing(self, game: Game, dice: Dice | None, play: Play) -> str:
        if reference.outcome(self.variant, play.end) is not None:
            return "a checker that returns from the bar ends the game"
        if is_skipped(self.variant, game.position, dice):
            even = self.variant.recall(game.position.mover, "first")
            return f"the smaller number is not {'even' if even else 'odd'}"
        return "no legal play"

    def _person_plays(self, game: Game) -> Play | None:
        """Let the person choose a play; return None after `undo`."""
        dice = self._roll(game)
        plays = reference.plays(self.variant, game.position, dice)
        self._show_board(game)
        what = self._what(game, dice)
        only = len(plays) == 1
        if only and not plays[0].steps:
            self._write(f"{what}: {self._why_nothing(game, dice, plays[0])}, you pass.")
            return plays[0]
        if only:
            text = self._text(game, plays[0])
            self._write(f"{what}: the only legal play is {text}; Enter plays it.")
        may_pass = self._is_preroll(game)
        while True:
            line = self._ask(f"{what}{' (Enter: none)' if may_pass else ''}. Your play: ")
            if line == "undo":
                if self._undo(game):
                    return None
                continue
            play = plays[0] if (only or may_pass) and not line else None
            if play is None and not self._answered(line, game, plays):
                play = self._parsed(line, game, dice)
            if play is not None:
                game.history.append((game.position, game.turn, dice))
                return play

    def _answered(self, line: str, game: Game, plays: Sequence[Play]) -> bool:
        """Obey a command other than `undo`; return False if the line is none."""
        word, _, argument = line.partition(" ")
        if word in ("help", "?", ""):
            self._write(HELP.format(home=self.variant.setup.home, more=self._more_help()))
        elif word == "board":
            self._show_board(game)
        elif word == "moves":
            self._write(f"{len(plays)} legal:")
            for play in plays:
                self._write(f"  {self._text(game, play)}")
        elif word == "hint":
            self._hint(game, argument.strip())
        else:
            return False
        return True

    def _hint(self, game: Game, argument: str) -> None:
        if self._rater is None:
            self._write(f"  no hints: there is no network for {self.variant.id}")
            return
        # More digits than a play list has are a slip, and Python refuses to read thousands.
        known = argument.isdecimal() and len(argument) <= _MOST_DIGITS
        top = (int(argument) if known else 0) or 3
        for line in self._rater(game.position, self._roll(game), top):
            self._write(f"  {line}")

    def _undo(self, game: Game) -> bool:
        if not game.history:
            self._write("  there is nothing to take back")
            return False
        game.position, game.turn, game.dice = game.history.pop()
        game.yours = True
        self._write("  taken back")
        return True

    def _more_help(self) -> str:
        """Return what the rules of this game add to the way a play is typed."""
        lines = []
        if self.variant.teleport.kind is not TeleportKind.OFF:
            lines.append(_TELEPORT_HELP)
        if has_segments(self.variant):
            lines.append(_SEGMENT_HELP)
        if self.variant.captives_exist:
            lines.append(_EMIR_HELP)
        return "".join(f"\n{line}" for line in lines)

    def _parsed(self, line: str, game: Game, dice: Dice | None) -> Play | None:
        try:
            return notation.parse_play(line, self.variant, game.position, dice)
        except NardyError as error:
            self._write(f"  {error}")
            return None

    # -- talk ---------------------------------------------------------------------------------

    def _ask(self, prompt: str) -> str:
        """Return a line in lower case without blanks around it; `quit` and its end leave."""
        try:
            line = self._read(prompt).strip().lower()
        except EOFError:
            raise Quit from None
        if line in ("quit", "exit", "q"):
            raise Quit
        return line

    def _text(self, game: Game, play: Play) -> str:
        return notation.format_play(self.variant, play, game.position)

    def _show_board(self, game: Game) -> None:
        self._write("")
        high_low = None if game.dice is None else (max(game.dice), min(game.dice))
        self._write(notation.board_ascii(self.variant, game.position, game.your_side, high_low))
        self._write("")
