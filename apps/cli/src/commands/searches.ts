import type { OperationId } from '@baton/client';
import { UsageFailure } from '../failure';
import { collectValues } from '../key-values';
import { type Cli, command, noun, type Options, option, type Run, repeated, required } from '../layer/define';
import { fetchItems } from '../layer/fetch-items';
import { listOptions, listQuery } from '../layer/list-options';
import { listCommand } from '../layer/resource';
import { ruleOptions, rulesOf } from '../layer/rules';

/** Kinds that are searched, with their columns. */
const SEARCHES: readonly [kind: string, operation: OperationId, columns: readonly string[]][] = [
  ['blueprints', 'searchBlueprints', ['id', 'state', 'created_at', 'created_by', 'visibility']],
  [
    'deployments',
    'searchDeployments',
    ['id', 'blueprint_id', 'installation_status', 'deployment_status', 'created_at'],
  ],
  ['nodes', 'searchNodes', ['id', 'deployment_id', 'blueprint_id', 'type']],
  ['node-types', 'searchNodeTypes', ['id', 'deployment_id', 'blueprint_id', 'type']],
  ['node-instances', 'searchNodeInstances', ['id', 'node_id', 'deployment_id', 'state']],
  ['capabilities', 'searchCapabilities', ['deployment_id', 'capabilities']],
  ['scaling-groups', 'searchScalingGroups', ['name', 'members', 'deployment_id']],
  ['secrets', 'searchSecrets', ['key', 'visibility', 'created_at', 'created_by']],
  ['workflows', 'searchWorkflows', ['name', 'plugin', 'operation', 'is_available', 'parameters']],
];

/** Summaries: kind -> operation. */
const SUMMARIES: readonly [kind: string, operation: OperationId][] = [
  ['blueprints', 'summarizeBlueprints'],
  ['deployments', 'summarizeDeployments'],
  ['executions', 'summarizeExecutions'],
  ['schedules', 'summarizeExecutionSchedules'],
  ['nodes', 'summarizeNodes'],
  ['node-instances', 'summarizeNodeInstances'],
];

/** `baton search ...`, `baton summary ...`, `baton workflows ...` and `baton evaluate`. */
export function searchCommands(cli: Cli): void {
  const search = noun(cli, 'search', {
    about: 'find objects by filter rules or constraints',
    examples: [
      'search deployments --labels-rule env=prod',
      'search nodes --where deployment_id=web -c name_pattern={contains: [app]}',
    ],
  });
  for (const [kind, operation, columns] of SEARCHES) {
    command(cli, search, {
      name: kind,
      about: `find ${kind.replaceAll('-', ' ')}`,
      uses: [operation],
      options: [
        ...ruleOptions(),
        repeated('-c, --constraint <name=value|file>', 'constraint instead of rules, or a YAML file of them'),
        ...listOptions(operation),
      ],
      run: (run) => runSearch(run, operation, columns),
    });
  }
  summaryCommands(cli);
  workflowCommands(cli);
}

async function runSearch(
  { options, client, out }: Run<OperationId>,
  operation: OperationId,
  columns: readonly string[],
): Promise<void> {
  const request = { query: listQuery(operation, options), body: searchBody(options) };
  out.table((await fetchItems(client, operation, request, options)) as object[], columns);
}

function searchBody(options: Options): object {
  const rules = rulesOf(options);
  if (options.constraint.length === 0) return { filter_rules: rules };
  if (rules.length > 0) throw new UsageFailure('--constraint excludes --labels-rule and --attrs-rule');
  return { constraints: collectValues(options.constraint) };
}

function summaryCommands(cli: Cli): void {
  const summary = noun(cli, 'summary', {
    about: 'count objects by a field',
    examples: ['summary deployments --by blueprint_id', 'summary executions --by status --then workflow_id'],
  });
  for (const [kind, operation] of SUMMARIES) {
    command(cli, summary, {
      name: kind,
      about: `count ${kind.replaceAll('-', ' ')}`,
      uses: [operation],
      isWatched: true,
      options: [
        required('--by <field>', 'field'),
        option('--then <field>', 'second field'),
        ...listOptions(operation),
      ],
      run: async ({ options, client, out }) => {
        const query = {
          ...listQuery(operation, options),
          _target_field: options.by,
          _sub_field: options.then,
        };
        const items = (await fetchItems(client, operation, { query }, options)) as object[];
        out.table(items, [...new Set(items.flatMap((item) => Object.keys(item)))], { name: options.by });
      },
    });
  }
}

function workflowCommands(cli: Cli): void {
  const workflows = noun(cli, 'workflows', {
    alias: 'workflow',
    about: 'workflows of deployments',
    examples: ['workflows list --where id=web', 'workflows list --filter-id production --common-only'],
  });
  listCommand(cli, workflows, {
    columns: ['name', 'plugin', 'operation', 'is_available', 'parameters'],
    name: 'name',
    operation: 'listWorkflows',
    about: 'list the workflows of the deployments that match',
    fields: [{ flags: '-d, --deployment <id>', about: 'of this deployment', field: 'id', key: 'deployment' }],
  });
  command(cli, cli.program, {
    name: 'evaluate',
    about: 'evaluate intrinsic functions in a deployment',
    uses: ['evaluateFunctions'],
    options: [
      required('-d, --deployment <id>', 'deployment'),
      repeated('-p, --payload <name=value|file>', 'function under a name, or a YAML file of them'),
      repeated('--context <name=value|file>', 'node or instance as which they are evaluated'),
    ],
    examples: ['evaluate -d web -p "ip={get_attribute: [app, ip]}"'],
    run: async ({ options, client, out }) => {
      if (options.payload.length === 0) throw new UsageFailure('give --payload');
      const { payload } = await client.call('evaluateFunctions', {
        body: {
          deployment_id: options.deployment,
          payload: collectValues(options.payload),
          ...(options.context.length > 0 ? { context: collectValues(options.context) } : {}),
        },
      });
      out.record(payload as object);
    },
  });
}
