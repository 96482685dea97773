import { isoInstant, type Json } from '@baton/kernel';
import type { TaskNode } from './graph';
import { emitNodeEvent, emitWorkflowEvent } from './messages';
import type { Step } from './step';
import type { DriftSlot, SystemPropertyEdit } from './task';

/** Effects of tasks and handlers outside the graph: instance states, system properties, free events. */

/** Carries out a local task. It cannot fail. */
export function runLocal(step: Step, node: TaskNode): void {
  const { spec } = node;
  if (spec.kind === 'set-state') {
    if (!step.graph.dryRun) setState(step, spec.payload.nodeInstanceId, spec.payload.state);
  } else if (spec.kind === 'node-event') emitNodeEvent(step, spec, spec.payload.event);
  else if (spec.kind === 'workflow-event')
    emitWorkflowEvent(step, spec, spec.payload.event, spec.payload.eventType);
}

/** Sets the state, and the status values that this state implies (reference workflows.md 1.11). */
function setState(step: Step, nodeInstanceId: string, state: string): void {
  step.decision.instanceStates.push({ nodeInstanceId, state });
  const fine = { ok: true, result: null, task: null, timestamp: isoInstant(step.now) };
  if (state === 'configured') {
    edit(step, nodeInstanceId, [{ edit: 'set', path: ['configuration_drift'], value: fine }]);
  }
  if (state === 'started') {
    edit(step, nodeInstanceId, [
      { edit: 'set', path: ['previous_status'], value: null },
      { edit: 'set', path: ['status'], value: fine },
    ]);
  }
}

export function edit(step: Step, nodeInstanceId: string, edits: SystemPropertyEdit[]): void {
  step.decision.systemProperties.push({ nodeInstanceId, edits });
}

/** Records the outcome of a status check; the old outcome moves to `previous_status`. */
export function recordStatus(step: Step, node: TaskNode, isOk: boolean): void {
  if (node.spec.kind !== 'operation') return;
  edit(step, node.spec.payload.nodeInstanceId, [
    { edit: 'copy', from: ['status'], to: ['previous_status'] },
    { edit: 'set', path: ['status'], value: checkValue(step, node, isOk) },
  ]);
}

export function recordDrift(step: Step, node: TaskNode, isOk: boolean, slot: DriftSlot): void {
  edit(step, slot.nodeInstanceId, [{ edit: 'set', path: slot.path, value: checkValue(step, node, isOk) }]);
}

function checkValue(step: Step, node: TaskNode, isOk: boolean): Json {
  return {
    ok: isOk,
    timestamp: isoInstant(step.now),
    task: node.spec.name,
    result: isOk ? node.result : (node.error?.message ?? null),
  };
}
