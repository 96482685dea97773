import type { LifecycleSubject } from '../subject';
import { getsAgent } from './model-index';
import {
  AGENT,
  around,
  event,
  LIFECYCLE,
  type Link,
  MONITORING,
  MONITORING_AGENT,
  operation,
  overRelationships,
  state,
  VALIDATION,
} from './steps';

const STOP_DONE = new Set(['stopped', 'deleting', 'deleted', 'uninitialized', 'configured']);
const STOPPED_SET = new Set(['stopped', 'deleting', 'deleted']);
const DELETE_DONE = new Set(['deleted', 'uninitialized']);
const AMQP_METHODS = new Set(['init_script', 'provided', 'plugin']);

/** Returns the uninstall sequence of one instance from its present state (reference workflows.md 1.7). */
export function uninstallSteps(subject: LifecycleSubject): Link[] {
  const now = subject.state ?? '';
  const links = STOP_DONE.has(now)
    ? [[NO_VALIDATION], [event(`Stop: instance already ${now}`)]]
    : stopPhase(subject);
  if (!STOPPED_SET.has(now)) links.push([state('stopped')]);
  if (DELETE_DONE.has(now)) links.push([event(`Delete: instance already ${now}`)]);
  else links.push(...deletePhase(subject));
  if (now !== 'deleted') links.push([state('deleted'), event('Deleted node instance')]);
  return links;
}

export const NO_VALIDATION = event('Validating node instance after deletion: nothing to do');

/** Steps 1 to 6: from `stopping` to the end of the stop operation. */
export function stopPhase(subject: LifecycleSubject): Link[] {
  const validation = around(
    subject,
    `${VALIDATION}.delete`,
    [event('Validating node instance before deletion')],
    [event('Node instance validated before deletion')],
  );
  const stop = around(subject, `${LIFECYCLE}.stop`, [], [event('Stopped node instance')]);
  return [
    [state('stopping'), event('Stopping node instance')],
    ...(validation.length > 0 ? validation : [[NO_VALIDATION]]),
    ...operation(subject, `${MONITORING}.stop`),
    ...prestop(subject),
    ...hostPreStop(subject),
    ...(stop.length > 0 ? stop : [[event('Stopped node instance: nothing to do')]]),
  ];
}

export function prestop(subject: LifecycleSubject): Link[] {
  return around(
    subject,
    `${LIFECYCLE}.prestop`,
    [event('Prestopping node instance')],
    [event('Node instance prestopped')],
  );
}

/** Steps 8 to 10: unlink, delete, postdelete. */
export function deletePhase(subject: LifecycleSubject): Link[] {
  const texts = { before: 'Unlinking relationships', after: 'Relationships unlinked' };
  const deletes = around(
    subject,
    `${LIFECYCLE}.delete`,
    [state('deleting'), event('Deleting node instance')],
    [],
  );
  return [
    ...overRelationships(subject, 'unlink', texts, true),
    ...(deletes.length > 0 ? deletes : [[event('Deleting node instance: nothing to do')]]),
    ...postdelete(subject),
  ];
}

export function postdelete(subject: LifecycleSubject): Link[] {
  return around(
    subject,
    `${LIFECYCLE}.postdelete`,
    [event('Postdeleting node instance')],
    [event('Node instance postdeleted')],
  );
}

/** Removes monitoring and the agent from a host. */
export function hostPreStop(subject: LifecycleSubject): Link[] {
  if (!subject.isHost) return [];
  const links = [
    ...operation(subject, `${MONITORING_AGENT}.stop`),
    ...operation(subject, `${MONITORING_AGENT}.uninstall`),
  ];
  if (!getsAgent(subject.installMethod)) return links;
  links.push([event('Stopping agent')]);
  if (AMQP_METHODS.has(subject.installMethod)) links.push(...operation(subject, `${AGENT}.stop_amqp`));
  else links.push(...operation(subject, `${AGENT}.stop`));
  links.push([event('Deleting agent')], ...operation(subject, `${AGENT}.delete`), [event('Agent deleted')]);
  return links;
}
