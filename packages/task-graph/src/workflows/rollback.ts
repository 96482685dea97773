import { filterInstances, othersThan } from '../build/filter';
import { lifecycleGraph } from '../build/lifecycle-graph';
import { rollbackSteps, UNRESOLVED } from '../build/rollback-steps';
import { flag, graphStage, must, type Program, type Run, SUCCEEDED } from './program';

/** rollback (reference workflows.md 1.12): rolls half-done instances back, then uninstalls everything if requested. */
export function* rollback(run: Run): Program {
  const failure = yield* must(
    graphStage('rollback', () => {
      const processed = filterInstances(run.ix, run.parameters).filter((i) => UNRESOLVED.has(i.state ?? ''));
      const intact = othersThan(run.ix, processed);
      const graph = {
        name: 'rollback',
        direction: 'uninstall' as const,
        isIgnoringFailure: true,
        steps: rollbackSteps,
      };
      return { spec: lifecycleGraph(run.context, { ...graph, processed, intact }) };
    }),
  );
  if (failure || !flag(run, 'full_rollback')) return failure ?? SUCCEEDED;
  const name = 'uninstall-a';
  const second = yield* must(
    graphStage(name, () => {
      const processed = run.ix.model.nodeInstances;
      return { spec: lifecycleGraph(run.context, { name, direction: 'uninstall', processed, intact: [] }) };
    }),
  );
  return second ?? SUCCEEDED;
}
