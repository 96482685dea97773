import { ArchiveRefused } from '../archive-refused';
import { unpickle } from './unpickle';

/** A night takes a million: BATON_PICKLE_CASES=1000000 (CONTRIBUTING.md). */
const CASES = Number(process.env.BATON_PICKLE_CASES ?? 20_000);
const LIMITS = { maxDepth: 100, maxObjects: 20_000 };
/** Far above what a case takes; a hang is not stopped by it, but by the limit of the test. */
const SLOW_MS = 2000;

/** Values of a manager in all protocols, as Python 2 and 3 write them; a character is a byte. */
const SEEDS = [
  "(dp0\nS'a'\np1\n(lp2\nI1\naI-2\naL1180591620717411303424L\nasS'b'\np3\n(S'x'\np4\nV\\u2603\np5\nNI01\nF1.5\ntp6\nsS'c'\np7\n(dp8\nS'd'\np9\n(dp10\nss.",
  '\x80\x02}q\x00(U\x01aq\x01]q\x02(K\x01J\xfe\xff\xff\xff\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@eU\x01bq\x03(U\x01xq\x04X\x03\x00\x00\x00\xe2\x98\x83q\x05N\x88G?\xf8\x00\x00\x00\x00\x00\x00tq\x06U\x01cq\x07}q\x08U\x01dq\x09}q\nsu.',
  '\x80\x04\x95\x2e\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01J\xfe\xff\xff\xff\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00@e\x8c\x01b\x94(\x8c\x01x\x94\x8c\x03\xe2\x98\x83\x94N\x88G?\xf8\x00\x00\x00\x00\x00\x00t\x94\x8c\x01c\x94}\x94\x8c\x01d\x94}\x94su.',
  '\x80\x02cdsl_parser.models\nPlan\nq\x00)\x81q\x01X\x05\x00\x00\x00nodesq\x02]q\x03K\x01as}q\x04X\x01\x00\x00\x00xq\x05K\x02sb.',
  '\x80\x02ccollections\nOrderedDict\nq\x00]q\x01]q\x02(U\x01aq\x03K\x01ea\x85Rq\x04.',
  'ccopy_reg\n_reconstructor\np0\n(cdsl_parser.models\nPlan\np1\nc__builtin__\ndict\np2\n(dp3\nVnodes\np4\n(lp5\nI1\nasRp6\n.',
  '\x80\x02c__builtin__\nset\nq\x00]q\x01(K\x01K\x02e\x85Rq\x02.',
  '\x80\x02cdatetime\ndatetime\nq\x00c_codecs\nencode\nq\x01X\x0a\x00\x00\x00\x07\xc3\xa5\x03\x04\x05\x06\x07\x00\x00\x08q\x02X\x06\x00\x00\x00latin1q\x03\x86q\x04Rq\x05\x85q\x06Rq\x07.',
].map((text) => Buffer.from(text, 'latin1'));

/** xorshift: the same cases in every run of one seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const CODES = Buffer.from(
  '(.012NIJKLMFGSTUVXBC]laet)}dsughjpqrcRbio\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8f\x90\x91\x92\x93\x94\x95',
  'latin1',
);

function mutated(random: (below: number) => number): Buffer {
  let bytes = Buffer.from(SEEDS[random(SEEDS.length)]!);
  for (let changes = 1 + random(6); changes > 0; changes--) {
    const at = random(bytes.length + 1);
    switch (random(6)) {
      case 0:
        if (at < bytes.length) bytes[at] = random(256);
        break;
      case 1:
        if (at < bytes.length) bytes[at]! ^= 1 << random(8);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(8))]);
        break;
      case 3:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          CODES.subarray(random(CODES.length)).subarray(0, 1),
          bytes.subarray(at),
        ]);
        break;
      case 4: {
        const other = SEEDS[random(SEEDS.length)]!;
        bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(random(other.length))]);
        break;
      }
      default: {
        // The same part again and again: growth.
        const part = bytes.subarray(at, at + 1 + random(12));
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          ...Array<Buffer>(1 + random(30)).fill(part),
          bytes.subarray(at),
        ]);
      }
    }
  }
  return bytes;
}

test('mutated pickles give a value or an error with a place, and nothing else', () => {
  const seed = Number(process.env.BATON_PICKLE_SEED ?? 20261127);
  const random = randomOf(seed);
  const touched = globalThis as unknown as Record<string, unknown>;
  const globals = Object.keys(touched).length;
  let values = 0;
  let slowest = 0;
  for (let i = 0; i < CASES; i++) {
    const bytes = mutated(random);
    const start = performance.now();
    try {
      unpickle(bytes, { file: 'pg_data' }, LIMITS);
      values++;
    } catch (error) {
      if (!(error instanceof ArchiveRefused))
        throw new Error(`case ${i} of seed ${seed}: ${bytes.toString('hex')}`, { cause: error });
    }
    slowest = Math.max(slowest, performance.now() - start);
  }
  expect(slowest).toBeLessThan(SLOW_MS);
  // Neither all refused nor all read: the mutations reach the depth of the machine.
  expect(values).toBeGreaterThan(CASES / 100);
  expect(values).toBeLessThan(CASES);
  expect(Object.keys(touched)).toHaveLength(globals);
  expect(Object.keys(Object.prototype)).toEqual([]);
}, 3_600_000);
