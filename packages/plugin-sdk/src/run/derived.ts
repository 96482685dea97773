import { canonicalJson, type Json } from '@baton/kernel';
import type { OperationContext } from '../context';
import type { AnyNodeType, Difference, LifecycleOperation, Present } from '../define/node-type';
import type { DerivedOperation } from '../define/operation-names';
import type { UpdateScope } from '../define/scope';
import { FatalError } from '../errors';
import type { ObjectSchema } from '../schema/describe';
import type { AnyNodeScope } from './node-scope';

type DerivedWork = (type: AnyNodeType, scope: AnyNodeScope) => Promise<Json>;

/** The operations that follow from `read` and `compare`. */
export const DERIVED: Readonly<Record<DerivedOperation, DerivedWork>> = {
  /** Fails when the thing is gone; the workflow stores the text as the status. */
  check_status: async (type, scope) => {
    if ((await readPresent(type, scope)) === null) throw gone(scope.ctx);
    return null;
  },
  /** Data, not a failure: the list of differences, or null. */
  check_drift: async (type, scope) => {
    const present = type.read === undefined ? {} : await readPresent(type, scope);
    if (present === null) throw gone(scope.ctx);
    const found = await differencesOf(type, scope, present);
    return found.length === 0 ? null : found.map((one) => ({ ...one }));
  },
  heal,
  pull: async (type, scope) => {
    const present = await readPresent(type, scope);
    if (present === null) throw gone(scope.ctx);
    const kept = new Set([...Object.keys(type.runtime?.shape ?? {}), ...(type.compare ?? [])]);
    const runtime = scope.runtime as Record<string, unknown>;
    for (const [name, value] of Object.entries(present)) if (kept.has(name)) runtime[name] = value;
    return null;
  },
};

/** Runs `update` with the properties that differ. @throws FatalError when there is nothing to update */
export async function runUpdate(type: AnyNodeType, scope: AnyNodeScope): Promise<unknown> {
  if (type.read === undefined) return await type.update!(withChanges(scope, scope.properties));
  const present = await readPresent(type, scope);
  if (present === null) throw gone(scope.ctx);
  return await updateTo(type, scope, present);
}

async function updateTo(type: AnyNodeType, scope: AnyNodeScope, present: Present): Promise<unknown> {
  const changed = differences(type, scope.properties, present).map(({ path }) => path);
  const properties = scope.properties as Record<string, unknown>;
  // Without `compare` nobody knows what differs.
  const names = (type.compare ?? []).length === 0 ? Object.keys(properties) : changed;
  return await type.update!(
    withChanges(scope, Object.fromEntries(names.map((name) => [name, properties[name]]))),
  );
}

const withChanges = (scope: AnyNodeScope, changes: Readonly<Record<string, unknown>>): AnyUpdateScope =>
  ({ ...scope, changes }) as AnyUpdateScope;

type AnyUpdateScope = UpdateScope<ObjectSchema, ObjectSchema, Record<string, Json>>;

/** Gone: made again. There and different: updated in place, or else removed and made again. Otherwise nothing to do. */
async function heal(type: AnyNodeType, scope: AnyNodeScope): Promise<Json> {
  const present = type.read === undefined ? {} : await readPresent(type, scope);
  if (present !== null) {
    if ((await differencesOf(type, scope, present)).length === 0) return null;
    if (type.update !== undefined) {
      await updateTo(type, scope, present);
      return null;
    }
  }
  // Something of it may be left, and `create` may refuse to work beside its remains.
  const ends = present === null ? ENDS.slice(2) : ENDS;
  for (const name of ends) await type[name]?.(partOf(scope, name));
  for (const name of Object.keys(type.runtime?.shape ?? {}))
    delete (scope.runtime as Record<string, unknown>)[name];
  for (const name of BEGINS) await type[name]?.(partOf(scope, name));
  return null;
}

const BEGINS = ['precreate', 'create', 'configure', 'start', 'poststart'] as const;
/** What is gone cannot be stopped: then the last two run alone. */
const ENDS = ['prestop', 'stop', 'delete', 'postdelete'] as const;

/** The scope of an operation that runs as a part of heal: keys of its steps get its name, since others may use the same. */
const partOf = (scope: AnyNodeScope, part: LifecycleOperation): AnyNodeScope => ({
  ...scope,
  step: (key, work) => scope.step(`${part}: ${key}`, work),
});

async function readPresent(type: AnyNodeType, scope: AnyNodeScope): Promise<Present | null> {
  const present = await type.read!(scope);
  if (present === null) return null;
  if (typeof present !== 'object')
    throw new FatalError(
      `read must answer an object, or null when the thing is gone; it answered ${typeof present}`,
    );
  return present;
}

async function differencesOf(
  type: AnyNodeType,
  scope: AnyNodeScope,
  present: Present,
): Promise<readonly Difference[]> {
  return type.drift === undefined
    ? differences(type, scope.properties, present)
    : ((await type.drift(scope)) ?? []);
}

function differences(
  type: AnyNodeType,
  properties: Readonly<Record<string, unknown>>,
  present: Present,
): Difference[] {
  const asJson = (value: unknown): Json =>
    value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json);
  return [...(type.compare ?? [])]
    .map((path) => ({ path, stored: asJson(properties[path]), present: asJson(present[path]) }))
    .filter(({ stored, present: now }) => canonicalJson(stored) !== canonicalJson(now));
}

const gone = (ctx: OperationContext): FatalError =>
  new FatalError(`what the plugin ${ctx.plugin.name} made for this node instance does not exist any more`);
