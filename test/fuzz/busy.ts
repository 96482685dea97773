/**
 * Clients with sensible requests: workflows, cancels, resumes, updates and groups on a few deployments, regardless of the current
 * state of the deployments.
 */
import { letTimePass } from '@baton/testkit/let-time-pass';
import { type Answer, tgz, type World } from '../contract/world';
import type { Random } from '../sim/random';
import { tell } from './findings';

const DEPLOYMENTS = Array.from({ length: 12 }, (_, i) => `busy-${i}`);
/**
 * Time limit of an end. Operations take seconds at most, and their retries follow soon: anything that waits for them is over by
 * then.
 */
const END_MS = 180_000;
const LOOK_MS = 1_000;
const OPEN = ['pending', 'started', 'queued', 'cancelling', 'force_cancelling', 'kill_cancelling'];

/**
 * A blueprint whose operations fail, or hang for a moment, by chance (`busy.op` of test/handlers/odd.js). The second blueprint
 * has another node.
 */
const blueprint = (x: number, lastNode: string): string => `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
plugins: {busy: {executor: central_deployment_agent, install: false}}
dsl_definitions:
  op: &op {implementation: busy.busy.op, max_retries: 2, retry_interval: 0.1}
inputs: {x: {default: ${x}}}
node_types:
  busy.nodes.Node:
    derived_from: cloudify.nodes.Root
    properties: {x: {default: {get_input: x}}}
    interfaces:
      cloudify.interfaces.lifecycle:
        {create: *op, start: *op, stop: *op, delete: *op, check_drift: *op, update: *op}
      cloudify.interfaces.validation: {check_status: *op}
node_templates:
  base: {type: busy.nodes.Node}
  host:
    type: busy.nodes.Node
    relationships: [{type: cloudify.relationships.depends_on, target: base}]
  app:
    type: busy.nodes.Node
    relationships: [{type: cloudify.relationships.contained_in, target: host}]
  ${lastNode}:
    type: busy.nodes.Node
    relationships: [{type: cloudify.relationships.connected_to, target: app}]
groups: {pair: {members: [host, app]}}
policies: {scaled: {type: cloudify.policies.scaling, targets: [pair], properties: {default_instances: 2}}}
`;

const WORKFLOWS = [
  ...['install', 'install', 'uninstall', 'heal', 'scale', 'restart', 'reinstall', 'start', 'stop'],
  ...['execute_operation', 'check_status', 'check_drift', 'rollback', 'pull'],
];

/** Expected errors of requests that compete with each other. A person must explain all other errors. */
const EXPLAINED = [
  /^Task failed: busy\.op|^\d+ operation errors:\nbusy\.op|operation errors?:\s+busy\.op/,
  /is not available now/,
  /^Cannot resume - workflow not resumable/,
  /has a started modification/,
  /was not found/,
  /^Provided delta: -1 is illegal/,
  /^set by a client$/,
];

/** Statuses that clients set on an execution that has not ended. */
const SET = [
  'failed',
  'terminated',
  'cancelled',
  'cancelling',
  'force_cancelling',
  'kill_cancelling',
  'queued',
];

export interface BusyWork {
  /** Sends one request or two. */
  one(): Promise<void>;
  /** Checks that everything it began ends by itself, and that failures have a reason. */
  judge(): Promise<void>;
}

interface Execution {
  id: string;
  status: string;
  workflow_id: string;
  deployment_id: string | null;
  error: string | null;
}

type Ask = (method: string, path: string, body?: object) => Promise<Answer>;
type Deed = () => Promise<unknown>;

