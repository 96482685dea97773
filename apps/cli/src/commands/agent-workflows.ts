/** `agents validate` and `agents install`: the workflows validate_agents and install_new_agents of each deployment that has agents. */
import { ApiError, type ItemOf } from '@baton/client';
import { newId } from '@baton/kernel';
import type { Command } from 'commander';
import { exitCodes } from '../exit-codes';
import { CommandFailure, errorText } from '../failure';
import { followExecution, followOf, followOptions } from '../follow';
import { type Cli, command, number, type Options, option, type Run, repeated } from '../layer/define';
import { pemFile } from '../pem-file';

/** Options that choose agents, with the filters of GET /agents. */
export const AGENT_FILTERS = [
  {
    flags: '--deployment-id <id>',
    about: 'only of this deployment',
    field: 'deployment_id',
    key: 'deploymentId',
  },
  { flags: '--node-id <id>', about: 'only of this node', field: 'node_ids', key: 'nodeId' },
  {
    flags: '--node-instance-id <id>',
    about: 'only of this node instance',
    field: 'node_instance_ids',
    key: 'nodeInstanceId',
  },
  {
    flags: '--install-methods <method>',
    about: 'only installed this way: remote, init_script, plugin or provided',
    field: 'install_methods',
    key: 'installMethods',
  },
] as const;

/** Deployments whose executions are started at the same time; the manager queues what it cannot run yet. */
const AT_ONCE = 4;
const USES = ['listAgents', 'startExecution', 'streamEvents'] as const;
type WorkflowRun = Run<(typeof USES)[number]>;

const choosing = () => [
  ...AGENT_FILTERS.map(({ flags, about }) => repeated(flags, about)),
  option('-a, --all-tenants', 'of all tenants that you may see; it waits for none of the executions'),
  ...followOptions(),
];

export function agentWorkflowCommands(cli: Cli, agents: Command): void {
  command(cli, agents, {
    name: 'validate',
    about: 'check that agents are connected and can run operations (workflow validate_agents)',
    uses: USES,
    options: choosing(),
    examples: ['agents validate --deployment-id web', 'agents validate --all-tenants'],
    run: (run) => runWorkflow(run, 'validate_agents', {}),
  });
  command(cli, agents, {
    name: 'install',
    about:
      'upgrade connected agents, and install others anew over SSH, on hosts that are started (workflow install_new_agents)',
    uses: USES,
    options: [
      ...choosing(),
      option(
        '--stop-old-agent',
        'parameter of the workflow; agents of this manager never run twice on a host',
      ),
      option(
        '--manager-ip <address>',
        'parameter of the workflow; agents of this manager know its addresses themselves',
      ),
      option(
        '--manager-certificate <file>',
        'parameter of the workflow, a PEM file; agents of this manager get its authorities with their script',
      ),
      number('--install-agent-timeout <seconds>', 'time for one agent'),
    ],
    examples: ['agents install --deployment-id web --stop-old-agent'],
    run: (run) => runWorkflow(run, 'install_new_agents', installParameters(run.options)),
  });
}

/** Only what was given: the workflow has defaults of its own. */
function installParameters(options: Options): Record<string, unknown> {
  const { stopOldAgent, managerIp, managerCertificate, installAgentTimeout } = options;
  return {
    ...(stopOldAgent ? { stop_old_agent: true } : {}),
    ...(managerIp === undefined ? {} : { manager_ip: managerIp }),
    ...(managerCertificate === undefined ? {} : { manager_certificate: pemFile(managerCertificate) }),
    ...(installAgentTimeout === undefined ? {} : { install_agent_timeout: installAgentTimeout }),
  };
}

interface Target {
  tenant: string;
  deployment: string;
  /** Hosts whose agents match; none: the deployment was named, and has no agent that is entered. */
  instances: string[];
}

interface Outcome {
  deployment: string;
  tenant: string;
  /** Null where the manager refused the start. */
  execution_id: string | null;
  status: string;
  error: string | null;
}

