import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError, type Client } from '@baton/client';
import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import type { GraphEvent } from '@baton/task-graph';
import { call, followExecution, upload } from '../../harness/session';
import { differences, type Expected } from '../../sim/conformance/compare';
import type { Deployment } from '../../sim/conformance/deployment';
import type { Call, Played } from '../../sim/conformance/play';
import { orderProblems, type ProbeCall, relatedInstances } from './order';
import { type Retries, retriesOf } from './retries';

export interface Step {
  workflow: string;
  parameters?: JsonObject;
  allow_custom?: boolean;
  task_retries?: number | null;
  subgraph_retries?: number | null;
  blueprint?: string;
  /** Only for an update. */
  flags?: JsonObject;
  /** Resumes the execution of the previous step instead of starting `workflow`. */
  resume?: boolean;
  /** Additional fields of the request that starts the execution: dry_run, wait_after_fail, ... */
  request?: JsonObject;
  expect: Expected & { update_state?: string; update_steps?: [string, string, Json][] };
}

export interface Scenario {
  name: string;
  /** `manager`: recorded on a complete manager. */
  by?: string;
  blueprint: string;
  inputs: JsonObject | null;
  steps: Step[];
}

export interface Stage {
  client: Client;
  /** Folder to which the probes write. */
  ledger: string;
  /** Recorded on a complete manager: it refuses requests, and stores events of sending. */
  isManager: boolean;
  setRetries: (wanted: Retries) => Promise<void>;
}

let made = 0;

/** Plays a scenario on its own deployment; returns all differences from the record. */
export async function playScenario(stage: Stage, scenario: Scenario): Promise<string[]> {
  const id = `s${++made}-${scenario.name}`.replace(/^(\d)/, 's$1');
  const { client } = stage;
  await uploadText(client, id, scenario.blueprint);
  await call(client, 'createDeployment', { id }, { blueprint_id: id, inputs: scenario.inputs ?? {} });
  if (!stage.isManager) await clearStates(client, id);
  const found: string[] = [];
  let last = '';
  for (const [i, step] of scenario.steps.entries()) {
    await stage.setRetries(retriesOf(step));
    const { problems, executionId } = await playStep(stage, id, step, i, last);
    last = executionId ?? last;
    found.push(...problems.map((problem) => `step ${i} ${step.workflow}: ${problem}`));
  }
  return found;
}

async function playStep(
  stage: Stage,
  id: string,
  step: Step,
  i: number,
  last: string,
): Promise<{ problems: string[]; executionId?: string }> {
  const before = await instancesOf(stage.client, id);
  const seen = step.resume ? await seenBefore(stage, last) : { calls: 0, events: 0 };
  const started = await start(stage, id, step, i, last);
  if (started instanceof ApiError) return { problems: await refusalProblems(stage, id, step, started) };
  const ended = await followExecution(stage.client, started.executionId);
  const played: Played = {
    outcome: ended.status === 'terminated' ? 'completed' : 'failed',
    // The API shows the text of an error, not the class of the exception.
    error:
      ended.status === 'terminated'
        ? null
        : { type: step.expect.error?.class ?? 'unknown', message: ended.error ?? '' },
    calls: callsOf(stage.ledger, started.executionId).slice(seen.calls),
    events: (await eventsOf(stage.client, started.executionId)).slice(seen.events),
  };
  const deployment = await deploymentOf(stage.client, id);
  // Orders are checked per instance: in a real run the order of unrelated instances is random.
  const problems = differences(
    { ...asStored(step.expect), order: null },
    played,
    deployment,
    stage.isManager,
  );
  const related = relatedInstances([...before, ...deployment.model.nodeInstances]);
  problems.push(...orderProblems(step.expect.order ?? [], played.calls as ProbeCall[], related));
  if (started.updateId) problems.push(...(await updateProblems(stage.client, started.updateId, step)));
  return { problems, executionId: started.executionId };
}

/** Returns the number of calls and events before a resume: a step is compared only with later ones. */
async function seenBefore({ client, ledger }: Stage, executionId: string) {
  return {
    calls: callsOf(ledger, executionId).length,
    events: (await eventsOf(client, executionId)).length,
  };
}

interface Started {
  executionId: string;
  updateId: string | null;
}