export async function busyWork(world: World, random: Random, mayBeDown: boolean): Promise<BusyWork> {
  const ask: Ask = async (method, path, body) => {
    const answer = await world.send('v3.1', method, { path, body });
    if (answer.status >= 500 && !(mayBeDown && typeof answer.body?.error_code === 'string')) {
      const place = `${method} ${path.split('/')[1]}`;
      tell('server error', place, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    }
    return answer;
  };
  const blueprints = { busy1: blueprint(1, 'last'), busy2: blueprint(2, 'other') };
  for (const [id, text] of Object.entries(blueprints))
    await world.send('v3.1', 'PUT', { path: `/blueprints/${id}`, archive: tgz({ 'blueprint.yaml': text }) });
  for (const id of DEPLOYMENTS) await ask('PUT', `/deployments/${id}`, { blueprint_id: 'busy1' });
  const deeds = [...deedsOnExecutions(ask, random), ...deedsOnDeployments(ask, random)];
  const weights = deeds.reduce((sum, [weight]) => sum + weight, 0);
  return {
    one: async () => {
      let left = random.below(weights);
      const [, deed] = deeds.find(([weight]) => (left -= weight) < 0)!;
      await deed();
    },
    judge: () => judge(ask),
  };
}

/** Returns executions of the busy deployments. */
async function listed(ask: Ask, query: string): Promise<Execution[]> {
  const { body } = await ask('GET', `/executions?${query}`);
  return (body?.items ?? []).filter((one: Execution) => one.deployment_id?.startsWith('busy-'));
}

const ofStatuses = (statuses: readonly string[]): string =>
  statuses.map((status) => `status=${status}`).join('&');

/** Returns actions with their weights. */
function deedsOnExecutions(ask: Ask, random: Random): [number, Deed][] {
  const start = (): Promise<unknown> => {
    const workflow_id = random.pick(WORKFLOWS);
    return ask('POST', '/executions', {
      deployment_id: random.pick(DEPLOYMENTS),
      workflow_id,
      parameters: parametersOf(workflow_id, random),
      queue: random.chance(0.5),
      force: random.chance(0.1),
      dry_run: random.chance(0.05),
    });
  };
  const act = async (statuses: readonly string[], actions: readonly string[]): Promise<void> => {
    const found = await listed(ask, `${ofStatuses(statuses)}&_size=50&_sort=-created_at`);
    if (found.length > 0)
      await ask('POST', `/executions/${random.pick(found).id}`, { action: random.pick(actions) });
  };
  const look = async (): Promise<void> => {
    const found = await listed(ask, '_size=20&_sort=-created_at');
    if (found.length === 0) return;
    const { id } = random.pick(found);
    await ask('GET', `/executions/${id}/${random.pick(['why', 'graph'])}`);
    await ask('GET', `/events?execution_id=${id}&_size=50`);
  };
  const set = async (): Promise<void> => {
    const found = await listed(ask, `${ofStatuses(OPEN)}&_size=50&_sort=-created_at`);
    if (found.length > 0)
      await ask('PATCH', `/executions/${random.pick(found).id}`, {
        status: random.pick(SET),
        error: 'set by a client',
      });
  };
  const actOnMany = (): Promise<unknown> => {
    const ids = [random.pick(DEPLOYMENTS), random.pick(DEPLOYMENTS)];
    const filters = ids.map((id) => `deployment_id=${id}`).join('&');
    const action = random.pick(['cancel', 'kill', 'resume', 'force-resume']);
    return ask('POST', `/executions/bulk?${filters}`, { action });
  };
  return [
    [45, start],
    [15, () => act(OPEN.slice(0, 3), ['cancel', 'cancel', 'force-cancel', 'kill'])],
    [8, () => act(['failed', 'cancelled'], ['resume', 'force-resume'])],
    [4, set],
    [2, actOnMany],
    [8, look],
    [6, () => letTimePass(100, 'a client that thinks')],
  ];
}

function parametersOf(workflow: string, random: Random): object {
  if (workflow === 'scale') return { scalable_entity_name: 'pair', delta: random.pick([1, 1, -1]) };
  if (workflow !== 'execute_operation') return {};
  return { operation: 'cloudify.interfaces.lifecycle.start', node_ids: [random.pick(['base', 'host'])] };
}

function deedsOnDeployments(ask: Ask, random: Random): [number, Deed][] {
  const update = (): Promise<unknown> =>
    ask('PUT', `/deployment-updates/${random.pick(DEPLOYMENTS)}/update/initiate`, {
      blueprint_id: random.pick(['busy1', 'busy2']),
      inputs: { x: random.below(9) },
      preview: random.chance(0.2),
    });
  const group = async (): Promise<void> => {
    const ids = [...new Set([random.pick(DEPLOYMENTS), random.pick(DEPLOYMENTS)])];
    await ask('PUT', '/deployment-groups/busy', { deployment_ids: ids });
    const workflow_id = random.pick(['install', 'check_status']);
    await ask('POST', '/execution-groups', { deployment_group_id: 'busy', workflow_id, concurrency: 2 });
  };
  const actOnGroup = async (): Promise<void> => {
    const { body } = await ask('GET', '/execution-groups?_size=10&_sort=-created_at');
    const found: { id: string }[] = body?.items ?? [];
    const action = random.pick(['cancel', 'force-cancel', 'kill', 'resume', 'resume', 'force-resume']);
    if (found.length > 0) await ask('POST', `/execution-groups/${random.pick(found).id}`, { action });
  };
  return [
    [6, update],
    [5, group],
    [4, actOnGroup],
    [2, () => ask('DELETE', `/deployments/${random.pick(DEPLOYMENTS)}?force=true`)],
    [5, () => ask('PUT', `/deployments/${random.pick(DEPLOYMENTS)}`, { blueprint_id: 'busy1' })],
  ];
}

async function judge(ask: Ask): Promise<void> {
  const open = `${ofStatuses(OPEN)}&_size=1000`;
  let left = await listed(ask, open);
  for (
    const until = Date.now() + END_MS;
    left.length > 0 && Date.now() < until;
    await letTimePass(LOOK_MS, 'between two looks')
  )
    left = await listed(ask, open);
  for (const execution of left) {
    const why = await ask('GET', `/executions/${execution.id}/why`);
    tell('does not end by itself', execution.workflow_id, JSON.stringify([execution, why.body]));
  }
  const failed = await listed(ask, 'status=failed&_size=10000');
  const unexplained = failed.filter(({ error }) => !EXPLAINED.some((reason) => reason.test(error ?? '')));
  for (const { id, workflow_id, error } of unexplained)
    tell('unexplained failure', workflow_id, `${id} ${workflow_id}: ${error}`);
  console.log(`busy deployments: ${failed.length} executions failed, ${unexplained.length} unexplained`);
}
