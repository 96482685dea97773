import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { filterInstances } from '../build/filter';
import { operationGraph } from '../build/operation-graph';
import { LIFECYCLE } from '../build/steps';
import { failed, flag, graphStage, must, type Part, type Program, type Run, SUCCEEDED } from './program';

/** execute_operation, start, stop, restart, pull (reference workflows.md 1.8). */

export function* executeOperation(run: Run): Program {
  const operation = String(run.parameters.operation ?? '');
  const part = runOperation(run, operation, {
    kwargs: run.parameters.operation_kwargs,
    mayOverride: flag(run, 'allow_kwargs_override'),
    inOrder: flag(run, 'run_by_dependency_order'),
  });
  return (yield* part) ?? SUCCEEDED;
}

export function* start(run: Run): Program {
  return (yield* lifecycleOperation(run, 'start', 'operation_parms')) ?? SUCCEEDED;
}

export function* stop(run: Run): Program {
  return (yield* lifecycleOperation(run, 'stop', 'operation_parms')) ?? SUCCEEDED;
}

export function* pull(run: Run): Program {
  return (yield* lifecycleOperation(run, 'pull', 'operation_parms')) ?? SUCCEEDED;
}

export function* restart(run: Run): Program {
  const failure = yield* lifecycleOperation(run, 'stop', 'stop_parms');
  if (failure) return failure;
  return (yield* lifecycleOperation(run, 'start', 'start_parms')) ?? SUCCEEDED;
}

function lifecycleOperation(run: Run, name: string, parameter: string): Part {
  return runOperation(run, `${LIFECYCLE}.${name}`, {
    kwargs: run.parameters[parameter],
    mayOverride: true,
    inOrder: flag(run, 'run_by_dependency_order', true),
  });
}

function* runOperation(
  run: Run,
  operation: string,
  options: { kwargs: Json | undefined; mayOverride: boolean; inOrder: boolean },
): Part {
  const kwargs = operationParameters(options.kwargs);
  if (!kwargs)
    return failed('TypeError', `Parameters of an operation are an object, not ${typeof options.kwargs}`);
  const name = `execute_operation_${operation}`;
  return yield* must(
    graphStage(name, () => {
      const instances = filterInstances(run.ix, run.parameters);
      const spec = operationGraph(run.context, { name, operation, instances, ...options, kwargs });
      return spec.ok ? { spec: spec.value } : failed('RuntimeError', spec.error);
    }),
  );
}

/** Parses operation parameters. An empty value means no parameters; null for a value without names. */
function operationParameters(value: Json | undefined): JsonObject | null {
  const isNothing = !value || (Array.isArray(value) && value.length === 0);
  return isNothing ? {} : isJsonObject(value) ? value : null;
}
