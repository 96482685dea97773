import { gzipSync } from 'node:zlib';
import { shapeItem } from '../model/shape-item';
import type { Item, RecordType } from '../model/types';
import type { ValueObject } from '../value';
import { tarOf } from './tar';

export type Items = { [T in RecordType]?: Item<T>[] };

/** What a made archive holds, in the shape that the reader yields. */
export interface Estate {
  manager: Pick<Items, 'tenants' | 'permissions' | 'user_groups' | 'users'>;
  tenants: Record<string, Items>;
  /** Archives of blueprints and files of plugins and working folders, by type/tenant/id. */
  blobs: Record<string, Record<string, Buffer>>;
  hashSalt: string;
  /** 64 bytes as url-safe base64. */
  encryptionKey: string;
}

/** An item with the fields that are given, and the fillings of its type for the others. */
function item<T extends RecordType>(type: T, raw: ValueObject): Item<T> {
  const shaped = shapeItem(type, raw);
  if ('problem' in shaped) throw new Error(`${type}: ${shaped.problem}`);
  return shaped.item;
}

const AT = '2021-03-04T05:06:07.123Z';
const by = { created_by: 'admin', created_at: AT };
const INSTALL = 'aaaaaaaa-0000-4000-8000-000000000001';
const CREATE_SNAPSHOT = 'aaaaaaaa-0000-4000-8000-000000000009';
export const SNAPSHOT_EXECUTION = CREATE_SNAPSHOT;
const PLUGIN = 'bbbbbbbb-0000-4000-8000-000000000001';
const GROUP_RUN = 'cccccccc-0000-4000-8000-000000000001';
/** Of the password `admin`, with the salt of the estate; passlib wrote it. */
const PASSWORD = '$pbkdf2-sha256$29000$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc';

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
inputs: {greeting: {default: hi}}
node_templates:
  host: {type: cloudify.nodes.Root}
  app:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.contained_in, target: host}]
