import type { ExecutionAction } from '../api/executions';

const ACTIONS: Readonly<Record<string, ExecutionAction[]>> = {
  pending: ['cancel'],
  queued: ['cancel'],
  scheduled: ['cancel'],
  started: ['cancel', 'force-cancel', 'kill'],
  cancelling: ['force-cancel', 'kill'],
  force_cancelling: ['kill'],
  failed: ['resume', 'force-resume'],
  cancelled: ['resume', 'force-resume'],
};

/** Returns the actions that the API accepts in this status, mildest first. */
export const actionsFor = (status: string | null | undefined): readonly ExecutionAction[] =>
  ACTIONS[status ?? ''] ?? [];

/** Whether the action stops operations without a grace period. Such an action asks for confirmation. */
export const isSharp = (action: ExecutionAction): action is 'force-cancel' | 'kill' =>
  action === 'force-cancel' || action === 'kill';
