import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { ask } from '../ask';
import type { Rig } from '../rig';
import { type Row, type RowContext, type Struck, underLoad } from '../row';
import { pause, until } from '../until';

/** Webhooks that hear of every execution. */
const WEBHOOKS = 3;
/** How long the endpoint thinks: a fault then meets requests under way. */
const HOLD_MS = 300;
/** Two leases of a dead process fill the places of its webhook until they end, after a minute. */
const UNDER_WAY_MS = 75_000;
/** Between two looks for a request under way: much shorter than a request. */
const LOOK_MS = 10;
/** Fewer facts prove little: faults slow executions down. */
const LEAST_FACTS = 40;
const ENDED_MS = 90_000;
/** The lease of a dead process, and the pause after an error of the manager. */
const CAUGHT_UP_MS = 150_000;

export const webhookRows: Row[] = [
  {
    id: 'F29',
    title:
      'webhooks: cluster-status is killed in the middle of requests, RabbitMQ and PostgreSQL are cut off, and COMMITs lose their answers',
    pass: `every start and end of an execution reaches each webhook within ${CAUGHT_UP_MS / 1000} s, correctly signed; what comes twice has the same id`,
    limitS: 480,
    run: (at) => underLoad(at, () => strikeDeliveries(at)),
  },
];

interface Hook {
  id: string;
  secret: string;
}

interface Received {
  hook: string;
  /** The fact: type of the event and id of the execution. */
  fact: string;
  /** Header webhook-id. */
  delivery: string;
  /** Whether its webhook has signed it; checked before the answer, because a signature is valid for five minutes. */
  isGenuine: boolean;
  /** Whether the sender lived to get the answer: without it the event does not count as told. */
  isAnswered: boolean;
}

/** Listens for requests, and answers each after a while. */
async function startEndpoint(hooks: readonly Hook[]) {
  const received: Received[] = [];
  let underWay = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      const { type, data } = JSON.parse(body) as { type: string; data: Record<string, string> };
      const one = {
        hook: request.url!.slice(1),
        fact: `${type} ${data.execution_id}`,
        delivery: headers['webhook-id']!,
        isGenuine: true,
        isAnswered: false,
      };
      received.push(one);
      underWay++;
      setTimeout(() => {
        underWay--;
        one.isGenuine = hooks.some(({ id, secret }) => id === one.hook && isSigned(secret, headers, body));
        one.isAnswered = !response.destroyed;
        response.writeHead(204).end();
      }, HOLD_MS);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    received,
    /** Requests that have come and are not answered. */
    underWay: () => underWay,
    url: (id: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${id}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Endpoint = Awaited<ReturnType<typeof startEndpoint>>;

async function strikeDeliveries({ rig, random, isSuite }: RowContext): Promise<Struck> {
  const hooks: Hook[] = [];
  const endpoint = await startEndpoint(hooks);
  try {
    for (let i = 0; i < WEBHOOKS; i++) {
      const id = `fault-${i}-${randomBytes(3).toString('hex')}`;
      const body = { url: endpoint.url(id), events: ['*'] };
      const { secret } = await ask(rig.client, 'createWebhook', { params: { webhook_id: id }, body });
      hooks.push({ id, secret });
    }
    await until('executions knows who listens', 20_000, async () => {
      const rows = await rig.sql('select from executions.listening_tenants where is_listening');
      return rows.length > 0;
    });
    const [{ now: from }] = (await rig.sql<{ now: string }>('select now()::text as now')) as [
      { now: string },
    ];
    await pause(2_000);
    const rounds = isSuite ? 1 : 2;
    for (let i = 0; i < rounds; i++) await breakEverything(rig, endpoint, () => random.below(1_500));
    const facts = await until(`${LEAST_FACTS} starts and ends`, ENDED_MS, async () => {
      const known = await factsSince(rig, from);
      return known.length >= LEAST_FACTS ? known : null;
    });
    const missing = (): string[] => missingIn(endpoint.received, hooks, facts);
    await until('all events at all webhooks', CAUGHT_UP_MS, () => missing().length === 0).catch(
      () => undefined,
    );
    return verdict(endpoint.received, facts, missing());
  } finally {
    for (const { id } of hooks)
      await ask(rig.client, 'deleteWebhook', {
        params: { webhook_id: id },
        isDone: ['not_found_error'],
      });
    endpoint.close();
  }
}

/** Each fault strikes while requests are under way. */
async function breakEverything(rig: Rig, endpoint: Endpoint, someMs: () => number): Promise<void> {
  const underWay = () =>
    until('a request of a webhook under way', UNDER_WAY_MS, () => endpoint.underWay() > 0, LOOK_MS);
  await underWay();
  await rig.kill('cluster-status');
  await pause(someMs());
  await rig.heal();
  // This time the row does not wait for the leases of the dead process.
  await rig.sql(
    'update cluster_status.webhook_deliveries set lease_until = now() where lease_owner is not null',
  );
  await underWay();
  rig.rabbitProxy.refuse();
  await pause(2_000 + someMs());
  await rig.kill('cluster-status');
  await rig.heal();
  await underWay();
  rig.postgresProxy.dropAnswers();
  await pause(100 + someMs() / 10);
  await rig.heal();
  await underWay();
  rig.postgresProxy.refuse();
  await pause(1_000 + someMs());
  await rig.heal();
}

/** The starts and ends of all executions that began after `from` and have ended by now. */
async function factsSince(rig: Rig, from: string): Promise<string[]> {
  const rows = await rig.sql<{ id: string; status: string }>(
    `select id, status from executions.executions where created_at > $1::timestamptz and phase = 'ended'
       and workflow_id in ('install', 'uninstall')`,
    [from],
  );
  return rows.flatMap(({ id, status }) => [
    `execution.started ${id}`,
    `execution.${status === 'cancelled' ? 'cancelled' : 'finished'} ${id}`,
  ]);
}

function missingIn(
  received: readonly Received[],
  hooks: readonly Hook[],
  facts: readonly string[],
): string[] {
  const answered = received.filter(({ isAnswered }) => isAnswered);
  const seen = new Set(answered.map(({ hook, fact }) => `${hook} ${fact}`));
  return hooks.flatMap(({ id }) => facts.map((fact) => `${id} ${fact}`)).filter((one) => !seen.has(one));
}

function verdict(
  received: readonly Received[],
  facts: readonly string[],
  missing: readonly string[],
): Struck {
  const ids = new Map<string, Set<string>>();
  for (const { hook, fact, delivery } of received)
    ids.set(`${hook} ${fact}`, (ids.get(`${hook} ${fact}`) ?? new Set()).add(delivery));
  const renamed = [...ids].filter(([, of]) => of.size > 1).map(([what]) => what);
  const forged = received.filter(({ isGenuine }) => !isGenuine);
  const repeated = received.length - new Set(received.map(({ delivery }) => delivery)).size;
  return {
    facts: { events: facts.length, requests: received.length, 'requests repeated': repeated },
    violations: [
      ...missing.slice(0, 5).map((one) => `G12: ${one} was never told (${missing.length} are missing)`),
      ...renamed.slice(0, 5).map((one) => `G12: ${one} came again under another id`),
      ...(forged.length > 0 ? [`G12: ${forged.length} requests are not signed by their webhook`] : []),
      ...(repeated === 0 ? ['floor: no fault met a request under way'] : []),
    ],
  };
}

function isSigned(secret: string, headers: Record<string, string>, body: string): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
