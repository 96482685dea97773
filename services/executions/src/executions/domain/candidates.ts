import { isJsonObject, type Json } from '@baton/kernel';
import type { DeploymentModel } from '@baton/task-graph';

/** Sources for names of the deployment's model and of other resources. */
export interface NameSources {
  model(): Promise<DeploymentModel>;
  hasBlueprint(id: string): Promise<boolean>;
  hasDeployment(id: string): Promise<boolean>;
}

/**
 * Returns a function for the values that a parameter of an object type may take (reference/workflows.md 1.2 step 4), in the form
 * that the language's check needs. Names of other deployments and of secrets are checked when they are used.
 */
export function candidateSource(sources: NameSources) {
  return async (type: string, value: Json, query: Record<string, Json>): Promise<Json[]> => {
    const names = await namesOf(type, value, sources);
    const specs = Object.entries(query).find(([name]) => name.endsWith('_specs'))?.[1];
    return isJsonObject(specs ?? null)
      ? names.filter((name) => matchesPattern(String(name), specs as Record<string, Json>))
      : names;
  };
}

async function namesOf(type: string, value: Json, sources: NameSources): Promise<Json[]> {
  const existing = async (has: Promise<boolean>) => ((await has) ? [value] : []);
  switch (type) {
    case 'blueprint_id':
      return await existing(sources.hasBlueprint(String(value)));
    case 'deployment_id':
      return await existing(sources.hasDeployment(String(value)));
    case 'node_id':
      return (await sources.model()).nodes.map((node) => node.id);
    case 'node_type':
      return (await sources.model()).nodes.flatMap((node) => node.type_hierarchy);
    case 'node_instance':
      return (await sources.model()).nodeInstances.map((instance) => instance.id);
    case 'scaling_group':
      return Object.keys((await sources.model()).scalingGroups ?? {});
    case 'operation_name':
      return operationNames(await sources.model());
    default:
      return [value];
  }
}

function operationNames(model: DeploymentModel): string[] {
  return model.nodes.flatMap((node) => [
    ...Object.keys(node.operations),
    ...node.relationships.flatMap((relationship) => [
      ...Object.keys(relationship.source_operations ?? {}),
      ...Object.keys(relationship.target_operations ?? {}),
    ]),
  ]);
}

/** Returns whether a name matches a name_pattern: any of its keys may match (reference/rest-api.md 5.11). */
function matchesPattern(name: string, pattern: Record<string, Json>): boolean {
  const texts = (value: Json | undefined) => [value].flat().filter((text) => typeof text === 'string');
  return (
    texts(pattern.contains).some((text) => name.includes(text)) ||
    texts(pattern.starts_with).some((text) => name.startsWith(text)) ||
    texts(pattern.ends_with).some((text) => name.endsWith(text)) ||
    texts(pattern.equals_to).some((text) => name === text)
  );
}
