/** Payloads of rpc: each method of proto/ with messages of every kind, from callers that may call it. */
import { randomUUID } from 'node:crypto';
import type { ServiceName } from '@baton/contracts';
import type { Fleet } from '../../harness/fleet';
import { type RawRpc, rawRpc } from '../../harness/raw-rpc';
import { type Random, seededRandom } from '../../sim/random';
import { tell } from '../findings';
import { callersOf } from './callers';
import { readDescriptors } from './descriptors';
import { type Line, reasonOf, watch } from './judge';
import { brokenBytes, encode, type Maker, messageOf } from './wire';

/** What several services serve. */
const PARTS = /^\/baton\.(doctor|snapshots|tenants|rpc)\./;
/** They close a tenant, or put other rows in the place of those that the world consists of: asked for last. */
const LAST = /\/(CloseTenant|OpenTenant|ClearTenant|Switch|Stage|Discard|ReleaseSession)$/;
const INTERNAL = 'internal_server_error';
const LANES = 4;

export interface RpcFuzz {
  fleet: Fleet;
  seed: number;
  /** Messages of each kind (valid, broken) for each method. */
  each: number;
  /** What the world knows, by the names of fields. */
  known: Readonly<Record<string, string>>;
  /** Of the methods those whose path contains this. */
  only: string;
}

const serviceOf = (path: string, services: ServiceName[], random: Random): ServiceName => {
  const [, name] = /^\/baton\.(\w+)\./.exec(path)!;
  return PARTS.test(path) ? random.pick(services) : (name!.replace('_', '-') as ServiceName);
};

/** Calls all methods; what is wrong is told (findings.ts). */
export async function fuzzRpc(o: RpcFuzz): Promise<void> {
  const { fleet, known } = o;
  const descriptors = readDescriptors();
  const { methods } = descriptors;
  const watched = watch(fleet);
  const services = Object.keys(fleet.rpc) as ServiceName[];
  const clients = new Map<ServiceName, RawRpc>(services.map((name) => [name, rawRpc(fleet.rpc[name]!)]));
  const callers = callersOf(fleet, {
    workerId: 'fuzz-worker',
    tenant: 'default_tenant',
    executionId: known.executionId!,
    taskId: randomUUID(),
    attempt: 1,
    deploymentId: known.deploymentId!,
    blueprintId: known.blueprintId!,
    inputsDigest: '',
    username: 'admin',
  });
  const counts = new Map<string, number>();
  /** Answers that may hide a bug: those that say so, and those that were lost with their connection. */
  let hidden = 0;
  const count = (of: Map<string, number>, name: string): void => void of.set(name, (of.get(name) ?? 0) + 1);

  const callOnce = async (method: (typeof methods)[number], n: number): Promise<void> => {
    const random = seededRandom(o.seed * 1_000_003 + n * 10_007 + methods.indexOf(method));
    const maker: Maker = { descriptors, random, known };
    const audience = serviceOf(method.path, services, random);
    const made = messageOf(maker, method.input);
    const prepared = await callers.prepare(method.path, audience, made, random.next());
    if (prepared === null) return;
    const good = encode(descriptors, method.input, prepared.message);
    const { body, isFramed } = n % 2 === 0 ? { body: good, isFramed: false } : brokenBytes(random, good);
    const { code, message } = await clients
      .get(audience)!
      .call(method.path, prepared.headers, body, isFramed);
    count(counts, code);
    if (code === INTERNAL || code === 'connection lost') hidden += 1;
    // A connection that floods is closed by HTTP/2 itself; a process that went away is found out below.
    if (code === 'no answer in time')
      tell(code, method.path, `${method.path} at ${audience}, seed ${o.seed}, message ${n}: ${message}`);
  };
  const all = methods
    .filter(({ path }) => path.includes(o.only))
    .sort((a, b) => Number(LAST.test(a.path)) - Number(LAST.test(b.path)));
  const queue = all.flatMap((method) =>
    Array.from({ length: 2 * o.each }, (_, n) => () => callOnce(method, n)),
  );
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) await next();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  for (const client of clients.values()) client.close();
  callers.close();
  await watched.judge();
  judgeLines(watched.lines(), hidden);
  const shown = [...counts].sort((a, b) => b[1] - a[1]).map(([code, times]) => `${code} ${times}`);
  console.log(`rpc: ${methods.length} methods, answers: ${shown.join(', ')}`);
}

/** A bug is told once in the logs for each answer that hides it: a service that passes it on does not tell it again. */
function judgeLines(lines: Map<string, Line[]>, hidden: number): void {
  const kinds = new Map<string, number>();
  let told = 0;
  for (const [service, all] of lines) {
    for (const line of all) {
      if (line.level !== 'error' && line.level !== 'fatal') continue;
      if (line.message !== 'rpc failed')
        tell('fault', `${service} ${reasonOf(line).slice(0, 80)}`, JSON.stringify(line).slice(0, 1_500));
      else if (line.errorCode === undefined) {
        told += 1;
        const kind = `${service}, ${String(line.method)}`;
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
  }
  if (told > hidden) tell('logged more than once', 'rpc failed', `${told} lines for ${hidden} answers`);
  for (const [kind, times] of kinds) console.log(`internal error ${times} times: ${kind}`);
}
