import type { TestDeployments } from './test-deployments';

/** A deployment of the blueprint hello. */
export interface Hello {
  deploymentId: string;
  /** Ids of its node instances, by node. */
  host: string;
  app: string;
}

export async function deployHello(test: TestDeployments, deploymentId: string): Promise<Hello> {
  await test.create(deploymentId, { blueprint_id: 'hello', inputs: { must: 1 } });
  const { items } = (await test.call('GET', `/node-instances?deployment_id=${deploymentId}`)).body;
  const id = (node: string): string => items.find((i: { node_id: string }) => i.node_id === node).id;
  return { deploymentId, host: id('host'), app: id('app') };
}

export const readInstance = async (test: TestDeployments, id: string) =>
  (await test.call('GET', `/node-instances/${id}`)).body;

/** Makes a state write in the form of the engine. */
export const stateWrite = (nodeInstanceId: string, seq: number, state: string, edits: unknown[] = []) => ({
  nodeInstanceId,
  seq,
  state,
  systemPropertiesJson: edits.length > 0 ? JSON.stringify(edits) : '',
});
