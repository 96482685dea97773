import { defineMachine } from '@baton/kernel';

/** States of a stored operation (reference workflows.md 2.1). */
export type OperationState =
  | 'pending'
  | 'sending'
  | 'sent'
  | 'started'
  | 'rescheduled'
  | 'response-sent'
  | 'succeeded'
  | 'failed';

export type OperationEvent =
  | 'send'
  | 'dispatch'
  | 'start'
  | 'succeed'
  | 'fail'
  | 'reschedule'
  | 'lose'
  | 'answer-late';

/**
 * The states of one task. Only a resume leaves a terminal state; a resume is a reset, not an event of the machine.
 * `lose` = the worker's lease ran out; `answer-late` = the result came after the graph had ended (cancelled).
 */
export const operationMachine = defineMachine<OperationState, OperationEvent>({
  name: 'operation',
  initial: 'pending',
  terminal: ['rescheduled', 'succeeded', 'failed'],
  on: {
    pending: { send: 'sending', dispatch: 'sent', start: 'started', succeed: 'succeeded', fail: 'failed' },
    sending: { dispatch: 'sent', lose: 'pending' },
    sent: {
      start: 'started',
      succeed: 'succeeded',
      fail: 'failed',
      reschedule: 'rescheduled',
      lose: 'pending',
      'answer-late': 'response-sent',
    },
    started: {
      succeed: 'succeeded',
      fail: 'failed',
      reschedule: 'rescheduled',
      lose: 'pending',
      'answer-late': 'response-sent',
    },
    'response-sent': { succeed: 'succeeded', fail: 'failed', reschedule: 'rescheduled', lose: 'pending' },
    rescheduled: {},
    succeeded: {},
    failed: {},
  },
});

/** States of an execution (reference workflows.md 3.1). */
export type ExecutionStatus =
  | 'pending'
  | 'started'
  | 'terminated'
  | 'failed'
  | 'cancelled'
  | 'cancelling'
  | 'force_cancelling'
  | 'kill_cancelling'
  | 'queued'
  | 'scheduled';

export type ExecutionEvent =
  | 'queue'
  | 'dequeue'
  | 'schedule'
  | 'begin'
  | 'finish'
  | 'fail'
  | 'cancel'
  | 'force-cancel'
  | 'kill'
  | 'cancelled';

/**
 * The states of one execution (reference workflows.md 3.1, 2.10). A resume of a failed or cancelled execution is a
 * reset to pending outside this table. The kill of a cancelled execution removes its leftovers without a change of
 * state.
 */
export const executionMachine = defineMachine<ExecutionStatus, ExecutionEvent>({
  name: 'execution',
  initial: 'pending',
  terminal: ['terminated', 'failed', 'cancelled'],
  on: {
    pending: {
      queue: 'queued',
      schedule: 'scheduled',
      begin: 'started',
      fail: 'failed',
      cancel: 'cancelling',
      'force-cancel': 'force_cancelling',
      kill: 'kill_cancelling',
      cancelled: 'cancelled',
    },
    scheduled: {
      queue: 'queued',
      dequeue: 'pending',
      fail: 'failed',
      cancel: 'cancelled',
      'force-cancel': 'cancelled',
      kill: 'cancelled',
    },
    queued: {
      dequeue: 'pending',
      fail: 'failed',
      cancel: 'cancelled',
      'force-cancel': 'cancelled',
      kill: 'cancelled',
    },
    started: {
      finish: 'terminated',
      fail: 'failed',
      cancel: 'cancelling',
      'force-cancel': 'force_cancelling',
      kill: 'kill_cancelling',
      cancelled: 'cancelled',
    },
    cancelling: {
      fail: 'failed',
      'force-cancel': 'force_cancelling',
      kill: 'kill_cancelling',
      cancelled: 'cancelled',
    },
    force_cancelling: { fail: 'failed', kill: 'kill_cancelling', cancelled: 'cancelled' },
    kill_cancelling: { fail: 'failed', cancelled: 'cancelled' },
    terminated: {},
    failed: {},
    cancelled: {},
  },
});
