import type { LifecycleSubject } from '../subject';
import type { FailureHandler, TaskSpec } from '../task';
import { addSubgraph, type Draft, finishDraft, newDraft, sequence } from './draft';
import { emitLinks } from './emit';
import { installSteps } from './install-steps';
import { event } from './steps';
import { uninstallSteps } from './uninstall-steps';

type LifecycleRetry = Extract<FailureHandler, { handler: 'lifecycle-retry' }>;

/**
 * Returns the tasks that run an instance's lifecycle again after its subgraph `failed` (reference workflows.md 2.6),
 * numbered from `from`. The first task is the subgraph that replaces the failed one. After a failed install everything
 * is undone and done again, whatever the present state of the instance; after a failed uninstall that whole uninstall
 * is done again.
 */
export function lifecycleRerun(handler: LifecycleRetry, failed: TaskSpec, from: number): TaskSpec[] {
  const { subject } = handler;
  const draft = newDraft(false);
  const of = { nodeInstanceId: subject.instanceId, nodeId: subject.nodeId };
  const retry = { totalRetries: failed.policy.totalRetries, onFailure: handler };
  if (handler.mode === 'uninstall') {
    const top = addSubgraph(draft, null, subject.instanceId, of, retry);
    emitLinks(draft, top, subject, uninstallSteps(subject), { onFailure: null });
  } else {
    const top = addSubgraph(draft, null, `reinstall_${subject.instanceId}`, of, retry);
    fillReinstall(draft, top, subject);
  }
  const specs = finishDraft(draft, from);
  specs[0] = { ...specs[0]!, retryOf: failed.idx };
  return specs;
}

function fillReinstall(draft: Draft, top: number, subject: LifecycleSubject): void {
  const of = { nodeInstanceId: subject.instanceId, nodeId: subject.nodeId };
  const line = sequence(draft);
  const first = 'Node lifecycle failed. Attempting to re-run node lifecycle';
  emitLinks(draft, top, subject, [[event(first)]], { onFailure: null }, line);
  const whole = { ...subject, state: null };
  const parts = [
    { name: subject.instanceId, links: uninstallSteps(whole) },
    { name: `install_${subject.instanceId}`, links: installSteps(whole) },
  ];
  for (const { name, links } of parts) {
    const part = addSubgraph(draft, top, name, of, { totalRetries: 0, onFailure: null });
    emitLinks(draft, part, subject, links, { onFailure: null });
    line.add([part]);
  }
}
