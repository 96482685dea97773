import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { builtinOf, workflowAvailability } from '@baton/task-graph';
import { differences, type Expected } from './compare';
import { createDeployment, type Deployment } from './deployment';
import { mergeParameters } from './parameters';
import { type Played, type ProbeCounts, play } from './play';

/**
 * Holds the engine's mind, without any service, against what the original did: `npx tsx test/sim/conformance/run.ts
 * [name]`. Ends with `N passed, M failed`. The data lie in BATON_SHARED (default ../shared).
 */
interface Step {
  workflow: string;
  parameters?: JsonObject;
  allow_custom?: boolean;
  task_retries?: number | null;
  subgraph_retries?: number | null;
  blueprint?: string;
  flags?: JsonObject;
  expect: Expected;
}

interface Scenario {
  name: string;
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
  for (const [i, step] of scenario.steps.entries()) {
    const played = await runStep(deployment, counts, step, isManager, scenario.inputs ?? {});
    const isAsExpected = played === 'refused' ? step.expect.outcome === 'refused' : null;
    if (isAsExpected === false) found.push(`step ${i} ${step.workflow}: refused`);
    if (played === 'refused') continue;
    found.push(
      ...differences(step.expect, played, deployment, isManager).map(
        (d) => `step ${i} ${step.workflow}: ${d}`,
      ),
    );
  }
  return found;
}

async function runStep(
  deployment: Deployment,
  counts: ProbeCounts,
  step: Step,
  isManager: boolean,
  inputs: JsonObject,
): Promise<Played | 'refused'> {
  const isUpdate = step.workflow === 'update';
  const workflow = deployment.workflows[step.workflow];
  if (!workflow && !isUpdate) return invalid(`no workflow ${step.workflow}`);
  if (
    isManager &&
    workflow &&
    !workflowAvailability(workflow.availability_rules, deployment.model).isAvailable
  )
    return 'refused';
  const given = resolveInstances(deployment, step.parameters ?? {}) as JsonObject;
  const parameters = isUpdate
    ? { ...step.flags, update_id: 'update' }
    : mergeParameters(workflow!, given, step.allow_custom ?? false);
  if ('ok' in parameters && parameters.ok === false) return invalid(String(parameters.error));
  const name = isUpdate ? 'update' : builtinOf(workflow!);
  if (!name) return invalid(`${step.workflow} is not built in`);
  return await play(deployment, counts, {
    workflow: name,
    parameters: isUpdate ? (parameters as JsonObject) : (parameters as { value: JsonObject }).value,
    config: {
      taskRetries: step.task_retries ?? 2,
      taskRetryIntervalMs: 50,
      subgraphRetries: step.subgraph_retries ?? 0,
      waitAfterFailMs: 600_000,
    },
    update: step.blueprint === undefined ? undefined : { text: step.blueprint, inputs },
  });
}

function invalid(message: string): Played {
  return { outcome: 'failed', error: { type: 'ValueError', message }, calls: [], events: [] };
}

/** `{"$instance_of": node}` stands for one instance of that node. */
function resolveInstances(deployment: Deployment, value: Json): Json {
  if (Array.isArray(value)) return value.map((v) => resolveInstances(deployment, v));
  if (!isJsonObject(value)) return value;
  const node = value.$instance_of;
  if (typeof node === 'string') return deployment.model.nodeInstances.find((i) => i.node_id === node)!.id;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, resolveInstances(deployment, v)]));
}

async function main(only: string | undefined): Promise<void> {
  const folder = join(process.env.BATON_SHARED ?? '../shared', 'conformance', 'workflows');
  let passed = 0;
  let failed = 0;
  for (const file of ['scenarios.json', 'manager.json']) {
    const scenarios = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Scenario[];
    for (const scenario of scenarios.filter((s) => only === undefined || s.name === only)) {
      const found = await runScenario(scenario, file === 'manager.json').catch((e: unknown) => [String(e)]);
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

void main(process.argv[2]);
