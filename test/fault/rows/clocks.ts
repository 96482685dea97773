import { readOnce } from '../read-once';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause } from '../until';

const HOUR_MS = 3_600_000;
/** Offsets of the processes' wall clocks during the row; the database and the test keep the right time. */
const JUMPS: Record<string, number> = {
  // The clocks of services of one installation may differ by 5 s (docs/RELIABILITY.md): here they differ by 4 s.
  executions: 2_000,
  'executions-2': -2_000,
  deployments: -2_000,
  'worker-1': 25 * HOUR_MS,
  'worker-2': -HOUR_MS,
  'worker-3': HOUR_MS,
};

export const clockRows: Row[] = [
  {
    id: 'F20',
    title: 'wall clocks jump and jump back: workers by +1 h, +25 h, -1 h, services by 2 s each way',
    pass: 'no lease runs out, nothing runs twice, events stay in order, retries and API calls go on; every execution ends',
    limitS: 150,
    run: (at) => underLoad(at, () => jump(at)),
  },
];

async function jump({ rig, isSuite }: RowContext): Promise<Struck> {
  const refused: string[] = [];
  for (const back of [false, true]) {
    for (const [name, ms] of Object.entries(JUMPS)) rig.shiftClock(name, back ? 0 : ms);
    const end = performance.now() + (isSuite ? 8_000 : 17_000);
    while (performance.now() < end) {
      const { status } = await readOnce(rig);
      if (status !== 200) refused.push(String(status));
      await pause(500);
    }
  }
  return {
    facts: { 'clocks moved': Object.keys(JUMPS).length },
    violations: refused.length > 0 ? [`F20: the API answered ${[...new Set(refused)].join(', ')}`] : [],
    judge: { victims: [] },
  };
}
