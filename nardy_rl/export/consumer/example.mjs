// SPDX-License-Identifier: Apache-2.0
//
// Checks everything that this folder promises, then evaluates the start position:
//
//   npm install && node example.mjs
//
// Without npm, `node example.mjs --inputs-only` checks the inputs and runs no network.
import { readFile } from "node:fs/promises";
import { encode, evaluate, possible, start } from "./nardy.mjs";

const read = (name) => readFile(new URL(name, import.meta.url));
const manifest = JSON.parse(await read("manifest.json"));
const { vectors, tolerance } = JSON.parse(await read("vectors.json"));

const same = (ours, theirs) => theirs.every((value, i) => ours[i] === Math.fround(value));
for (const vector of vectors) {
  if (!same(encode(manifest, vector), vector.features)) throw Error(`features: ${vector.position}`);
  if (!same(possible(manifest, vector), vector.possible)) throw Error(`possible: ${vector.position}`);
}
console.log(`inputs of ${vectors.length} positions: exact`);

if (!process.argv.includes("--inputs-only")) {
  const ort = await import("onnxruntime-node").catch(() => import("onnxruntime-web"));
  const session = await ort.InferenceSession.create(await read(manifest.model.file));
  const results = await evaluate(ort, session, manifest, vectors);
  let error = 0;
  results.forEach(({ equity, probabilities }, i) => {
    error = Math.max(error, Math.abs(equity - vectors[i].equity));
    probabilities.forEach((p, k) => {
      error = Math.max(error, Math.abs(p - vectors[i].probabilities[k]));
    });
  });
  if (!(error <= tolerance)) throw Error(`outputs differ by ${error}`);
  console.log(`outputs of ${vectors.length} positions: largest difference ${error.toExponential(1)}`);

  const [first] = await evaluate(ort, session, manifest, [start(manifest)]);
  console.log(`start position, side to roll: equity ${first.equity.toFixed(3)}`);
  manifest.outcomes.forEach(({ name }, k) => {
    console.log(`  ${name.padEnd(16)} ${(100 * first.probabilities[k]).toFixed(1).padStart(5)} %`);
  });
}
