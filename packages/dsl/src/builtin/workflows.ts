import type { BuiltinVersion } from './variant';

/** Workflows of the built-in types (reference 5.7, third table), written from our own table. */
interface BuiltinWorkflow {
  /** Function after `cloudify.plugins.workflows.`; absent: the workflow's name. */
  to?: string;
  active: string | null;
  needs?: string;
  parameters: string[];
}

const text = (value: string): string => `description: ${JSON.stringify(value)}`;
const listOf = (type: string, about = ''): string =>
  `{default: [], ${about && `${text(about)}, `}type: list, item_type: ${type}}`;

/** Parameters that select the nodes of a workflow; 1_3 has no item types. */
function filters(
  version: BuiltinVersion,
  names = ['type_names', 'node_ids', 'node_instance_ids'],
  about: Record<string, string> = {},
): string[] {
  const types: Record<string, string> = {
    type_names: 'node_type',
    node_ids: 'node_id',
    node_instance_ids: 'node_instance',
  };
  return names.map(
    (name) => `${name}: ${version === '1_3' ? '{default: []}' : listOf(types[name]!, about[name])}`,
  );
}

const BY_ORDER = 'run_by_dependency_order: {default: true}';
const UNORDERED = 'run_by_dependency_order: {default: false}';
const IGNORE = 'ignore_failure: {default: false, type: boolean}';
const COMPUTE = 'cloudify.nodes.Compute';
const STARTED = '[all, partial]';
const NOT_ALL = '[none, partial]';

function heal(version: BuiltinVersion): string[] {
  const common = ['diagnose_value: {description: Diagnosed reason of failure, default: Not provided}'];
  if (version === '1_3')
    return [
      'node_instance_id: {description: Which node instance has failed}',
      ...common,
      'ignore_failure: {default: true, type: boolean}',
    ];
  return [
    'node_instance_id: {description: Which node instance has failed, type: node_instance, required: false}',
    ...common,
    'ignore_failure: {default: true, type: boolean}',
    `check_status: {${text('Look at the status of the instance first, and leave it alone when it is well.')}, default: true, type: boolean}`,
    `allow_reinstall: {${text('Reinstall the instance when its heal operation is missing or fails; without this the workflow fails then.')}, default: true, type: boolean}`,
    `force_reinstall: {${text('Do not attempt to run the heal operation even for nodes that do declare it. Instead, reinstall the target instances.\n')}, default: false, type: boolean}`,
  ];
}

const scale = [
  `scalable_entity_name: {${text('Which node/group to scale. Note that the parameter specified should denote the node/group name and NOT the node/group instance id.\n')}}`,
  `delta: {${text('How many node/group instances should be added/removed. A positive number denotes increase of instances. A negative number denotes decrease of instances.\n')}, default: 1, type: integer}`,
  'scale_compute: {description: Scale the host that contains the node., default: false}',
  'include_instances: {description: Instances that go first when the entity shrinks., default: null}',
  'exclude_instances: {description: Instances that stay when the entity shrinks., default: null}',
  IGNORE,
  `rollback_if_failed: {${text('If this is False then no rollback will be triggered when an error occurs during the workflow, otherwise the rollback will be triggered.\n')}, default: true}`,
  `abort_started: {${text('Remove any started deployment modifications created prior to the scaling workflow.\n')}, default: false, type: boolean}`,
];

function installNewAgents(version: BuiltinVersion): string[] {
  return [
    'install_agent_timeout: {default: 300}',
    ...filters(version, ['node_ids', 'node_instance_ids']),
    'install_methods: {default: null}',
    'validate: {default: true, type: boolean}',
    'install: {default: true, type: boolean}',
    "install_script: {default: ''}",
    "manager_ip: {description: The private ip of the new manager, default: ''}",
    "manager_certificate: {description: The cloudify_internal_ca_cert.pem of the new manager, default: ''}",
    'stop_old_agent: {description: Stop the old agent after the new agent is installed, default: false, type: boolean}',
  ];
}

