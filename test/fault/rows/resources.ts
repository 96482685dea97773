import { WORKERS } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

/** CPU time of the starved worker per slice of 100 ms. */
const SHARE_MS = 5;

export const resourceRows: Row[] = [
  {
    id: 'F6',
    title: 'a worker gets 5 % of a core for 35 s, more than two leases',
    pass: 'its leases are renewed all the same: nothing runs twice; every execution ends',
    limitS: 150,
    run: (at) => underLoad(at, () => starve(at)),
  },
  {
    id: 'F6m',
    title: 'an operation uses up the memory of its worker, which dies of it',
    pass: 'operations of that worker run again elsewhere, no others; every execution ends',
    limitS: 150,
    run: (at) => underLoad(at, () => exhaust(at)),
  },
];

async function starve({ rig, random, isSuite }: RowContext): Promise<Struck> {
  const victim = rig.process(random.pick(WORKERS));
  const pid = victim.pid();
  const slices = (isSuite ? 20_000 : 35_000) / 100;
  try {
    for (let slice = 0; slice < slices; slice++) {
      victim.signal('SIGSTOP');
      await pause(100 - SHARE_MS);
      victim.signal('SIGCONT');
      await pause(SHARE_MS);
    }
  } finally {
    victim.signal('SIGCONT');
  }
  const ran = rig.ledger.runs().filter((run) => run.pid === pid && run.endedAt !== null).length;
  return { facts: { 'operations of the starved worker': ran }, judge: { victims: [] } };
}

async function exhaust({ rig }: RowContext): Promise<Struck> {
  const pids = new Map(WORKERS.map((name) => [rig.process(name).pid()!, name]));
  rig.ledger.order('exhaust-memory');
  const name = await until(
    'floor: a worker that died of its memory',
    40_000,
    () => WORKERS.find((one) => rig.process(one).pid() === null),
    20,
  );
  const pid = [...pids].find(([, one]) => one === name)![0];
  rig.expectDead(name);
  const lost = rig.ledger.inFlight().filter((run) => run.pid === pid);
  return { facts: { lost: lost.length }, judge: { victims: [pid] } };
}
