"""Draw the boards of the README: positions in which the families of games differ.

python scripts/draw_boards.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from nardy_engine import load_variant
from nardy_engine.notation import board_svg, parse_play, read_position
from nardy_rl.files import write_atomic

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "img"


class Picture(NamedTuple):
    """A position and perhaps a play of it."""

    game: str
    position: str
    play: str = ""
    caption: str | None = None


PICTURES = {
    "long": Picture(
        "long",
        "W{24:7 20:1 19:1 18:1 17:1 16:2 14:1 11:1} | "
        "B{24:7 21:1 20:1 19:1 18:1 17:1 13:1 11:1 9:1} ; W 6-5",
        "24/19 16/10",
    ),
    "short": Picture(
        "short", "W{24:2 13:5 8:3 6:5} | B{24:2 13:5 8:3 6:5} ; W 3-1", "8/5 6/5"
    ),
    "kaftar": Picture("kaftar", "W{24:15} | B{24:15} ; W 6-3", "24/6 24/21"),
    "gulbar": Picture(
        "mad_nardy", "W{24:14 2:1} owes6x4 rolled | B{24:14 7:1} owes5x3 ; B", "7/2 24/19",
        "White rolled 5-5 and could play one five: Black must play the others",
    ),
    "astrogon": Picture("astrogon", "W{24:15} | B{24:15} ; W 4-3", "24/20 24/16"),
    "fevga": Picture("fevga", "W{24:14 13:1} | B{24:14 16:1} ; W 6-5", "13/8 24/18"),
    "khachapuri": Picture("khachapuri", "W{24:4 6:11} | B{24:4 6:11} ; W 6-5", "24/18/13"),
    "emir": Picture(
        "emir",
        "W{24:5 18:2e 16:2/1 10:2} | B{24:6 20:e 17:2/1 11:2} ; W 5-2", "24/19 10/8",
    ),
}  # fmt: skip
"""By the end of the file's name."""


def draw(picture: Picture) -> str:
    """Return the text of an SVG file."""
    variant = load_variant(picture.game)
    parsed = read_position(picture.position, variant)
    play = None
    if picture.play:
        play = parse_play(picture.play, variant, parsed.position, parsed.dice)
    return board_svg(
        variant, parsed.position, parsed.side, parsed.dice, play, caption=picture.caption
    )


def main() -> None:
    """Write all pictures."""
    for name, picture in PICTURES.items():
        write_atomic(FOLDER / f"board-{name}.svg", draw(picture).encode())


if __name__ == "__main__":
    main()