`;

function managerOf(): Estate['manager'] {
  return {
    tenants: ['default_tenant', 'empty', 'second'].map((name) => item('tenants', { name })),
    permissions: [],
    user_groups: [
      item('user_groups', {
        name: 'team',
        ldap_dn: 'cn=team,dc=example',
        role: 'default',
        tenants: { second: 'viewer' },
      }),
    ],
    users: [
      item('users', {
        username: 'admin',
        role: 'sys_admin',
        password_hash: PASSWORD,
        tenants: { default_tenant: 'user' },
        created_at: AT,
      }),
      item('users', {
        username: 'zoë',
        role: 'default',
        password_hash: PASSWORD,
        tenants: { second: 'manager' },
        groups: ['team'],
        created_at: AT,
        last_login_at: AT,
      }),
    ],
  };
}

function catalogOf(): Items {
  return {
    sites: [
      item('sites', { name: 'Zürich', ...by, location: '47.37, 8.54' }),
      item('sites', { name: 'nowhere', ...by }),
    ],
    plugins: [item('plugins', { id: PLUGIN, title: 'demo', created_by: 'admin', uploaded_at: AT })],
    secrets: [
      item('secrets', { key: 'password', ...by, value: 'canary-secret ☃', is_hidden_value: true }),
      item('secrets', { key: 'multi', ...by, value: 'line one\nline\ttwo\\', visibility: 'global' }),
    ],
    blueprints: [
      item('blueprints', {
        id: 'shop',
        ...by,
        main_file_name: 'blueprint.yaml',
        plan: {
          inputs: { greeting: { default: 'hi' } },
          nodes: [{ name: 'host', type: 'cloudify.nodes.Root' }],
        },
        description: 'a shop\r\nwith \\N and \\. in it',
        labels: [{ key: 'team', value: 'a b', created_at: AT, created_by: 'admin' }],
      }),
    ],
    deployments_filters: [
      item('deployments_filters', {
        id: 'prod',
        ...by,
        value: [{ key: 'env', values: ['prod'], operator: 'any_of', type: 'label' }],
      }),
    ],
    blueprints_filters: [item('blueprints_filters', { id: 'mine', ...by, value: [] })],
  };
}

function modelOf(): Items {
  const instance = (id: string, node: string, raw: ValueObject) =>
    item('node_instances', {
      id,
      node_id: node,
      deployment_id: 'web',
      created_by: 'admin',
      state: 'started',
      index: 1,
      ...raw,
    });
  return {
    deployments: [
      item('deployments', {
        id: 'web',
        ...by,
        blueprint_id: 'shop',
        site_name: 'Zürich',
        display_name: 'web',
        inputs: { greeting: 'canary-input', count: 3, ratio: 0.5, none: null },
        outputs: { url: { value: { get_attribute: ['app', 'url'] } } },
        workflows: [{ name: 'install', plugin: 'default_workflows' }],
        labels: [{ key: 'env', value: 'prod', created_at: AT, created_by: 'zoë' }],
      }),
      item('deployments', { id: 'db', ...by, blueprint_id: 'shop', display_name: 'db' }),
    ],
    deployment_groups: [
      item('deployment_groups', {
        id: 'all',
        ...by,
        description: 'all of them',
        default_blueprint_id: 'shop',
        default_inputs: { a: 1 },
        deployment_ids: ['web', 'db'],
      }),
    ],
    nodes: [
      item('nodes', {
        deployment_id: 'web',
        id: 'host',
        created_by: 'admin',
        type: 'cloudify.nodes.Root',
        type_hierarchy: ['cloudify.nodes.Root'],
        properties: { use_external_resource: false },
      }),
      item('nodes', {
        deployment_id: 'web',
        id: 'app',
        created_by: 'admin',
        type: 'cloudify.nodes.Root',
        host_id: 'host',
        planned_number_of_instances: 2,
        relationships: [{ target_id: 'host', type: 'cloudify.relationships.contained_in' }],
        operations: { create: { plugin: 'script', operation: 'script_runner.tasks.run', inputs: {} } },
      }),
    ],
    node_instances: [
      instance('host_a1', 'host', {
        runtime_properties: { cloudify_agent: { name: 'host_a1', ip: '10.0.0.5' }, size: 2 ** 40 },
      }),
      instance('app_b1', 'app', {
        host_id: 'host_a1',
        relationships: [
          { target_id: 'host_a1', target_name: 'host', type: 'cloudify.relationships.contained_in' },
        ],
        runtime_properties: {
          url: 'http://10.0.0.5/ü',
          tab: 'a\tb',
          nested: { list: [1, [2, { three: null }]] },
        },
      }),
    ],
    agents: [
      item('agents', {
        id: 'host_a1',
        ...by,
        deployment_id: 'web',
        node_instance_id: 'host_a1',
        state: 'started',
        ip: '10.0.0.5',
        install_method: 'remote',
        version: '6.4.2',
      }),
    ],
    inter_deployment_dependencies: [
      item('inter_deployment_dependencies', {
        id: 'dddddddd-0000-4000-8000-000000000001',
        ...by,
        dependency_creator: 'nodes.app.operations',
        source_deployment_id: 'web',
        target_deployment_id: 'db',
        target_deployment_func: { function: { get_capability: ['db', 'url'] } },
      }),
    ],
    deployment_updates: [
      item('deployment_updates', {
        id: 'web-update',
        ...by,
        deployment_id: 'web',
        execution_id: INSTALL,
        new_blueprint_id: 'shop',
        state: 'successful',
        deployment_plan: { nodes: [] },
        steps: [{ action: 'add', entity_type: 'node', entity_id: ['nodes', 'app'], topology_order: 0 }],
      }),
    ],
    plugins_update: [
      item('plugins_update', {
        id: 'plug',
        ...by,
        state: 'successful',
        blueprint_id: 'shop',
        deployments_to_update: ['web'],
      }),
    ],
    deployment_modifications: [
      item('deployment_modifications', {
        id: 'mod',
        ...by,
        deployment_id: 'web',
        status: 'finished',
        ended_at: AT,
        modified_nodes: { app: { instances: 2 } },
        node_instances: {},
      }),
    ],
  };
}

function historyOf(events: number): Items {
  return {
    executions: [
      item('executions', {
        id: INSTALL,
        ...by,
        deployment_id: 'web',
        workflow_id: 'install',
        status: 'terminated',
        parameters: { force: true },
        started_at: AT,
        ended_at: AT,
      }),
      item('executions', {
        id: CREATE_SNAPSHOT,
        ...by,
        workflow_id: 'create_snapshot',
        status: 'started',
        is_system_workflow: true,
      }),
    ],
    execution_groups: [
      item('execution_groups', {
        id: GROUP_RUN,
        ...by,
        workflow_id: 'install',
        deployment_group_id: 'all',
        execution_ids: [INSTALL],
      }),
    ],
    events: Array.from({ length: events }, (_, i) =>
      item('events', {
        ...(i % 2 === 0
          ? { type: 'cloudify_event', event_type: 'task_started' }
          : { type: 'cloudify_log', logger: 'ctx', level: 'info' }),
        execution_id: INSTALL,
        timestamp: new Date(Date.parse(AT) + i).toISOString(),
        reported_timestamp: AT,
        message: `event ${i} of the estate`,
        node_instance_id: 'app_b1',
      }),
    ),
    tasks_graphs: [
      item('tasks_graphs', {
        id: 'eeeeeeee-0000-4000-8000-000000000001',
        created_at: AT,
        created_by: 'admin',
        execution_id: INSTALL,
        name: 'install',
        operations: [
          {
            id: 'op-1',
            name: 'one',
            state: 'succeeded',
            type: 'RemoteWorkflowTask',
            created_at: AT,
            dependencies: [],
            parameters: { task_kwargs: {} },
            manager_name: null,
            agent_name: null,
          },
          {
            id: 'op-2',
            name: 'two',
            state: 'pending',
            type: 'NOPLocalWorkflowTask',
            created_at: AT,
            dependencies: ['op-1', 'odd "id", \\'],
            parameters: {},
            manager_name: null,
            agent_name: null,
          },
        ],
      }),
    ],
    execution_schedules: [
      item('execution_schedules', {
        id: 'nightly',
        ...by,
        deployment_id: 'web',
        workflow_id: 'heal',
        since: AT,
        rule: { recurrence: '1 days' },
        parameters: {},
        enabled: true,
      }),
    ],
  };
}

/** A small estate: two tenants in use and an empty one. `events` of them belong to one execution. */
export function makeEstate({ events = 12 }: { events?: number } = {}): Estate {
  return {
    manager: managerOf(),
    tenants: {
      default_tenant: { ...catalogOf(), ...modelOf(), ...historyOf(events) },
      empty: {},
      second: {
        // The same ids as in the other tenant are other objects.
        sites: [item('sites', { name: 'Zürich', created_by: 'zoë', created_at: AT })],
        blueprints: [
          item('blueprints', {
            id: 'shop',
            created_by: 'zoë',
            created_at: AT,
            main_file_name: 'blueprint.yaml',
            plan: {},
          }),
        ],
      },
    },
    blobs: {
      'blueprints/default_tenant/shop': {
        'shop.tar.gz': gzipSync(tarOf({ 'shop/blueprint.yaml': Buffer.from(BLUEPRINT) })),
      },
      [`plugins/default_tenant/${PLUGIN}`]: {
        'demo-1.0-py36-none-linux_x86_64.wgn': Buffer.from('a wagon'),
        'plugin.yaml': Buffer.from('plugins: {}\n'),
      },
      'deployments/default_tenant/web': { 'state/terraform.tfstate': Buffer.from('{"canary": "workdir"}') },
    },
    hashSalt: 'Kf0Zl3r5nqYb2hVw',
    encryptionKey: Buffer.from(Array.from({ length: 64 }, (_, i) => i))
      .toString('base64')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  };
}
