import { FatalError, type NodeScope, type NoValues, nodeType } from '@baton/plugin-sdk';
import * as z from 'zod';
import { asDict, type Dict, dictOf, fieldAt } from '../json';

const PROPERTIES = z.object({
  resource_config: z
    .any()
    .default({})
    .describe(
      'blueprint and deployment as for a component. deployment.outputs: names of outputs, and names for them here',
    ),
});

type ProxyScope = NodeScope<typeof PROPERTIES, NoValues>;

/** The deployment that the component of the node has. @throws FatalError before it is known */
function deploymentOf({ runtime, properties }: ProxyScope): string {
  const { deployment } = asDict(runtime);
  const id = fieldAt(deployment, ['id']) ?? fieldAt(properties.resource_config, ['deployment', 'id']);
  if (typeof id !== 'string' || id === '') throw new FatalError('the deployment of the proxy is not known');
  return id;
}

/** Keeps outputs of the deployment: those of `outputs` under their names here, or all. */
async function keepOutputs(scope: ProxyScope): Promise<void> {
  const { manager, properties } = scope;
  const runtime = asDict(scope.runtime);
  const config = dictOf(fieldAt(properties.resource_config, ['deployment']));
  const id = deploymentOf(scope);
  const { outputs } = await manager().get<{ outputs: Dict }>(
    `/deployments/${encodeURIComponent(id)}/outputs`,
  );
  const named = dictOf(config.outputs);
  const isNamed = Object.keys(named).length > 0;
  const all = config.all_outputs === false ? {} : outputs;
  const kept = isNamed
    ? Object.fromEntries(Object.entries(named).map(([name, own]) => [String(own), outputs[name] ?? '']))
    : all;
  runtime.deployment = { ...dictOf(runtime.deployment), outputs: kept };
}

/** A deployment that this one makes and uses: a component under the name of the original, with outputs. */
export const deploymentProxy = nodeType({
  description: 'A deployment that this one makes and uses, with its outputs',
  derivedFrom: 'cloudify.nodes.Component',
  properties: PROPERTIES,
  poststart: keepOutputs,
  resumable: ['poststart'],
});

/** The same, with the runtime properties of node instances of the deployment. */
export const nodeInstanceProxy = nodeType({
  description: 'A deployment that this one makes and uses, with runtime properties of its node instances',
  derivedFrom: 'cloudify.nodes.DeploymentProxy',
  properties: PROPERTIES,
  async poststart(scope) {
    const runtime = asDict(scope.runtime);
    const wanted = dictOf(fieldAt(scope.properties.resource_config, ['node_instance']));
    const node = fieldAt(wanted, ['node', 'id']);
    const query = {
      deployment_id: deploymentOf(scope),
      ...(typeof node === 'string' ? { node_id: node } : {}),
    };
    const { items } = await scope
      .manager()
      .get<{ items: { id: string; runtime_properties: Dict }[] }>('/node-instances', { query });
    const chosen = items.filter(({ id }) => !wanted.id || id === wanted.id);
    runtime.NodeInstanceProxy = Object.fromEntries(chosen.map((one) => [one.id, one.runtime_properties]));
  },
  resumable: ['poststart'],
});