/** @returns the exit code: that of a failed execution, or of a refusal, when there was one */
async function runWorkflow(
  run: WorkflowRun,
  workflow: string,
  parameters: Record<string, unknown>,
): Promise<number> {
  const targets = await targetsOf(run);
  const started = await startAll(run, workflow, parameters, targets);
  const outcomes: Outcome[] = [];
  for (const one of started) outcomes.push(await endOf(run, one));
  run.out.table(outcomes, ['deployment', 'tenant', 'execution_id', 'status', 'error'], {
    name: 'execution_id',
  });
  if (outcomes.some(({ execution_id }) => execution_id === null)) return exitCodes.refused;
  const hasFailed = outcomes.some(({ status }) => status === 'failed' || status === 'cancelled');
  return hasFailed ? exitCodes.executionFailed : exitCodes.done;
}

/** @throws CommandFailure when no agent matches */
async function targetsOf({ options, client, session }: WorkflowRun): Promise<Target[]> {
  const { deploymentId, nodeId, nodeInstanceId, installMethods } = options;
  const query = {
    _all_tenants: options.allTenants,
    deployment_id: deploymentId,
    node_ids: nodeId,
    node_instance_ids: nodeInstanceId,
    install_methods: installMethods,
  };
  const found = new Map<string, Target>();
  const targetOf = (tenant: string, deployment: string): Target => {
    const key = JSON.stringify([tenant, deployment]);
    const target = found.get(key) ?? { tenant, deployment, instances: [] };
    found.set(key, target);
    return target;
  };
  for await (const agent of client.all('listAgents', { query })) {
    const { tenant_name, deployment, id } = agent as ItemOf<'listAgents'>;
    targetOf(tenant_name, deployment).instances.push(id);
  }
  // A named deployment is asked even where no agent of it is entered, as after an installation that failed.
  if (isWhole(options)) for (const id of deploymentId) targetOf(session.tenant, id);
  if (found.size > 0) return [...found.values()];
  throw new CommandFailure(
    'no agent matches; `baton agents list` shows those of the tenant, --all-tenants those of all tenants',
    exitCodes.notFound,
  );
}

/** Whether whole deployments are meant, and not some of their hosts. */
const isWhole = ({ nodeId, nodeInstanceId }: Options): boolean =>
  nodeId.length === 0 && nodeInstanceId.length === 0;

async function startAll(
  run: WorkflowRun,
  workflow: string,
  parameters: Record<string, unknown>,
  targets: readonly Target[],
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let i = 0; i < targets.length; i += AT_ONCE) {
    const part = targets.slice(i, i + AT_ONCE);
    outcomes.push(...(await Promise.all(part.map((target) => startOne(run, workflow, parameters, target)))));
  }
  return outcomes;
}

/** A refusal of one deployment does not stop the others. */
async function startOne(
  { client, options }: WorkflowRun,
  workflow: string,
  parameters: Record<string, unknown>,
  { tenant, deployment, instances }: Target,
): Promise<Outcome> {
  const place = { deployment, tenant };
  try {
    const { id, status } = await client.call('startExecution', {
      tenant,
      idempotencyKey: newId(),
      body: {
        workflow_id: workflow,
        deployment_id: deployment,
        parameters: {
          // Without names the workflow leaves out some methods, such as provided: a success would say nothing of these agents.
          ...(instances.length > 0 ? { node_instance_ids: instances } : {}),
          ...(options.installMethods.length > 0 ? { install_methods: options.installMethods } : {}),
          ...parameters,
        },
        // As the original's command does: older blueprints declare fewer parameters.
        allow_custom_parameters: true,
      },
    });
    return { ...place, execution_id: id!, status: status!, error: null };
  } catch (error) {
    // Without the manager there is nothing to go on with.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return { ...place, execution_id: null, status: 'refused', error: errorText(error) };
  }
}

/** Follows an execution to its end, unless nobody waits for it. The stream of events belongs to the tenant of the session. */
async function endOf(run: WorkflowRun, started: Outcome): Promise<Outcome> {
  const { options, out, session } = run;
  if (started.execution_id === null || options.detach || started.tenant !== session.tenant) return started;
  out.say(`Execution ${started.execution_id} on ${started.deployment}`);
  // The table at the end is the result: one document, also of several executions.
  const follower = { ...run, out: { ...out, done: () => undefined } };
  try {
    await followExecution(follower, started.execution_id, followOf(options));
    return { ...started, status: 'terminated' };
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exitCode !== exitCodes.executionFailed) throw error;
    const { status, error: reason } = error.result as { status: string; error: string | null };
    return { ...started, status, error: reason };
  }
}
