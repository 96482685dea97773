import { isJsonObject } from '@baton/kernel';
import type { NodeInstance } from '../model';
import type { OperationTemplate } from '../subject';
import type { GraphSpec } from '../task';
import { OWN_DRIFT, SOURCE_DRIFT, TARGET_DRIFT } from './check-graph';
import { markedGraph } from './heal-graph';
import type { BuildContext } from './lifecycle-graph';
import { instanceOperation, readRelationship, readSubject } from './read-subject';
import { event, LIFECYCLE, type Link, operation } from './steps';

export const UPDATE_FAILED = 'update_failed';

const OWN_STEPS = ['preupdate', 'update', 'postupdate', 'update_config', 'update_apply', 'update_postapply'];
/** An instance with own drift can be updated in place when it has one of these operations. */
const UPDATING = ['update', 'update_config', 'update_apply'];

/** Updates instances in place, dependent instances after their targets (reference workflows.md 1.13). */
export function updateGraph(
  context: BuildContext,
  name: string,
  instances: readonly NodeInstance[],
  executionId: string,
): GraphSpec {
  return markedGraph(context, instances, {
    name,
    subgraph: (instance) => `update_${instance.id}`,
    onSuccess: [{ edit: 'set', path: [OWN_DRIFT], value: null }],
    onFailure: [{ edit: 'set', path: [UPDATE_FAILED], value: executionId }],
    links: (instance) => updateLinks(context, instance),
  });
}

function updateLinks(context: BuildContext, instance: NodeInstance): Link[] {
  const subject = readSubject(context.ix, context.config, instance);
  const own = hasOwnDrift(instance)
    ? OWN_STEPS.flatMap((op) => operation(subject, `${LIFECYCLE}.${op}`))
    : [];
  const others = context.ix.relationshipsOf(instance).flatMap((r): Link[] => {
    const { source, target } = readRelationship(context.ix, context.config, r).operations.update ?? {};
    const checked: (OperationTemplate | undefined)[] = [
      isChecked(instance.system_properties?.[SOURCE_DRIFT], r.target.id) ? source : undefined,
      isChecked(r.target.system_properties?.[TARGET_DRIFT], instance.id) ? target : undefined,
    ];
    return checked.flatMap((template) => (template ? [[{ item: 'operation' as const, template }]] : []));
  });
  const links = [...own, ...others];
  if (links.length === 0) return [];
  return [[event('Updating node instance')], ...links, [event('Node instance updated')]];
}

export function canUpdateItself(context: BuildContext, instance: NodeInstance): boolean {
  return UPDATING.some(
    (op) => instanceOperation(context.ix, context.config, instance, `${LIFECYCLE}.${op}`) !== null,
  );
}

export function hasOwnDrift(instance: NodeInstance): boolean {
  return isResultTruthy(instance.system_properties?.[OWN_DRIFT]);
}

/** Whether the instance drifted, or the instance's side of one of its relationships. */
export function hasDrift(instance: NodeInstance): boolean {
  return checksOf(instance).some(isResultTruthy);
}

/** Whether one of these checks could not be carried out. */
export function isCheckBroken(instance: NodeInstance): boolean {
  return checksOf(instance).some((check) => isJsonObject(check) && !check.ok);
}

/** Results of drift checks stored with the instance: its own, and those of the relationship sides on it. */
function checksOf(instance: NodeInstance): unknown[] {
  const {
    [OWN_DRIFT]: own,
    [SOURCE_DRIFT]: source,
    [TARGET_DRIFT]: target,
  } = instance.system_properties ?? {};
  const all = [source, target].flatMap((map) => (isJsonObject(map) ? Object.values(map) : []));
  return [own, ...all];
}

/** Whether a check ran on this relationship side, with any result: only then is it updated with its instance. */
function isChecked(map: unknown, id: string): boolean {
  return isJsonObject(map) && Object.hasOwn(map, id);
}

function isResultTruthy(check: unknown): boolean {
  if (!isJsonObject(check)) return false;
  const { result } = check;
  if (Array.isArray(result)) return result.length > 0;
  return isJsonObject(result) ? Object.keys(result).length > 0 : Boolean(result);
}
