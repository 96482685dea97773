import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { builtinOf, workflowAvailability } from '@baton/task-graph';
import { differences, type Expected, stepDifferences } from './compare';
import { createDeployment, type Deployment } from './deployment';
import { mergeParameters } from './parameters';
import { type Ended, type Played, type ProbeCounts, play, type Request, resume } from './play';

/**
 * Compares the decisions of the engine, without any service, with the behaviour of the original: `npx tsx
 * test/sim/conformance/run.ts [FILE.json ...] [name]`. Ends with `N passed, M failed`. The data lie in BATON_SHARED (default
 * ../shared).
 */
interface Step {
  workflow: string;
  parameters?: JsonObject;
  allow_custom?: boolean;
  task_retries?: number | null;
  subgraph_retries?: number | null;
  blueprint?: string;
  flags?: JsonObject;
  /** Resumes the execution of the previous step instead of starting `workflow`. */
  resume?: boolean;
  force?: boolean;
  cancel?: Request['cancel'];
  /** Fields of the request that starts the execution. */
  request?: { dry_run?: boolean; wait_after_fail?: number; force?: boolean };
  expect: Expected;
}

interface Scenario {
  name: string;
  /** `manager`: recorded on a complete manager. */
  by?: string;
  blueprint: string;
  inputs: JsonObject | null;
  steps: Step[];
}

async function runScenario(scenario: Scenario, isManager: boolean): Promise<string[]> {
  const deployment = await createDeployment(
    scenario.blueprint,
    scenario.inputs ?? {},
    isManager ? 'uninitialized' : null,
  );
  const counts: ProbeCounts = new Map();
  const found: string[] = [];
  let last: Ended | null = null;
  for (const [i, step] of scenario.steps.entries()) {
    const ended: Ended | Played | 'refused' =
      step.resume && (!last || last.played.outcome === 'completed')
        ? 'refused'
        : step.resume && last
          ? await resume(deployment, counts, last, { isForced: step.force ?? false, cancel: step.cancel })
          : await runStep(deployment, counts, step, isManager, scenario.inputs ?? {});
    const played = ended !== 'refused' && 'played' in ended ? ended.played : ended;
    if (ended !== 'refused' && 'played' in ended) last = ended;
    const isAsExpected = played === 'refused' ? step.expect.outcome === 'refused' : null;
    if (isAsExpected === false) found.push(`step ${i} ${step.workflow}: refused`);
    if (played === 'refused') continue;
    const problems = [
      ...differences(step.expect, played, deployment, isManager),
      ...stepDifferences(step.expect, deployment.steps),
    ];
    found.push(...problems.map((d) => `step ${i} ${step.workflow}: ${d}`));
  }
  return found;
}

async function runStep(
  deployment: Deployment,
  counts: ProbeCounts,
  step: Step,
  isManager: boolean,
  inputs: JsonObject,
): Promise<Ended | Played | 'refused'> {
  const isUpdate = step.workflow === 'update';
  const workflow = deployment.workflows[step.workflow];
  if (!workflow && !isUpdate) return invalid(`no workflow ${step.workflow}`);
  if (
    isManager &&
    !step.request?.force &&
    workflow &&
    !workflowAvailability(workflow.availability_rules, deployment.model).isAvailable
  )
    return 'refused';
  const given = resolveInstances(deployment, step.parameters ?? {}) as JsonObject;
  const parameters = isUpdate
    ? { ...(resolveInstances(deployment, step.flags ?? {}) as JsonObject), update_id: 'update' }
    : mergeParameters(workflow!, given, step.allow_custom ?? false);
  if ('ok' in parameters && parameters.ok === false) return invalid(String(parameters.error));
  const name = isUpdate ? 'update' : builtinOf(workflow!);
  if (!name) return invalid(`${step.workflow} is not built in`);
  return await play(deployment, counts, {
    workflow: name,
    parameters: isUpdate ? (parameters as JsonObject) : (parameters as { value: JsonObject }).value,
    config: {
      tenant: 'default_tenant',
      taskRetries: step.task_retries ?? 2,
      taskRetryIntervalMs: 50,
      subgraphRetries: step.subgraph_retries ?? 0,
      waitAfterFailMs: (step.request?.wait_after_fail ?? 600) * 1000,
    },
    isDryRun: step.request?.dry_run ?? false,
    cancel: step.cancel,
    ...(isUpdate && { update: { text: step.blueprint, inputs } }),
  });
}

function invalid(message: string): Played {
  return { outcome: 'failed', error: { type: 'ValueError', message }, calls: [], events: [] };
}

/** Replaces `{"$instance_of": node}` by the id of an instance of that node. */
function resolveInstances(deployment: Deployment, value: Json): Json {
  if (Array.isArray(value)) return value.map((v) => resolveInstances(deployment, v));
  if (!isJsonObject(value)) return value;
  const node = value.$instance_of;
  if (typeof node === 'string') return deployment.model.nodeInstances.find((i) => i.node_id === node)!.id;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolveInstances(deployment, v)]));
}

/** `FILE.json ...` selects files; any other argument is the name of the only scenario to play. */
async function main(args: string[]): Promise<void> {
  const only = args.find((arg) => !arg.endsWith('.json'));
  const folder = join(process.env.BATON_SHARED ?? '../shared', 'conformance', 'workflows');
  let passed = 0;
  let failed = 0;
  const given = args.filter((arg) => arg.endsWith('.json'));
  const recorded = ['scenarios.json', 'manager.json'].map((name) => join(folder, name));
  for (const file of given.length > 0 ? given : recorded) {
    const scenarios = JSON.parse(readFileSync(file, 'utf8')) as Scenario[];
    for (const scenario of scenarios.filter((s) => only === undefined || s.name === only)) {
      const isManager = scenario.by === 'manager' || file.endsWith('manager.json');
      const found = await runScenario(scenario, isManager).catch((e: unknown) => [String(e)]);
      if (found.length === 0) passed++;
      else {
        failed++;
        console.log(`${scenario.name}:\n  ${found.join('\n  ')}`);
      }
    }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

void main(process.argv.slice(2));
