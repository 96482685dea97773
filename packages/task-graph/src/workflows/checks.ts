import { driftGraph, statusGraph } from '../build/check-graph';
import { filterInstances } from '../build/filter';
import { flag, graphStage, must, type Program, type Run, SUCCEEDED } from './program';

/** check_status and check_drift (reference workflows.md 1.11). */

export function* checkStatus(run: Run): Program {
  const failure = yield* must(
    graphStage('check_status', () => ({ spec: statusGraph(run.context, checkOf(run, 'check_status')) })),
  );
  return failure ?? SUCCEEDED;
}

export function* checkDrift(run: Run): Program {
  const failure = yield* must(
    graphStage('check_drift', () => ({ spec: driftGraph(run.context, checkOf(run, 'check_drift')) })),
  );
  return failure ?? SUCCEEDED;
}

function checkOf(run: Run, name: string) {
  const instances = filterInstances(run.ix, run.parameters);
  // Types of version 1.3 and 1.4 declare other defaults; after the server's merge the parameter is always present.
  return {
    name,
    instances,
    inOrder: flag(run, 'run_by_dependency_order', name === 'check_drift'),
    ends: 'fail' as const,
  };
}
