/** Asks this manager for everything that is expected of it, and compares. It changes nothing. */
import { ApiError } from '@baton/client';
import type { LooseClient } from '../layer/declared-client';
import { RULES, type Rule } from './allowed';
import { type Comparer, createComparer, type Difference, type Source } from './compare';
import type { Expected, Item } from './expected';
import { ANSWERS, EVENTS, type Kind, keyOf, kindOf } from './kinds';
import { masked } from './mask';
import { type Selection, select } from './selection';

export interface VerifyOptions {
  client: LooseClient;
  /** Tenant of requests that concern the whole manager. */
  tenant: string;
  source: Source;
  /** Of the digests in a recording; null: nothing is masked. */
  salt: string | null;
  selection: Selection;
  /** Why a report of an import says that an object is not here; null: it does not. */
  reasonOf?: (type: string, tenant: string | null, id: string) => string | null;
  rules?: readonly Rule[];
  /** Hears of each difference, explained or not. */
  onDifference(difference: Difference): void;
}

export interface Tally {
  /** Objects compared, by kind. */
  compared: Record<string, number>;
  /** Differences by the reason that explains them. */
  explained: Record<string, number>;
  unexplained: number;
}

type ObjectExpected = Extract<Expected, { kind: 'object' }>;
/** Objects of one request by their keys: the address must not become too long. */
const BATCH = 40;

/** Compares everything. @returns counts; `onDifference` has heard of each difference */
export async function verify(expected: AsyncIterable<Expected>, options: VerifyOptions): Promise<Tally> {
  const verifier = new Verifier(options);
  for await (const one of expected) {
    const chosen = select(options.selection, one);
    if (chosen !== null) await verifier.take(chosen);
  }
  await verifier.finish();
  return verifier.tally;
}

class Verifier {
  readonly tally: Tally = { compared: {}, explained: {}, unexplained: 0 };
  readonly #comparer: Comparer;
  #run: Run | null = null;
  /** Deployments that were expected, by tenant: only what is below them counts as too much here. */
  readonly #deployments = new Map<string, Set<string>>();

  constructor(private readonly options: VerifyOptions) {
    this.#comparer = createComparer(options.rules ?? RULES, options.source);
  }

  async take(one: Expected): Promise<void> {
    if (one.kind === 'object') await this.#object(one);
    else if (one.kind === 'answer') await this.#answer(one);
    else await this.#count(one);
  }

  async finish(): Promise<void> {
    await this.#endRun();
  }

