import type { LifecycleSubject } from '../subject';
import { event, type Link, state } from './steps';
import { deletePhase, NO_VALIDATION, stopPhase } from './uninstall-steps';

/** States of half-done instances. */
export const UNRESOLVED = new Set(['creating', 'configuring', 'starting']);

/**
 * Returns the sequence from a half-done state back to the last complete one (reference workflows.md 1.12). For an
 * instance in any other state it only reports that there is nothing to do.
 */
export function rollbackSteps(subject: LifecycleSubject): Link[] {
  const now = subject.state ?? 'unknown';
  const noStop: Link[] = [[NO_VALIDATION], [event(`Rollback Stop: nothing to do, instance state is ${now}`)]];
  const noDelete: Link = [event(`Rollback Delete: nothing to do, instance state is ${now}`)];
  if (!UNRESOLVED.has(now)) return [...noStop, noDelete];
  const end: Link = [event('Rollbacked node instance')];
  if (now === 'starting') return [...stopPhase(subject), [state('configured')], noDelete, end];
  return [...noStop, ...deletePhase(subject), [state('uninitialized')], end];
}
