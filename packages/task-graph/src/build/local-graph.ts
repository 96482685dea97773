import type { JsonObject } from '@baton/kernel';
import type { GraphSpec } from '../task';
import { addTask, LOCAL_POLICY, sequence } from './draft';
import { type BuildContext, graphSpec } from './lifecycle-graph';

/**
 * Reports steps that were carried out elsewhere as tasks that start and succeed in order. The last one fails with
 * `failure`, if there is one.
 */
export function localGraph(
  context: BuildContext,
  name: string,
  steps: readonly string[],
  failure: string | null = null,
): GraphSpec {
  return graphSpec(context, name, (draft) => {
    const line = sequence(draft);
    for (const [i, step] of steps.entries()) {
      const policy = { ...LOCAL_POLICY, sendTaskEvents: true };
      const payload: JsonObject = failure !== null && i === steps.length - 1 ? { failure } : {};
      line.add([
        addTask(draft, null, { kind: 'local', type: 'LocalWorkflowTask', name: step, payload, policy }),
      ]);
    }
  });
}
