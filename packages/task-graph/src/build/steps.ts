import type { LifecycleSubject, OperationTemplate } from '../subject';
import type { SuccessHandler } from '../task';

/**
 * An instance's sequence as data: links in order, each a list of parallel items.
 * (Why data first: an empty step is replaced by another message.)
 */
export type Item =
  | { item: 'event'; text: string }
  | { item: 'state'; state: string }
  | { item: 'operation'; template: OperationTemplate; onSuccess?: SuccessHandler }
  | { item: 'relationships'; operation: string; groups: OperationTemplate[][] };

export type Link = Item[];

export const LIFECYCLE = 'cloudify.interfaces.lifecycle';
export const VALIDATION = 'cloudify.interfaces.validation';
export const MONITORING = 'cloudify.interfaces.monitoring';
export const MONITORING_AGENT = 'cloudify.interfaces.monitoring_agent';
export const AGENT = 'cloudify.interfaces.cloudify_agent';
export const HOST = 'cloudify.interfaces.host';
export const RELATIONSHIP_LIFECYCLE = 'cloudify.interfaces.relationship_lifecycle';

export function event(text: string): Item {
  return { item: 'event', text };
}

export function state(name: string): Item {
  return { item: 'state', state: name };
}

/** Returns the operation alone, or nothing when it is not implemented. */
export function operation(subject: LifecycleSubject, name: string, onSuccess?: SuccessHandler): Link[] {
  const template = subject.operations[name];
  return template ? [[{ item: 'operation', template, onSuccess }]] : [];
}

/** Returns `before`, the operation and `after`; nothing when the operation is not implemented. */
export function around(subject: LifecycleSubject, name: string, before: Link, after: Link): Link[] {
  const link = operation(subject, name);
  return link.length === 0 ? [] : [before, ...link, after].filter((l) => l.length > 0);
}

/** Returns `before`, one relationship operation over all relationships and `after`; nothing when none implements it. */
export function overRelationships(
  subject: LifecycleSubject,
  name: string,
  texts: { before: string; after: string },
  isReversed = false,
): Link[] {
  const groups = relationshipGroups(subject, name);
  if (groups.length === 0) return [];
  if (isReversed) groups.reverse();
  return [[event(texts.before)], [{ item: 'relationships', operation: name, groups }], [event(texts.after)]];
}

/** Consecutive relationships to instances of one node form a group: its operations run in parallel. */
function relationshipGroups(subject: LifecycleSubject, name: string): OperationTemplate[][] {
  const groups: OperationTemplate[][] = [];
  let group: OperationTemplate[] = [];
  let node: string | null = null;
  for (const relationship of subject.relationships) {
    if (relationship.targetNode !== node) groups.push((group = []));
    node = relationship.targetNode;
    const { source, target } = relationship.operations[name] ?? {};
    if (source) group.push(source);
    if (target) group.push(target);
  }
  return groups.filter((g) => g.length > 0);
}
