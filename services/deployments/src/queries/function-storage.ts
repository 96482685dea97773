import { evaluateFunctions, type FunctionStorage, type StoredInstance, type StoredNode } from '@baton/dsl';
import { AppError, isJsonObject, type Json } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { SecretsPort } from '../adapters/secrets.client';
import { type DeploymentRow, readDeployment, readPlan } from '../store/deployments.sql';
import { readLabels } from '../store/labels.sql';
import { functionError } from './function-error';

export interface StorageDeps {
  db: AnyQuery;
  secrets: SecretsPort;
}

/** The user on whose behalf functions read: secrets are released only to this user. */
export interface OnBehalf {
  username: string;
  isAdministrator?: boolean;
}

/** Most nested capabilities (a capability that uses a capability), across deployments. */
const MAX_DEPTH = 20;

/** Caches the result of `load` per key, also while it is loading. */
function remembered<T>(load: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const known = new Map<string, Promise<T>>();
  return (key) => {
    const found = known.get(key) ?? load(key);
    known.set(key, found);
    return found;
  };
}

/**
 * Gives the intrinsic functions of a deployment access to its data (reference/dsl.md ch. 4); each part is loaded when it is needed,
 * and only once. `seed` holds instances that are in memory already.
 */
export function functionStorage(
  deps: StorageDeps,
  row: DeploymentRow,
  on: OnBehalf,
  seed: readonly StoredInstance[] = [],
  depth = 0,
): FunctionStorage {
  const plan = remembered(async () => readPlan(deps.db, row.key));
  const labels = remembered(async () => readLabels(deps.db, row.key));
  const instance = remembered(
    async (id: string) => seed.find((one) => one.id === id) ?? (await readInstance(deps.db, row.key, id)),
  );
  const nodes = remembered((id: string) => readNode(deps.db, row.key, id));
  const instances = remembered((nodeId: string) => readInstances(deps.db, row.key, nodeId));
  const secret = remembered((name: string) => readSecret(deps, row.tenant, name, on));
  const capability = remembered((key: string) => readCapability(deps, row.tenant, key, on, depth));
  return {
    getInput: async (name) => ownValue((await plan(''))?.inputs, name),
    getNode: nodes,
    // Contexts may contain the name of a node instead of an instance (reference/rest-api.md 5.22).
    getNodeInstance: async (id) =>
      (await instance(id)) ?? ((await nodes(id)) ? ((await instances(id))[0] ?? { id, node_id: id }) : null),
    getNodeInstances: instances,
    getSecret: secret,
    getCapability: (deploymentId, name) => capability(JSON.stringify([deploymentId, name])),
    getGroupCapability: async () => [],
    getLabel: async (key) => {
      const values = (await labels(''))
        .filter((label) => label.key === key.toLowerCase())
        .map((label) => label.value);
      return values.length > 0 ? values : null;
    },
    getSys: async (entity, property) => system(row, entity, property),
    getConsumers: async (what) => consumers(deps.db, row, what),
  };
}

function ownValue(values: unknown, name: string): Json | undefined {
  return isJsonObject(values) && Object.hasOwn(values, name) ? values[name] : undefined;
}

const INSTANCE = sql.raw('id, node_id, runtime_properties, relationships, scaling_groups, index');

async function readInstance(db: AnyQuery, key: number, id: string): Promise<StoredInstance | null> {
  const { rows } =
    await sql<StoredInstance>`select ${INSTANCE} from node_instances where deployment_key = ${key} and id = ${id}`.execute(
      db,
    );
  return rows[0] ?? null;
}

async function readInstances(db: AnyQuery, key: number, nodeId: string): Promise<StoredInstance[]> {
  const { rows } = await sql<StoredInstance>`
    select ${INSTANCE} from node_instances where deployment_key = ${key} and node_id = ${nodeId} order by index`.execute(
    db,
  );
  return rows;
}

async function readNode(db: AnyQuery, key: number, id: string): Promise<StoredNode | null> {
  const { rows } = await sql<StoredNode>`
    select n.id, n.properties, d.body -> 'relationships' as relationships
    from nodes n left join documents d on d.digest = n.definition where n.deployment_key = ${key} and n.id = ${id}`.execute(
    db,
  );
  return rows[0] ?? null;
}

async function readSecret(
  deps: StorageDeps,
  tenant: string,
  name: string,
  on: OnBehalf,
): Promise<string | null> {
  const { values, hidden } = await deps.secrets.read(tenant, [name], on);
  if (hidden.includes(name))
    throw new AppError(
      'forbidden_error',
      `The value of secret \`${name}\` is hidden from user \`${on.username}\``,
      { field: name },
    );
  const value = values.get(name);
  return value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);
}

async function readCapability(
  deps: StorageDeps,
  tenant: string,
  key: string,
  on: OnBehalf,
  depth: number,
): Promise<{ value: Json } | null> {
  const [deploymentId, name] = JSON.parse(key) as [string, string];
  if (depth >= MAX_DEPTH)
    throw new AppError(
      'functions_evaluation_error',
      `Capabilities lead through more than ${MAX_DEPTH} deployments`,
      { field: name },
    );
  const row = await readDeployment(deps.db, tenant, deploymentId);
  if (!row)
    throw new AppError(
      'functions_evaluation_error',
      `get_capability: deployment \`${deploymentId}\` does not exist`,
      { deployment_id: deploymentId },
    );
  const definition = ownValue((await readPlan(deps.db, row.key))?.capabilities, name);
  if (definition === undefined) return null;
  const raw = isJsonObject(definition) ? (definition.value ?? null) : definition;
  const result = await evaluateFunctions(raw, functionStorage(deps, row, on, [], depth + 1), {
    path: `capabilities.${name}.value`,
  });
  if (!result.ok) throw functionError('functions_evaluation_error', result.error);
  return { value: result.value };
}

function system(row: DeploymentRow, entity: string, property: string): Json {
  const { id, display_name: name, blueprint_id: blueprint, created_by: owner } = row;
  const values = new Map<string, Json>([
    ['tenant.name', row.tenant],
    ...Object.entries({ id, name, blueprint, owner }).map(([key, value]): [string, Json] => [
      `deployment.${key}`,
      value,
    ]),
  ]);
  return values.get(`${entity}.${property}`) ?? null;
}

async function consumers(db: AnyQuery, row: DeploymentRow, what: 'ids' | 'names' | 'count'): Promise<Json> {
  const { rows } = await sql<{ id: string; name: string | null }>`
    select l.value as id, d.display_name as name from deployment_labels l left join deployments d on d.tenant = l.tenant and d.id = l.value
    where l.deployment_key = ${row.key} and l.key = 'csys-consumer-id' order by l.value`.execute(db);
  if (what === 'count') return rows.length;
  return rows.map((one) => (what === 'ids' ? one.id : (one.name ?? one.id)));
}
