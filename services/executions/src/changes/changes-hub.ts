import type { Envelope, ResourceChange, ResourceChanges } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { type Db, outsideRequests } from '@baton/postgres';
import type { DB } from '../store/tables.gen';
import type { ChangeRings } from './change-rings';
import type { KnownChange } from './domain/change-ring';
import { createPendingChanges, type Heard, type PendingChanges } from './pending-changes';
import type { Owners } from './remembered-owners';
import { type MovedExecution, movedExecutions } from './store/moved-executions.sql';

/** How long changes are gathered: of one resource at most ten changes a second are sent. */
const WINDOW_MS = 100;
/** The same after a failed read: readers then read everything again, which must not happen ten times a second. */
const AFTER_FAILURE_MS = 2_000;
/**
 * Deployments notes a new execution by a message, a moment after executions has it. The deployment is therefore sent once more
 * after this time.
 */
const NOTED_MS = 1_000;
/** The most executions that one statement reads. */
const READ_AT_ONCE = 500;
/** The most owners that are requested at once. */
const ASK_AT_ONCE = 20;

/**
 * Receives changes and puts them into the rings of tenants that have readers. Without readers it does nothing. When it may have
 * missed a change, it tells all readers at once, and they read everything again.
 */
export interface ChangesHub {
  /** The executions have moved; `hasStates`: deployments has applied states of their node instances. */
  moved(executionIds: readonly string[], hasStates?: boolean): void;
  told(envelope: Envelope<ResourceChanges>): void;
  /** Changes may have been missed, of the tenant or (when empty) of all tenants. */
  lost(tenant?: string): void;
  stop(): void;
}

export interface HubDeps {
  db: Pick<Db<DB>, 'query'>;
  rings: ChangeRings;
  owners: Owners;
  log: Log;
}

export function createChangesHub(deps: HubDeps): ChangesHub {
  const { rings, owners } = deps;
  const pending = createPendingChanges();
  const lost = (tenant = ''): void => {
    rings.lose(tenant);
    rings.wake();
  };
  const looks = createLooks(deps, pending, (deployments) => {
    if (!rings.isListening()) return;
    for (const [tenant, ids] of deployments)
      for (const id of ids) pending.add(tenant, { kind: 'deployments', id, operation: 'changed' });
    heard();
  });
  const heard = (): void => {
    if (pending.isFull()) {
      pending.take();
      lost();
    } else looks.later();
  };
  return {
    moved(executionIds, hasStates = false) {
      if (!rings.isListening() || executionIds.length === 0) return;
      for (const id of executionIds) pending.addMoved(id, hasStates);
      heard();
    },
    told({ tenant, payload }) {
      for (const change of payload.changes) noteOwner(owners, tenant, change);
      if (!rings.isListening()) return;
      if (payload.isIncomplete) lost(tenant);
      for (const change of payload.changes) pending.add(tenant, change);
      if (payload.changes.length > 0) heard();
    },
    lost,
    stop() {
      looks.stop();
      rings.stop();
    },
  };
}

/**
 * Creates the reader of pending changes; only one read runs at a time. `again` gets the deployments of new executions a while
 * after they were sent.
 */
function createLooks(deps: HubDeps, pending: PendingChanges, again: (deployments: DeploymentIds) => void) {
  const { rings, log } = deps;
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;
  const look = async (): Promise<void> => {
    timer = null;
    if (isLooking) return;
    isLooking = true;
    let waitMs = WINDOW_MS;
    try {
      const begun = await tell(deps, pending.take());
      if (begun.size > 0) setTimeout(again, NOTED_MS, begun).unref();
    } catch (err) {
      waitMs = AFTER_FAILURE_MS;
      // Database or deployments unavailable: readers load their lists again, and continue with the next changes.
      log.warn({ err }, 'changes could not be read; readers are told so');
      rings.lose('');
    }
    isLooking = false;
    rings.wake();
    if (!pending.isEmpty()) later(waitMs);
  };
  /** Starts the timer outside the request that woke it: the read serves all readers, not that request. */
  const later = (waitMs = WINDOW_MS): void => {
    timer ??= outsideRequests(() => setTimeout(() => void look(), waitMs).unref());
  };
  return {
    later: () => later(),
    stop: () => void (timer && clearTimeout(timer)),
  };
}

