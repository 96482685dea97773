import { defineMachine } from '@baton/kernel';
import type { SnapshotService } from './snapshot-archive';

export type JobState = 'waiting' | 'preparing' | 'switching' | 'cleaning' | 'ended';
export type JobEvent = 'executionStarted' | 'decidedToSwitch' | 'decidedOutcome' | 'cleaned';

/**
 * States of work on a snapshot. docs/adr/0012-snapshots.md says for each state what follows when a process dies in it. @public
 * (drawn in docs/generated)
 */
export const jobMachine = defineMachine<JobState, JobEvent>({
  name: 'snapshot-job',
  initial: 'waiting',
  terminal: ['ended'],
  on: {
    waiting: { executionStarted: 'preparing', decidedOutcome: 'cleaning' },
    preparing: { decidedToSwitch: 'switching', decidedOutcome: 'cleaning' },
    switching: { decidedOutcome: 'cleaning' },
    cleaning: { cleaned: 'ended' },
    ended: {},
  },
});

export interface JobOutcome {
  status: 'terminated' | 'failed' | 'cancelled';
  error: string;
}

export interface CreateOptions {
  includeEvents: boolean;
  includeLogs: boolean;
  includeCredentials: boolean;
  mayQueue: boolean;
  /** Parameters shown on the execution. */
  parameters: Record<string, unknown>;
}

export interface RestoreOptions {
  isForced: boolean;
  isDryRun: boolean;
  timeoutS: number;
  parameters: Record<string, unknown>;
}

/** The state that each service switches to: RestoreRequest of proto/snapshots/v1 as JSON. */
export type SwitchPlan = Partial<Record<SnapshotService, object>>;

/**
 * The most attempts to prepare a restore; a crash begins a new attempt. After so many attempts, the job itself is assumed to end
 * the process.
 */
export const MAX_ATTEMPTS = 5;
