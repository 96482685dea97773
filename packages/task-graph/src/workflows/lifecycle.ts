import { filterInstances, othersThan } from '../build/filter';
import { lifecycleGraphInPieces } from '../build/lifecycle-graph';
import type { NodeInstance } from '../model';
import type { CallRequest } from '../workflow';
import {
  callStage,
  failureOf,
  flag,
  idsOf,
  instancesOf,
  largeGraphStage,
  must,
  type Part,
  type PlannedStage,
  type Program,
  type Run,
  SUCCEEDED,
} from './program';

/** install, uninstall, reinstall (reference workflows.md 1.6 to 1.8). */

export function* install(run: Run): Program {
  const select = () => filterInstances(run.ix, run.parameters);
  return (yield* must(installStage(run, 'install', select))) ?? SUCCEEDED;
}

export function* uninstall(run: Run): Program {
  if (flag(run, 'recursive')) {
    const failure = yield* must(callStage('uninstall-services', () => ({ request: servicesRequest(run) })));
    if (failure) return failure;
  }
  const select = () => filterInstances(run.ix, run.parameters);
  return (yield* must(uninstallStage(run, 'uninstall', select, flag(run, 'ignore_failure')))) ?? SUCCEEDED;
}

/** Runs the same workflow on the deployments below this one; those do the same, so the innermost deployments end first. */
function servicesRequest(run: Run): CallRequest {
  const { deploymentId, workflowId } = run.input;
  const parameters = { ...run.parameters, recursive: true };
  return {
    call: 'run-on-services',
    groupId: `${deploymentId}_services_uninstall`,
    deploymentId,
    workflowId,
    parameters,
  };
}

export function* reinstall(run: Run): Program {
  const select = () => filterInstances(run.ix, run.parameters);
  return (yield* reinstallInstances(run, select, flag(run, 'ignore_failure'))) ?? SUCCEEDED;
}

/**
 * Uninstalls the instances that `select` returns when the first graph is built, then installs the same instances again.
 * Relationships of all other instances, or only of `neighbours`, to them are unlinked and established.
 */
export function* reinstallInstances(
  run: Run,
  select: () => NodeInstance[],
  isIgnoringFailure: boolean,
  neighbours: Neighbours = everyOther(run),
): Part {
  const removal = yield uninstallStage(run, 'reinstall-uninstall', select, isIgnoringFailure, neighbours);
  const failure = failureOf(removal);
  if (failure) return failure;
  const again = () => instancesOf(run, idsOf(removal.memo));
  return yield* must(installStage(run, 'reinstall-install', again, neighbours));
}

/** Of the processed instances of a graph: the instances that stay and are linked to them. */
type Neighbours = (processed: NodeInstance[]) => NodeInstance[];

function everyOther(run: Run): Neighbours {
  return (processed) => othersThan(run.ix, processed);
}

function installStage(
  run: Run,
  name: string,
  select: () => NodeInstance[],
  neighbours: Neighbours = everyOther(run),
): PlannedStage {
  return largeGraphStage(name, function* () {
    const processed = select();
    yield;
    const graph = { name, direction: 'install' as const, processed, intact: neighbours(processed) };
    return { spec: yield* lifecycleGraphInPieces(run.context, graph) };
  });
}

function uninstallStage(
  run: Run,
  name: string,
  select: () => NodeInstance[],
  isIgnoringFailure: boolean,
  neighbours: Neighbours = everyOther(run),
): PlannedStage {
  return largeGraphStage(name, function* () {
    const processed = select();
    yield;
    const spec = yield* lifecycleGraphInPieces(run.context, {
      name,
      direction: 'uninstall',
      processed,
      intact: neighbours(processed),
      isIgnoringFailure,
    });
    return { spec, memo: processed.map((i) => i.id) };
  });
}
