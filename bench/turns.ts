// node --import tsx bench/turns.ts SHAPE... --against DIR [--mode services|standalone] [--workers N] [--turns N] [--rounds N]
// Runs this checkout and another one, both built, in turns: shapes of bench/profile.ts.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Mode } from '../test/harness/fleet';
import { benchRoot } from './harness/child';
import { inTurns } from './harness/turns';

const { values, positionals } = parseArgs({
  options: {
    against: { type: 'string' },
    mode: { type: 'string', default: 'services' },
    workers: { type: 'string', default: '1' },
    turns: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '12' },
  },
  allowPositionals: true,
});
if (!values.against || positionals.length === 0) {
  process.stderr.write('bench/turns.ts SHAPE... --against DIR: which shapes, and which other checkout?\n');
  process.exit(64);
}
const sides = [
  { name: 'other', root: resolve(values.against) },
  { name: 'this', root: resolve(benchRoot, '..') },
];
for (const shape of positionals) {
  const options = { shape, mode: values.mode as Mode, workers: Number(values.workers) };
  const measured = inTurns(sides, { ...options, turns: Number(values.turns), rounds: Number(values.rounds) });
  for (const [name, { rounds, perSecond, cpuMs }] of measured) {
    const parts = Object.entries(cpuMs).map(([process, ms]) => `${process} ${ms.toFixed(3)}`);
    const rate = perSecond === null ? '' : `, ${Math.round(perSecond)}/s`;
    process.stdout.write(`${shape}, ${name}, ${rounds} rounds${rate}; CPU ms each: ${parts.join(', ')}\n`);
  }
}