const ROLLBACK_FILTERS = {
  type_names: 'Types of nodes that it is for, derived types included; none means every type.',
  node_ids:
    'A list of node ids. The operation will be executed only on node instances which are instances of these nodes. An empty list means no filtering will take place and all nodes are valid.\n',
  node_instance_ids:
    'A list of node instance ids. The operation will be executed only on the node instances specified. An empty list means no filtering will take place and all node instances are valid.\n',
};

function rollback(version: BuiltinVersion): string[] {
  return [
    ...filters(version, undefined, ROLLBACK_FILTERS),
    version === '1_3'
      ? 'full_rollback: {default: false}'
      : `full_rollback: {${text('Whether rollback to resolved state or full uninstall.\n')}, default: false, type: boolean}`,
  ];
}

function table(version: BuiltinVersion): Record<string, BuiltinWorkflow> {
  const some = filters(version);
  const recursive = version === '1_5' ? ['recursive: {default: false, type: boolean}'] : [];
  const operation =
    version === '1_5'
      ? 'operation: {description: Operation to run., type: operation_name}'
      : 'operation: {description: Operation to run.}';
  return {
    install: { active: NOT_ALL, parameters: some },
    check_status: { active: STARTED, parameters: [UNORDERED, ...some] },
    check_drift: { active: STARTED, parameters: [version === '1_5' ? BY_ORDER : UNORDERED, ...some] },
    uninstall: { active: STARTED, parameters: [IGNORE, ...recursive, ...some] },
    start: { active: NOT_ALL, parameters: ['operation_parms: {default: {}}', BY_ORDER, ...some] },
    reinstall: { active: STARTED, parameters: [IGNORE, ...some] },
    stop: { active: STARTED, parameters: ['operation_parms: {default: {}}', BY_ORDER, ...some] },
    restart: {
      active: STARTED,
      parameters: ['stop_parms: {default: {}}', 'start_parms: {default: {}}', BY_ORDER, ...some],
    },
    execute_operation: {
      active: null,
      parameters: [
        operation,
        'operation_kwargs: {default: {}}',
        'allow_kwargs_override: {default: null}',
        UNORDERED,
        ...some,
      ],
    },
    heal: { to: 'auto_heal_reinstall_node_subgraph', active: STARTED, parameters: heal(version) },
    scale: { to: 'scale_entity', active: STARTED, parameters: scale },
    install_new_agents: { active: STARTED, needs: COMPUTE, parameters: installNewAgents(version) },
    validate_agents: {
      active: STARTED,
      needs: COMPUTE,
      parameters: [
        ...filters(version, ['node_ids', 'node_instance_ids']),
        'install_methods: {default: null}',
      ],
    },
    rollback: { active: STARTED, parameters: rollback(version) },
    pull: { active: STARTED, parameters: ['operation_parms: {default: {}}', BY_ORDER, ...some] },
  };
}

/** Workflows that also run on the deployments of service components; only in the oldest file. */
const CASCADING_1_3 = new Set(['check_status', 'check_drift']);

export function workflowsText(version: BuiltinVersion): string {
  const lines = ['', 'workflows:'];
  for (const [name, workflow] of Object.entries(table(version))) {
    lines.push(
      '',
      `  ${name}:`,
      `    mapping: default_workflows.cloudify.plugins.workflows.${workflow.to ?? name}`,
    );
    if (name !== 'rollback') lines.push(`    is_cascading: ${version === '1_3' && CASCADING_1_3.has(name)}`);
    if (workflow.active !== null && version !== '1_3') {
      lines.push('    availability_rules:', `      node_instances_active: ${workflow.active}`);
      if (workflow.needs) lines.push(`      node_types_required: [${workflow.needs}]`);
    }
    lines.push('    parameters:', ...workflow.parameters.map((p) => `      ${p}`));
  }
  return `${lines.join('\n')}\n`;
}
