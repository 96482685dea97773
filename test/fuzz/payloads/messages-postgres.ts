/** The same messages for the broker in PostgreSQL: rows and notifications of anybody who can write to its schema. */

import { topology } from '@baton/broker';
import { dropWithRoles, testUrls, withDatabase } from '@baton/testkit';
import { letTimePass } from '@baton/testkit/let-time-pass';
import pg from 'pg';
import { type Fleet, startFleet } from '../../harness/fleet';
import { seededRandom } from '../../sim/random';
import { tell } from '../findings';
import { watch } from './judge';
import { hopeless, judgeLines, odd } from './messages';

/** Time within which messages that are handled or parked immediately must be gone. */
const SETTLED_MS = 30_000;
/** Notifications unlike any that the manager sends. */
const NOTIFICATIONS = [
  ...[
    '',
    'x',
    ':',
    'a:0:1:',
    'a:0:1:null',
    'a:0:1:1',
    'a:0:1:{',
    'a:0:1:[]',
    'a:0:1:{"type":1}',
    'a:0:1:"x"',
  ],
  ...[
    'b:0:2:{',
    'b:1:2:"',
    'c:99999999999:2:x',
    'c:4294967294:4294967295:x',
    'd:0:99999999999999999999:x',
    'e:1:0:x',
  ],
  'f:0:1:{"id":"x","type":"identity.credentials-changed.v1","payload":{"username":null}}',
  'f:0:1:{"id":"x","type":"__proto__"}',
];

async function settled(client: pg.Client): Promise<void> {
  const left = async () =>
    (
      await client.query(
        'select queue, count(*)::int as n from broker.messages where attempts = 0 group by 1',
      )
    ).rows;
  let rows = await left();
  for (
    const until = Date.now() + SETTLED_MS;
    rows.length > 0 && Date.now() < until;
    await letTimePass(100, 'between two looks')
  )
    rows = await left();
  for (const { queue, n } of rows) tell('messages wait', queue, `${n} wait in ${queue}`);
}

async function poison(client: pg.Client, seed: number, each: number): Promise<void> {
  const random = seededRandom(seed);
  let [parked, count] = [0, 0];
  for (const entry of topology) {
    const poisons = [
      ...hopeless(entry, random, true),
      ...Array.from({ length: each }, () => odd(entry, random)),
    ];
    for (const queue of entry.queues)
      for (const { content, isHopeless } of poisons) {
        const envelope = content.toString();
        await client.query('insert into broker.messages (queue, envelope) values ($1, $2)', [
          `${entry.message.type}/${queue}`,
          envelope,
        ]);
        count += 1;
        parked += isHopeless ? 1 : 0;
      }
  }
  for (const text of NOTIFICATIONS)
    for (const channel of ['broker_fanout', 'broker_work'])
      await client.query('select pg_notify($1, $2)', [channel, text]);
  await settled(client);
  const { rows } = await client.query('select count(*)::int as n from broker.parked');
  if (rows[0].n < parked)
    tell('not parked', 'postgres', `${rows[0].n} are parked, ${parked} are no messages`);
  console.log(`messages in PostgreSQL: ${count}, ${rows[0].n} parked`);
}

/** Fuzzes a standalone with its own database. */
export async function fuzzPostgres(o: {
  dist: string;
  seed: number;
  each: number;
  goesOn: (fleet: Fleet) => Promise<void>;
}): Promise<void> {
  const name = `baton_test_payloads_${process.pid}_${o.seed}`;
  const server = new pg.Client({ connectionString: testUrls.postgres() });
  await server.connect();
  await server.query(`create database "${name}"`);
  const databaseUrl = withDatabase(testUrls.postgres(), name);
  try {
    const fleet = await startFleet({ mode: 'standalone', databaseUrl, dist: o.dist });
    const client = new pg.Client({ connectionString: databaseUrl });
    try {
      await client.connect();
      const watched = watch(fleet);
      await poison(client, o.seed, o.each);
      await watched.judge();
      judgeLines(watched.lines());
      await o.goesOn(fleet);
    } finally {
      await client.end();
      await fleet.stop();
    }
  } finally {
    await dropWithRoles(server, name);
    await server.end();
  }
}