function noteOwner(owners: Owners, tenant: string, change: ResourceChange): void {
  const { kind, id, createdBy, visibility } = change;
  if (kind !== 'deployments') return;
  if (change.operation === 'deleted') owners.forget(tenant, id);
  else if (createdBy !== undefined && visibility !== undefined)
    owners.note(tenant, id, { createdBy, visibility });
}

/** Ids by tenant. */
type DeploymentIds = Map<string, Set<string>>;

/**
 * Reads the executions that have moved and sends them, with the deployments that show them. Returns the deployments of new
 * executions.
 * @throws AppError of the database or the rpc.
 */
async function tell(deps: HubDeps, { moved, told }: Heard): Promise<DeploymentIds> {
  const touched: DeploymentIds = new Map();
  const begun: DeploymentIds = new Map();
  const ids = [...moved.keys()];
  for (let i = 0; i < ids.length; i += READ_AT_ONCE) {
    const rows = await movedExecutions(deps.db, ids.slice(i, i + READ_AT_ONCE), deps.rings.tenants());
    for (const row of rows) {
      const { isNew, isOther } = tellExecution(deps.rings, row);
      if (row.deployment_id === null) continue;
      if (isOther || moved.get(row.id)) addTo(touched, row.tenant, row.deployment_id);
      if (isNew) addTo(begun, row.tenant, row.deployment_id);
    }
  }
  for (const [tenant, changes] of told)
    for (const change of changes) {
      const known = knownChange(tenant, change);
      if (known) tellAll(deps.rings, known);
      else addTo(touched, tenant, change.id);
    }
  await tellDeployments(deps, touched);
  return begun;
}

const addTo = (sets: DeploymentIds, key: string, value: string): void =>
  void sets.set(key, (sets.get(key) ?? new Set()).add(value));

/** Returns the change with its owner and visibility. Null: they are not in the message and must be requested. */
function knownChange(tenant: string, change: ResourceChange): KnownChange | null {
  const { kind, id, operation, createdBy, visibility } = change;
  if (createdBy === undefined || visibility === undefined) return null;
  return { kind, id, tenant, operation, createdBy, visibility, more: {} };
}

/**
 * Sends an execution, unless the ring has the same change already: a replica receives its own announcements too. Returns whether
 * the execution is new to some reader, or has another status than the one sent before.
 */
function tellExecution(rings: ChangeRings, row: MovedExecution): { isNew: boolean; isOther: boolean } {
  const { id, tenant, visibility, created_by: createdBy, created_at: createdAt, ...more } = row;
  const change = { kind: 'executions' as const, id, tenant, createdBy, visibility, more };
  const answer = { isNew: false, isOther: false };
  for (const { ring, since } of rings.thatShow(change)) {
    const before = ring.latestOf(change);
    if (before && isSame(before, change)) continue;
    const isNew = before === null && since !== null && Date.parse(createdAt) >= Date.parse(since);
    ring.push({ ...change, operation: isNew ? 'created' : 'changed' });
    answer.isNew ||= isNew;
    answer.isOther ||= before?.more.status !== row.status;
  }
  return answer;
}

function tellAll(rings: ChangeRings, change: KnownChange): void {
  for (const { ring } of rings.thatShow(change)) ring.push(change);
}

const isSame = (before: KnownChange, now: Pick<KnownChange, 'more' | 'visibility'>): boolean =>
  before.visibility === now.visibility &&
  Object.entries(now.more).every(([name, value]) => before.more[name] === value);

/** Sends changes of deployments of which only the id is known; they are of tenants that have readers. */
async function tellDeployments({ rings, owners }: HubDeps, touched: DeploymentIds): Promise<void> {
  const all = [...touched].flatMap(([tenant, ids]) => [...ids].map((id) => ({ tenant, id })));
  for (let i = 0; i < all.length; i += ASK_AT_ONCE) {
    const some = all.slice(i, i + ASK_AT_ONCE);
    const found = await Promise.all(some.map(({ tenant, id }) => owners.of(tenant, id)));
    for (const [n, owner] of found.entries())
      if (owner)
        tellAll(rings, { kind: 'deployments', ...some[n]!, operation: 'changed', ...owner, more: {} });
  }
}
