import { err, type Json, type JsonObject, ok, type Result } from '@baton/kernel';
import { namesOf } from '../build/filter';
import type { NodeInstance } from '../model';
import type { Run } from './program';

/** The request of a scale, checked against the model (reference workflows.md 1.10). */
export interface ScalePlan {
  delta: number;
  /** Name of the scaling group or node whose number of instances changes. */
  entity: string;
  planned: number;
  include: string[];
  exclude: string[];
}

export type ScaleError = { type: 'ValueError' | 'RuntimeError'; message: string };

/** Parses `delta` as a whole number. */
export function readDelta(value: Json | undefined): Result<number, ScaleError> {
  const text = typeof value === 'string' ? value.trim() : value;
  const number =
    typeof text === 'number'
      ? Math.trunc(text)
      : typeof text === 'string' && /^[+-]?\d+$/.test(text)
        ? Number(text)
        : NaN;
  if (Number.isFinite(number)) return ok(number);
  const shown = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return err({ type: 'ValueError', message: `The delta parameter must be a number. Got: ${shown}` });
}

export function planScale(run: Run, delta: number): Result<ScalePlan, ScaleError> {
  const { parameters } = run;
  const name = String(parameters.scalable_entity_name ?? '');
  const include = [...namesOf(parameters.include_instances)];
  const exclude = [...namesOf(parameters.exclude_instances)];
  if (delta > 0 && include.length + exclude.length > 0) {
    return err({ type: 'ValueError', message: 'Instances can only be included or excluded when scaling in' });
  }
  const entity = resolveEntity(run, name);
  if (!entity) return err({ type: 'ValueError', message: `No scalable entity named ${name} was found` });
  const planned = entity.current + delta;
  if (planned < 0) {
    const message = `Provided delta: ${delta} is illegal. current number of instances of entity ${entity.name} is ${entity.current}`;
    return err({ type: 'ValueError', message });
  }
  const problems = checkHints(run, entity, planned, include, exclude);
  if (problems) return err({ type: 'RuntimeError', message: problems });
  return ok({ delta, entity: entity.name, planned, include, exclude });
}

interface Entity {
  name: string;
  current: number;
  isGroup: boolean;
}

/** Finds the scaling group of this name, else the node; with `scale_compute` the node's host instead. */
function resolveEntity(run: Run, name: string): Entity | null {
  const groups = run.input.model.scalingGroups ?? {};
  if (Object.hasOwn(groups, name)) {
    const { properties } = groups[name]!;
    const current = properties.current_instances ?? properties.default_instances ?? 1;
    return { name, current, isGroup: true };
  }
  let node = run.ix.nodes.get(name);
  if (!node) return null;
  const host = run.parameters.scale_compute && node.host_id ? run.ix.nodes.get(node.host_id) : undefined;
  if (host) node = host;
  return { name: node.id, current: node.number_of_instances ?? 1, isGroup: false };
}

/** Text with all problems of the instance lists, and the ids that are allowed; null when there is none. */
function checkHints(
  run: Run,
  entity: Entity,
  planned: number,
  include: string[],
  exclude: string[],
): string | null {
  if (include.length + exclude.length === 0) return null;
  const problems: string[] = [];
  if (run.parameters.scale_compute) {
    problems.push('Cannot include or exclude instances when scale_compute is set.');
  }
  const units = unitsOf(run, entity);
  const unknown = [...include, ...exclude].filter((id) => !units.has(id));
  if (unknown.length > 0)
    problems.push(`These instances do not belong to ${entity.name}: ${unknown.join(', ')}.`);
  const both = include.filter((id) => exclude.includes(id));
  if (both.length > 0) problems.push(`These instances are both included and excluded: ${both.join(', ')}.`);
  const excluded = new Set(exclude.flatMap((id) => units.get(id) ?? []));
  if (planned < excluded.size) {
    problems.push(
      `Of ${entity.name}, ${planned} should stay, but ${excluded.size} are excluded from removal.`,
    );
  }
  if (problems.length === 0) return null;
  return `${problems.join(' ')} Available instances: ${[...units.keys()].join(', ')}`;
}

/** Allowed ids, each with its unit: the instance itself, or its scaling-group instance. */
function unitsOf(run: Run, entity: Entity): Map<string, string> {
  const units = new Map<string, string>();
  for (const instance of run.ix.model.nodeInstances) {
    if (!entity.isGroup && instance.node_id === entity.name) units.set(instance.id, instance.id);
    const unit = entity.isGroup ? groupInstanceOf(instance, entity.name) : null;
    if (!unit) continue;
    units.set(instance.id, unit);
    units.set(unit, unit);
  }
  return units;
}

function groupInstanceOf(instance: NodeInstance, group: string): string | null {
  return instance.scaling_groups?.find((g) => g.name === group)?.id ?? null;
}

/** The change in the format of the modification. */
export function entitiesOf(plan: ScalePlan): JsonObject {
  return {
    [plan.entity]: {
      instances: plan.planned,
      removed_ids_include_hint: plan.include,
      removed_ids_exclude_hint: plan.exclude,
    },
  };
}
