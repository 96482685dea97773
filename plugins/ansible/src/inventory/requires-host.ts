import { FatalError, type InstanceContext } from '@baton/plugin-sdk';
import { type Place, placeOf } from '../settings/place';
import type { TaskScope } from '../settings/task-scope';
import { groupAndName, hostConfigOf, valuesOf } from './host-config';
import { forgetSecrets, withReferences } from './kept-secrets';
import { groupsOf } from './manager-reads';
import { merged, type Sources, sourcesOfHost, without } from './sources';

type Runtime = InstanceContext['runtimeProperties'];
type Target = Place & { target: NonNullable<Place['target']> };

/** Adds the target of a relationship to the inventory in the runtime property `sources` of its source. */
export async function ansibleRequiresHost(scope: TaskScope): Promise<void> {
  const place = await targetOf(scope);
  const added = await sourcesOfTarget(scope, place);
  await change(place.instance, (sources) => merged(sources, added));
  scope.log.info(`${place.node.id} runs its playbook on ${place.target.instance.id}`);
}

/** Takes the target out of the inventory of the source. */
export async function ansibleRemoveHost(scope: TaskScope): Promise<void> {
  const place = await targetOf(scope);
  const { group, name } = groupAndName(
    valuesOf(place.target),
    scope.inputs.group_name,
    scope.inputs.hostname,
  );
  const groups = await groupsOf(scope, place.target.node.id);
  await change(place.instance, (sources) => without(sources, sourcesOfHost(name, {}, group, groups)));
  await forgetSecrets(scope, place, name);
}

/** The inventory that a relationship adds: what its inputs say, else what the target is. */
async function sourcesOfTarget(scope: TaskScope, place: Target): Promise<Sources> {
  const { host_config: given, group_name: groupName, hostname } = scope.inputs;
  const host = valuesOf(place.target);
  const { group, name } = groupAndName(host, groupName, hostname);
  const isGiven = typeof given === 'object' && given !== null && Object.keys(given).length > 0;
  const config = isGiven ? await withReferences(scope, place, given, name, []) : hostConfigOf(host);
  return sourcesOfHost(name, config as Record<string, unknown>, group, await groupsOf(scope, host.nodeId));
}

async function targetOf(scope: TaskScope): Promise<Target> {
  const place = await placeOf(scope.ctx);
  if (place.target === null)
    throw new FatalError('this operation belongs to a relationship: its target is the host');
  return place as Target;
}

/** Changes the inventory. Relationships of one node may do this at the same time. */
async function change(instance: InstanceContext, to: (sources: unknown) => Sources): Promise<void> {
  const changed = (runtime: Runtime): Runtime => ({ ...runtime, sources: to(runtime.sources) as never });
  instance.runtimeProperties = changed(instance.runtimeProperties);
  await instance.update((_, latest) => changed(latest));
}
