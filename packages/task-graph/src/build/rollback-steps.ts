import type { LifecycleSubject } from '../subject';
import { event, type Link, state } from './steps';
import { deletePhase, stopPhase } from './uninstall-steps';

/** The states in which an instance is half done. */
export const UNRESOLVED = new Set(['creating', 'configuring', 'starting']);

/** Back from a half-done state to the last whole one (reference workflows.md 1.12). */
export function rollbackSteps(subject: LifecycleSubject): Link[] {
  const now = subject.state ?? '';
  if (!UNRESOLVED.has(now)) return [];
  const end = event('Rolled back node instance');
  if (now === 'starting') {
    const nothing = event(`Rollback Delete: nothing to do, instance state is ${now}`);
    return [...stopPhase(subject), [state('configured')], [nothing], [end]];
  }
  const nothing = event(`Rollback Stop: nothing to do, instance state is ${now}`);
  return [[nothing], ...deletePhase(subject), [state('uninitialized')], [end]];
}
