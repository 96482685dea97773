import type { UpdateStep } from '@baton/dsl';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { GraphEvent, NodeInstance } from '@baton/task-graph';
import type { Deployment } from './deployment';
import type { Played } from './play';

export interface Expected {
  outcome: 'completed' | 'failed' | 'cancelled' | 'refused';
  /** `message`: a part of the text. */
  error?: { class: string; message?: string } | null;
  error_code?: string;
  calls?: { [label: string]: [number, number] } | null;
  order?: [string, string][] | null;
  instances?: { [node: string]: [string | null, Json][] } | null;
  events?: { [kind: string]: number } | null;
  /** Number of times that each text occurs in events about node instances. */
  messages?: { [text: string]: number };
  /** Per node, each instance's system properties, without times and nulls; ids of instances are replaced by their nodes. */
  system?: { [node: string]: JsonObject[] };
  /** Per node, each instance's relationships: `[type, target node]` in order. */
  relationships?: { [node: string]: [string, string][][] };
  /** Only for an update: `[action, entity_type, entity_id]` in any order. */
  update_steps?: [string, string, Json][];
}

/**
 * Orders that occur in the record by chance: the operations do not depend on each other (a status check without order); they just
 * happened to start in this order.
 */
export const BY_CHANCE = new Set(['check_status host/check_status app', 'check_status lb/check_status app']);

/** Returns all differences from the original's behaviour, one text each. */
export function differences(
  expected: Expected,
  played: Played,
  deployment: Deployment,
  isManager: boolean,
): string[] {
  const found: string[] = [];
  if (expected.outcome !== played.outcome)
    found.push(`outcome ${played.outcome} (${played.error?.message ?? ''}), expected ${expected.outcome}`);
  if (expected.error && expected.error.class !== played.error?.type)
    found.push(`error ${played.error?.type}, expected ${expected.error.class}`);
  if (expected.error?.message && !played.error?.message.includes(expected.error.message))
    found.push(`error "${played.error?.message}", expected "${expected.error.message}"`);
  const calls: { [label: string]: [number, number] } = {};
  for (const { label, isFailed } of played.calls) {
    const count = (calls[label] ??= [0, 0]);
    count[0]++;
    if (isFailed) count[1]++;
  }
  found.push(...diff('calls', calls, expected.calls ?? {}));
  for (const [first, second] of expected.order ?? []) {
    if (BY_CHANCE.has(`${first}/${second}`)) continue;
    const ended = Math.max(...played.calls.filter((c) => c.label === first).map((c) => c.to));
    const began = Math.min(...played.calls.filter((c) => c.label === second).map((c) => c.from));
    if (ended > began) found.push(`order: ${first} ended after ${second} began`);
  }
  if (expected.instances)
    found.push(...diff('instances', instancesOf(deployment), sorted(expected.instances)));
  if (expected.events && played.error?.type !== 'ValueError')
    found.push(...diff('events', eventsOf(played, deployment, isManager), expected.events));
  return [...found, ...modelDifferences(expected, played, deployment)];
}

function modelDifferences(expected: Expected, played: Played, deployment: Deployment): string[] {
  const { nodeInstances } = deployment.model;
  const found: string[] = [];
  if (expected.messages) found.push(...diff('messages', messagesOf(played), expected.messages));
  if (expected.system) {
    const names = new Map(nodeInstances.map((i) => [i.id, i.node_id]));
    const got = perNode(nodeInstances, (i) => timeless(i.system_properties ?? {}, names));
    found.push(...diff('system', got, sorted(expected.system)));
  }
  if (expected.relationships) {
    const got = perNode(nodeInstances, (i) => i.relationships.map((r) => [r.type ?? null, r.target_name]));
    found.push(...diff('relationships', got, sorted(expected.relationships)));
  }
  return found;
}

/** Returns the differences between the expected and the found steps of an update. Workflows are not compared. */
export function stepDifferences(expected: Expected, steps: readonly UpdateStep[]): string[] {
  if (!expected.update_steps) return [];
  const wanted = expected.update_steps.filter(([, type]) => type !== 'workflow').map((s) => canonicalJson(s));
  const got = steps
    .filter((s) => s.entity_type !== 'workflow')
    .map((s) => canonicalJson([s.action, s.entity_type, s.entity_id]));
  return [
    ...wanted.filter((s) => !got.includes(s)).map((s) => `no step ${s}`),
    ...got.filter((s) => !wanted.includes(s)).map((s) => `step ${s} too much`),
  ];
}

function messagesOf({ events }: Played): { [text: string]: number } {
  const counts: { [text: string]: number } = {};
  for (const { type, message } of events)
    if (type === 'workflow_node_event') counts[message] = (counts[message] ?? 0) + 1;
  return counts;
}

function perNode(
  instances: readonly NodeInstance[],
  read: (instance: NodeInstance) => Json,
): { [node: string]: string[] } {
  const found: { [node: string]: Json[] } = {};
  for (const one of instances) (found[one.node_id] ??= []).push(read(one));
  return sorted(found);
}

function timeless(value: Json, names: ReadonlyMap<string, string>): Json {
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key, v]) => key !== 'timestamp' && v !== null);
  return Object.fromEntries(entries.map(([key, v]) => [names.get(key) ?? key, timeless(v, names)]));
}

function instancesOf(deployment: Deployment): { [node: string]: string[] } {
  const found: { [node: string]: [string | null, Json][] } = {};
  for (const { node_id, state, runtime_properties } of deployment.model.nodeInstances) {
    (found[node_id] ??= []).push([state, runtime_properties ?? {}]);
  }
  return sorted(found);
}

function sorted(lists: { [node: string]: Json[] }): { [node: string]: string[] } {
  return Object.fromEntries(
    Object.entries(lists).map(([node, list]) => [node, list.map((x) => canonicalJson(x)).sort()]),
  );
}

/**
 * Counts events by `<type> <operation> <node>`. The in-process engine names no node for relationships and emits no
 * `sending_task`.
 */
function eventsOf(played: Played, deployment: Deployment, isManager: boolean): { [kind: string]: number } {
  const counts: { [kind: string]: number } = { workflow_started: 1 };
  const present = new Set(deployment.model.nodeInstances.map((i) => i.id));
  const add = (kind: string) => void (counts[kind] = (counts[kind] ?? 0) + 1);
  for (const event of played.events) {
    if (event.type === 'sending_task' && !isManager) continue;
    add(kindOf(event, present, isManager));
  }
  add(played.outcome === 'completed' ? 'workflow_succeeded' : `workflow_${played.outcome}`);
  return counts;
}

function kindOf(event: GraphEvent, present: ReadonlySet<string>, isManager: boolean): string {
  const operation = event.operation?.split('.').at(-1);
  if (event.type !== 'workflow_node_event' && !operation) return event.type;
  const isGone = isManager && event.nodeInstanceId !== null && !present.has(event.nodeInstanceId);
  const node = isGone ? null : event.sourceId && !isManager ? '' : event.nodeId;
  return [event.type, operation, node].filter((part) => part !== undefined && part !== null).join(' ');
}

function diff(what: string, got: { [key: string]: unknown }, expected: { [key: string]: unknown }): string[] {
  const keys = [...new Set([...Object.keys(got), ...Object.keys(expected)])];
  return keys.flatMap((key) => {
    const [a, b] = [JSON.stringify(got[key]), JSON.stringify(expected[key])];
    return a === b ? [] : [`${what}: ${key} is ${a}, expected ${b}`];
  });
}
