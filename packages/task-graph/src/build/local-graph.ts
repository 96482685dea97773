import type { GraphSpec } from '../task';
import { addTask, LOCAL_POLICY, sequence } from './draft';
import { type BuildContext, graphSpec } from './lifecycle-graph';

/** Steps that were carried out elsewhere, told as tasks that start and succeed one after the other. */
export function localGraph(context: BuildContext, name: string, steps: readonly string[]): GraphSpec {
  return graphSpec(context, name, (draft) => {
    const line = sequence(draft);
    for (const step of steps) {
      const policy = { ...LOCAL_POLICY, sendTaskEvents: true };
      line.add([
        addTask(draft, null, { kind: 'local', type: 'LocalWorkflowTask', name: step, payload: {}, policy }),
      ]);
    }
  });
}
