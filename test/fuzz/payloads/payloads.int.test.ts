/** Checks that no rpc payload and no message ends a process or blocks the next honest one. For the long run: npm run fuzz. */
import { findings } from '../findings';
import { fuzzPayloads } from './payloads';

const SEED = 20_261_125;

test.each(['messages', 'rpc'])(
  'payloads of %s',
  async (kind) => {
    await fuzzPayloads({ of: [kind], seed: SEED, each: 1 });
    expect([...findings()]).toEqual([]);
  },
  300_000,
);