  async #object(one: ObjectExpected): Promise<void> {
    if (this.#run === null || this.#run.kind.what !== one.what || this.#run.tenant !== one.tenant) {
      await this.#endRun();
      this.#run = { kind: kindOf(one.what)!, tenant: one.tenant, waiting: [], seen: new Set(), here: null };
    }
    const run = this.#run;
    if (run.seen.has(one.id)) return;
    run.seen.add(one.id);
    if (one.what === 'deployments') this.#deploymentsOf(one.tenant).add(one.id);
    run.waiting.push(one);
    if (run.waiting.length >= BATCH) await this.#compareWaiting(run);
  }

  #deploymentsOf(tenant: string | null): Set<string> {
    const found = this.#deployments.get(tenant ?? '') ?? new Set();
    this.#deployments.set(tenant ?? '', found);
    return found;
  }

  async #compareWaiting(run: Run): Promise<void> {
    const waiting = run.waiting.splice(0);
    const here = run.kind.isAskedByKey ? await this.#named(run, waiting) : await this.#all(run);
    for (const { what, tenant, id, item } of waiting) this.#compare(what, tenant, id, item, here.get(id));
  }

  /** Objects by their keys. Nodes of several deployments may have the same id. */
  async #named({ kind, tenant }: Run, waiting: readonly ObjectExpected[]): Promise<Map<string, Item>> {
    const query: Record<string, unknown> = { ...kind.query, _size: 1000 };
    for (const field of kind.key) query[field] = [...new Set(waiting.map(({ item }) => String(item[field])))];
    return await this.#collect(kind, tenant, query);
  }

  async #all(run: Run): Promise<Map<string, Item>> {
    run.here ??= await this.#collect(run.kind, run.tenant, { ...run.kind.query });
    return run.here;
  }

  async #collect(
    kind: Kind,
    tenant: string | null,
    query: Record<string, unknown>,
  ): Promise<Map<string, Item>> {
    const found = new Map<string, Item>();
    const args = { tenant: tenant ?? this.options.tenant, query, pageSize: kind.pageSize };
    for await (const one of this.options.client.all(kind.list, args)) {
      const item = one as Item;
      if (tenant === null || (item.tenant_name ?? tenant) === tenant) found.set(keyOf(kind, item), item);
    }
    return found;
  }

  /** What is left of a kind, and what is here though nobody expected it. */
  async #endRun(): Promise<void> {
    const run = this.#run;
    if (run === null) return;
    await this.#compareWaiting(run);
    this.#run = null;
    const { kind, tenant, seen } = run;
    const fields = [...new Set([...kind.key, kind.deploymentField ?? kind.key[0]!, 'tenant_name'])];
    const here =
      run.here ??
      (await this.#collect({ ...kind, pageSize: 1000 }, tenant, {
        ...kind.query,
        _include: fields.filter((field) => tenant !== null || field !== 'tenant_name').join(','),
      }));
    for (const [id, item] of here)
      if (!seen.has(id) && this.#isBelowExpected(kind, tenant, item))
        this.#compare(kind.what, tenant, id, undefined, item);
  }

  #isBelowExpected(kind: Kind, tenant: string | null, item: Item): boolean {
    if (kind.deploymentField === undefined || kind.what === 'deployments')
      return this.options.selection.deployments.length === 0;
    return this.#deploymentsOf(tenant).has(String(item[kind.deploymentField]));
  }

  async #answer({ what, tenant, id, item }: Extract<Expected, { kind: 'answer' }>): Promise<void> {
    await this.#endRun();
    const { get } = ANSWERS.find((answer) => answer.what === what)!;
    this.#compare(what, tenant, id, item, await this.#get(get, tenant, id));
  }

  async #get(get: (typeof ANSWERS)[number]['get'], tenant: string, id: string): Promise<Item | undefined> {
    try {
      return (await this.options.client.call(get, { tenant, params: { id } })) as Item;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #count({ what, tenant, total }: Extract<Expected, { kind: 'count' }>): Promise<void> {
    await this.#endRun();
    if (what !== EVENTS) return;
    const query = { _size: 1, type: ['cloudify_event', 'cloudify_log'] };
    const answer = (await this.options.client.call('listEvents', { tenant, query })) as {
      metadata: { pagination: { total: number } };
    };
    this.#compare(what, tenant, 'number', { total }, { total: answer.metadata.pagination.total });
  }

  #compare(
    what: string,
    tenant: string | null,
    id: string,
    there: Item | undefined,
    here: Item | undefined,
  ): void {
    if (there !== undefined) this.tally.compared[what] = (this.tally.compared[what] ?? 0) + 1;
    const { salt } = this.options;
    const hidden = salt === null || here === undefined ? here : (masked(salt, here) as Item);
    for (const found of this.#comparer.compare(what, id, there, withKey(what, hidden, here))) {
      const told = found.path === '' && here === undefined ? this.options.reasonOf?.(what, tenant, id) : null;
      const difference = { ...found, what, tenant, id, reason: found.reason ?? told ?? null };
      if (difference.reason === null) this.tally.unexplained++;
      else this.tally.explained[difference.reason] = (this.tally.explained[difference.reason] ?? 0) + 1;
      this.options.onDifference(difference);
    }
  }
}

/** The key of a secret is its name and is not masked. */
function withKey(what: string, hidden: Item | undefined, here: Item | undefined): Item | undefined {
  const kind = kindOf(what);
  if (hidden === undefined || here === undefined || kind === undefined) return hidden;
  return { ...hidden, ...Object.fromEntries(kind.key.map((field) => [field, here[field]])) };
}

/** Objects of one kind in one tenant, which follow one another. */
interface Run {
  kind: Kind;
  tenant: string | null;
  waiting: ObjectExpected[];
  seen: Set<string>;
  /** All objects here, where these are few. */
  here: Map<string, Item> | null;
}