async function start(
  stage: Stage,
  id: string,
  step: Step,
  i: number,
  last: string,
): Promise<Started | ApiError> {
  const { client } = stage;
  try {
    if (step.resume) {
      await call(client, 'actOnExecution', { executionId: last }, { action: 'resume' });
      return { executionId: last, updateId: null };
    }
    if (step.workflow === 'update') return await startUpdate(client, id, step, i);
    const execution = await call(
      client,
      'startExecution',
      {},
      {
        deployment_id: id,
        workflow_id: step.workflow,
        parameters: await resolveInstances(client, id, step.parameters ?? {}),
        allow_custom_parameters: step.allow_custom ?? false,
        // The in-process engine had no availability rules.
        force: !stage.isManager,
        ...step.request,
      },
    );
    return { executionId: execution.id, updateId: null };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

async function startUpdate(client: Client, id: string, step: Step, i: number): Promise<Started> {
  const blueprintId = `${id}-update-${i}`;
  if (step.blueprint !== undefined) await uploadText(client, blueprintId, step.blueprint);
  const update = await call(
    client,
    'initiateDeploymentUpdate',
    { deployment_id: id },
    {
      ...(step.blueprint === undefined ? {} : { blueprint_id: blueprintId }),
      ...((await resolveInstances(client, id, step.flags ?? {})) as JsonObject),
    },
  );
  return { executionId: update.execution_id, updateId: update.id };
}

async function refusalProblems(stage: Stage, id: string, step: Step, refused: ApiError): Promise<string[]> {
  const isRefusalExpected = step.expect.outcome === 'refused';
  if (isRefusalExpected) {
    return refused.errorCode === step.expect.error_code
      ? []
      : [`refused as ${refused.errorCode}, expected ${step.expect.error_code}`];
  }
  // A manager refuses requests for which the in-process engine raised an error at the start. It also refuses unknown names, which
  // that engine did not look up (reference workflows.md 1.2, 4): the engine ran and did nothing.
  const isRaised = !stage.isManager && step.expect.error?.class === 'ValueError' && refused.status === 400;
  const isNameless =
    !stage.isManager &&
    step.expect.outcome === 'completed' &&
    Object.keys(step.expect.calls ?? {}).length === 0 &&
    refused.errorCode === 'illegal_execution_parameters_error';
  if (!isRaised && !isNameless) return [`refused: ${refused.errorCode} ${refused.message}`];
  const played: Played = {
    outcome: isNameless ? 'completed' : 'failed',
    error: isNameless ? null : { type: 'ValueError', message: refused.message },
    calls: [],
    events: [],
  };
  if (isNameless) {
    const { instances } = asStored(step.expect);
    const deployment = await deploymentOf(stage.client, id);
    return differences({ outcome: 'completed', instances: instances ?? null }, played, deployment, false);
  }
  return differences(asStored(step.expect), played, await deploymentOf(stage.client, id), stage.isManager);
}

/** Means "no state": workflows skip nothing because of it. */
const NO_STATE = 'none';

/** Removes all states: the in-process engine began without states, while a manager begins with `uninitialized`. */
async function clearStates(client: Client, id: string): Promise<void> {
  for (const { id: instance, version } of await instancesOf(client, id)) {
    await call(client, 'patchNodeInstance', { id: instance }, { state: NO_STATE, version });
  }
}

function asStored(expect: Expected): Expected {
  if (!expect.instances) return expect;
  const instances = Object.entries(expect.instances).map(([node, list]) => [
    node,
    list.map(([state, properties]) => [state ?? NO_STATE, properties] as [string, Json]),
  ]);
  return { ...expect, instances: Object.fromEntries(instances) };
}

async function updateProblems(client: Client, updateId: string, step: Step): Promise<string[]> {
  const update = await call(client, 'getDeploymentUpdate', { update_id: updateId });
  const problems: string[] = [];
  if (step.expect.update_state && update.state !== step.expect.update_state)
    problems.push(`update is ${update.state}, expected ${step.expect.update_state}`);
  const text = (steps: unknown[]) =>
    steps
      .map((one) => JSON.stringify(one))
      .sort()
      .join(' ');
  const steps = (update.steps as { action: string; entity_type: string; entity_id: Json }[])
    .filter((one) => one.entity_type !== 'workflow')
    .map((one) => [one.action, one.entity_type, one.entity_id]);
  if (step.expect.update_steps && text(steps) !== text(step.expect.update_steps))
    problems.push(`steps ${text(steps)}, expected ${text(step.expect.update_steps)}`);
  return problems;
}

async function uploadText(client: Client, id: string, text: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-scenario-'));
  mkdirSync(join(folder, 'blueprint'));
  writeFileSync(join(folder, 'blueprint', 'blueprint.yaml'), text);
  const archive = execFileSync('tar', ['czf', '-', '-C', folder, 'blueprint']);
  rmSync(folder, { recursive: true });
  await upload(client, id, archive);
}

function callsOf(ledger: string, executionId: string): Call[] {
  const file = join(ledger, 'calls.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as Call & { execution: string })
    .filter((one) => one.execution === executionId);
}

async function eventsOf(client: Client, executionId: string): Promise<GraphEvent[]> {
  const query = { execution_id: executionId, type: 'platform_event', _size: 100_000, _sort: '_storage_id' };
  const { items } = await call(client, 'listEvents', {}, undefined, query);
  return (items as Record<string, string | null>[])
    .filter((item) => !/^workflow_(started|succeeded|failed|cancelled)$/.test(item.event_type!))
    .map((item) => ({
      type: item.event_type as GraphEvent['type'],
      message: item.message!,
      idx: -1,
      nodeInstanceId: item.node_instance_id!,
      nodeId: item.node_name!,
      operation: item.operation!,
      sourceId: item.source_id!,
      targetId: item.target_id!,
      errorCauses: null,
    }));
}

async function instancesOf(client: Client, id: string) {
  const query = {
    deployment_id: id,
    _get_all_results: true,
    _include: 'id,node_id,state,runtime_properties,system_properties,relationships,version',
  };
  return (await call(client, 'listNodeInstances', {}, undefined, query)).items;
}

/** Reads the part of a deployment that the comparison needs. */
async function deploymentOf(client: Client, id: string): Promise<Deployment> {
  return { model: { nodes: [], nodeInstances: await instancesOf(client, id) } } as unknown as Deployment;
}

/** Replaces `{"$instance_of": node}` by the id of an instance of that node. */
async function resolveInstances(client: Client, id: string, value: Json): Promise<Json> {
  if (Array.isArray(value)) return await Promise.all(value.map((one) => resolveInstances(client, id, one)));
  if (!isJsonObject(value)) return value;
  if (typeof value.$instance_of === 'string') {
    const all = (await instancesOf(client, id)) as { id: string; node_id: string }[];
    return all.find((instance) => instance.node_id === value.$instance_of)!.id;
  }
  const entries = Object.entries(value).map(
    async ([key, one]) => [key, await resolveInstances(client, id, one)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}
