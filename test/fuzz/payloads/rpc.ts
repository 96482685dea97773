/** Payloads of rpc: each method of proto/ with messages of every kind, sent by authorized callers. */
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

/** Interfaces that several services implement. */
const PARTS = /^\/baton\.(doctor|imports|snapshots|tenants|rpc)\./;
/** Methods that close a tenant or replace the rows that the run uses: called last. */
const LAST = /\/(CloseTenant|OpenTenant|ClearTenant|Switch|Stage|Discard|ReleaseSession)$/;
/** What they ask for is done: to a tenant that nobody else uses. */
const CLOSES = /^\/baton\.tenants\./;
const CLOSED = 'fuzz_closed';
const INTERNAL = 'internal_server_error';
const LANES = 4;

export interface RpcFuzz {
  fleet: Fleet;
  seed: number;
  /** Number of messages of each kind (valid, broken) for each method. */
  each: number;
  /** Known ids, by field name. */
  known: Readonly<Record<string, string>>;
  /** Restricts the run to methods whose path contains this text. */
  only: string;
}

const serviceOf = (path: string, services: ServiceName[], random: Random): ServiceName => {
  const [, name] = /^\/baton\.(\w+)\./.exec(path)!;
  return PARTS.test(path) ? random.pick(services) : (name!.replace('_', '-') as ServiceName);
};

/** Calls all methods; errors are reported to findings.ts. */
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
  /** Number of answers that may hide a bug: internal errors, and answers lost with their connection. */
  let hidden = 0;
  const count = (of: Map<string, number>, name: string): void => void of.set(name, (of.get(name) ?? 0) + 1);

  const callOnce = async (method: (typeof methods)[number], n: number): Promise<void> => {
    const random = seededRandom(o.seed * 1_000_003 + n * 10_007 + methods.indexOf(method));
    const maker: Maker = {
      descriptors,
      random,
      known: CLOSES.test(method.path) ? { ...known, tenant: CLOSED } : known,
    };
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
    // HTTP/2 itself closes a connection that floods; a process that ended is detected below.
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

/**
 * Checks that the logs contain a bug at most once per answer that hides it: a service that passes an error on does not log it
 * again.
 */
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
