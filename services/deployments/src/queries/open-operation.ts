import {
  evaluateFunctions,
  evaluateNodeProperties,
  type FunctionStorage,
  type StoredInstance,
} from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import { notFound } from '@baton/kernel';
import { prepared } from '@baton/postgres';
import type { SecretsPort } from '../adapters/secrets.client';
import type { DeploymentRow } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import type { NodeDefinition } from '../store/nodes.sql';
import { functionError } from './function-error';
import { functionStorage } from './function-storage';
import type { ListDeps } from './list-deployments';
import { requireDeployment } from './workflow-model';

export interface OperationRequest {
  tenant: string;
  deploymentId: string;
  nodeInstanceId: string;
  /** Instance at the other end of a relationship operation; otherwise empty. */
  relatedInstanceId: string;
  isSource: boolean;
  /** JSON text. */
  inputs: string;
  hasFunctions: boolean;
  /** Creator of the execution. */
  username: string;
}

export interface OpenedOperation {
  /** Values of the secrets that the inputs have read. */
  secrets: unknown[];
  inputs: string;
  self: Side | null;
  related: Side | null;
  deployment: Record<string, unknown>;
}

interface Side {
  node: Record<string, unknown>;
  instance: Record<string, unknown>;
}

interface SideRow extends StoredInstance {
  node_id: string;
  state: string;
  version: number;
  host_id: string | null;
  system_properties: JsonObject | null;
  type: string;
  node_host_id: string | null;
  number_of_instances: number;
  properties: JsonObject;
  definition: string;
  host_ip: Json;
}

const SIDES = {
  name: 'operation-sides',
  text: `select ni.id, ni.node_id, ni.index, ni.state, ni.version, ni.host_id, ni.runtime_properties, ni.system_properties, ni.relationships, ni.scaling_groups,
      n.type, n.host_id as node_host_id, n.number_of_instances, n.properties, encode(n.definition, 'hex') as definition,
      coalesce(h.runtime_properties -> 'ip', hn.properties -> 'ip') as host_ip
    from node_instances ni
      join nodes n on n.deployment_key = ni.deployment_key and n.id = ni.node_id
      left join node_instances h on h.tenant = ni.tenant and h.id = ni.host_id
      left join nodes hn on hn.deployment_key = h.deployment_key and hn.id = h.node_id
    where ni.tenant = $1 and ni.deployment_key = $2 and ni.id = any($3::text[])`,
};

/** Returns everything that an operation may read, with functions evaluated on behalf of the execution's creator. */
export async function openOperation(
  deps: ListDeps & { secrets: SecretsPort },
  request: OperationRequest,
): Promise<OpenedOperation> {
  const row = await requireDeployment(deps, request.tenant, request.deploymentId);
  const ids = [request.nodeInstanceId, request.relatedInstanceId].filter((id) => id !== '');
  const rows = await prepared<SideRow>(deps.db, SIDES, [request.tenant, row.key, ids]);
  const missing = ids.find((id) => !rows.some((side) => side.id === id));
  if (missing !== undefined) throw notFound('NodeInstance', missing);
  const definitions = await readDocuments(
    deps.db.query,
    deps.documents,
    rows.map((side) => side.definition),
  );
  const secrets = notingSecrets(deps.secrets);
  const storage = functionStorage({ db: deps.db.query, secrets }, row, { username: request.username }, rows);
  const side = async (id: string): Promise<Side | null> => {
    const found = rows.find((one) => one.id === id);
    return found
      ? presentSide(found, row, definitions.get(found.definition) as NodeDefinition, storage)
      : null;
  };
  const inputs = request.hasFunctions ? await evaluateInputs(request, storage) : request.inputs;
  return {
    inputs,
    secrets: secrets.released(),
    self: await side(request.nodeInstanceId),
    related: await side(request.relatedInstanceId),
    deployment: await presentDeployment(deps, row),
  };
}

/** Wraps the port; remembers the values that it has released. */
function notingSecrets(port: SecretsPort): SecretsPort & { released(): unknown[] } {
  const values = new Map<string, unknown>();
  return {
    async read(tenant, names, on) {
      const reading = await port.read(tenant, names, on);
      for (const [name, value] of reading.values) values.set(name, value);
      return reading;
    },
    released: () => [...values.values()],
  };
}

async function evaluateInputs(request: OperationRequest, storage: FunctionStorage): Promise<string> {
  const { nodeInstanceId: self, relatedInstanceId: related } = request;
  const context =
    related === ''
      ? { self }
      : request.isSource
        ? { source: self, target: related }
        : { source: related, target: self };
  const result = await evaluateFunctions(JSON.parse(request.inputs) as Json, storage, {
    context,
    path: 'inputs',
  });
  if (!result.ok) throw functionError('functions_evaluation_error', result.error);
  return JSON.stringify(result.value);
}

async function presentSide(
  row: SideRow,
  deployment: DeploymentRow,
  definition: NodeDefinition,
  storage: FunctionStorage,
): Promise<Side> {
  const evaluated = await evaluateNodeProperties(
    { id: row.node_id, properties: row.properties },
    storage,
    row.id,
  );
  if (!evaluated.ok) throw functionError('functions_evaluation_error', evaluated.error);
  return {
    node: {
      id: row.node_id,
      name: row.node_id,
      deployment_id: deployment.id,
      blueprint_id: deployment.blueprint_id,
      type: row.type,
      type_hierarchy: definition.type_hierarchy,
      host_id: row.node_host_id,
      properties: evaluated.value.properties,
      number_of_instances: row.number_of_instances,
      plugins: definition.plugins,
      relationships: (definition.relationships as JsonObject[]).map(
        ({ source_operations: _source, target_operations: _target, ...rest }) => rest,
      ),
    },
    instance: {
      id: row.id,
      node_id: row.node_id,
      deployment_id: deployment.id,
      host_id: row.host_id,
      host_ip: row.host_ip ?? null,
      index: row.index,
      state: row.state,
      version: row.version,
      runtime_properties: row.runtime_properties,
      system_properties: row.system_properties,
      relationships: row.relationships,
      scaling_groups: row.scaling_groups,
    },
  };
}

async function presentDeployment(deps: ListDeps, row: DeploymentRow): Promise<Record<string, unknown>> {
  const statement = {
    name: 'plans-resource-tags',
    text: 'select resource_tags from deployment_plans where deployment_key = $1',
  };
  const plan = (await prepared<{ resource_tags: unknown }>(deps.db, statement, [row.key]))[0];
  return {
    id: row.id,
    display_name: row.display_name,
    blueprint_id: row.blueprint_id,
    creator: row.created_by,
    resource_tags: plan?.resource_tags ?? {},
    runtime_only_evaluation: row.runtime_only_evaluation,
  };
}
