// SPDX-License-Identifier: Apache-2.0
//
// The inputs of the network, written from manifest.json alone: it names no game and no number.
// A board is { roller: [...], other: [...] }: checker counts by slot, each side in its own
// numbering (entry 0 = borne off, then the points, then the bar), behind them what it remembers.

/** Features of a board, in the order of the model's input. */
export function encode(manifest, board) {
  const { tables, features, width } = manifest.encoder;
  const values = new Float32Array(width);
  for (const { index, side, slot_index, formula } of features) {
    values[index] = tables[formula][board[side][slot_index]];
  }
  return values;
}

/** 1 for every outcome that can still happen, else 0. */
export function possible(manifest, board) {
  const { bar } = manifest.position;
  const highest = (side) => side.slice(0, bar + 1).findLastIndex((count, slot) => slot && count);
  const reach = Math.max(0, highest(board.roller)) + Math.max(0, highest(board.other));
  const contact = reach >= manifest.possible.contact_sum;
  const holds = (condition) => {
    if (condition.contact) return contact;
    const count = condition.slots.reduce((sum, slot) => sum + board[condition.side][slot], 0);
    return count >= (condition.min ?? 0) && count <= (condition.max ?? Infinity);
  };
  return Float32Array.from(manifest.outcomes, ({ requires }) =>
    requires.every((group) => group.some(holds)) ? 1 : 0,
  );
}

/** The start position of a game. */
export function start({ position }) {
  return { roller: [...position.start], other: [...position.start_other] };
}

/** The same checkers with the other side to roll: how a play is rated, see "perspective". */
export function swapped({ roller, other }) {
  return { roller: other, other: roller };
}

/** Run the model on many boards at once; `ort` is onnxruntime-node or onnxruntime-web. */
export async function evaluate(ort, session, manifest, boards) {
  const pack = (rows) => {
    const data = new Float32Array(rows.length * rows[0].length);
    rows.forEach((row, i) => data.set(row, i * row.length));
    return new ort.Tensor("float32", data, [rows.length, rows[0].length]);
  };
  const { probabilities, equity } = await session.run({
    features: pack(boards.map((board) => encode(manifest, board))),
    possible: pack(boards.map((board) => possible(manifest, board))),
  });
  const n = manifest.outcomes.length;
  return boards.map((_, i) => ({
    equity: equity.data[i],
    probabilities: Array.from(probabilities.data.slice(i * n, (i + 1) * n)),
  }));
}
