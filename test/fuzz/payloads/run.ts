// npm run fuzz -- --of rpc | messages: payloads at the internal interfaces of a real manager. --seeds N: number of runs, starting
// with --seed.
import { parseArgs } from 'node:util';
import { ensureTestServices } from '../../../tools/test-services.mjs';
import { findings } from '../findings';
import { fuzzPayloads } from './payloads';

const { values } = parseArgs({
  options: {
    of: { type: 'string', default: 'rpc,messages' },
    seeds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

async function main(): Promise<number> {
  const services = await ensureTestServices();
  Object.assign(process.env, services.env);
  const first = Number(values.seed);
  try {
    for (let seed = first; seed < first + Number(values.seeds); seed++) {
      console.log(`seed ${seed}`);
      await fuzzPayloads({ of: values.of.split(','), seed, each: 20, only: values.only });
    }
  } finally {
    await services.stop();
  }
  for (const [what, times] of findings()) console.log(`${times} times ${what}`);
  console.log(findings().size === 0 ? 'nothing found' : `${findings().size} found`);
  return findings().size === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
