import {
  bad,
  badInclude,
  conflict,
  forbidden,
  noCredentials,
  nothingThere,
  type Sent,
  type SpecCase,
  type SpecCases,
} from './spec-case';

const upload = (id: string): [string, Sent] => ['PUT', { path: `/blueprints/${id}`, archive: 'blueprint' }];
const deployment = (id: string): [string, Sent] => [
  'PUT',
  { path: `/deployments/${id}`, body: { blueprint_id: 'b1' } },
];
const page = (path: string, fields: SpecCase['fields']): SpecCase => ({
  ok: { path: `${path}?_size=5` },
  answer: 'list',
  fields,
  refused: { path: `${path}?_include=rubbish`, ...badInclude },
});

const blueprints: SpecCases = {
  'v3.1 GET /blueprints': page('/blueprints', 'Blueprint'),
  'v3.1 GET /blueprints?id=<blueprint_id>': {
    ok: { path: '/blueprints?id=b1' },
    answer: 'list',
    fields: 'Blueprint',
    refused: { path: '/blueprints?id=b1&rubbish=1', ...bad },
  },
  'v3.1 PUT /blueprints/{blueprint_id}': {
    ok: {
      path: '/blueprints/new?application_file_name=blueprint.yaml&visibility=tenant&labels=k=v',
      archive: 'blueprint',
    },
    status: 201,
    fields: 'Blueprint',
    refused: { path: '/blueprints/b1', archive: 'blueprint', ...conflict },
  },
  'v3.1 PUT /blueprints/{blueprint_id}/validate': {
    ok: { path: '/blueprints/tried/validate', archive: 'blueprint' },
    status: 204,
    answer: 'empty',
    refused: {
      path: '/blueprints/tried/validate',
      archive: 'broken',
      status: 400,
      code: 'invalid_blueprint_error',
    },
  },
  'v3.1 DELETE /blueprints/{blueprint_id}': {
    given: [upload('gone')],
    ok: { path: '/blueprints/gone?force=true' },
    status: 204,
    answer: 'empty',
    refused: { path: '/blueprints/b1', status: 400, code: 'dependent_exists_error' },
  },
  'v3.1 GET /blueprints/{blueprint_id}/archive': {
    ok: { path: '/blueprints/b1/archive' },
    answer: 'archive',
    refused: { path: '/blueprints/nosuch/archive', ...nothingThere },
  },
  'v3.1 PATCH /blueprints/{blueprint_id}/set-global': {
    given: [upload('global1')],
    ok: { path: '/blueprints/global1/set-global' },
    fields: 'Blueprint',
    refused: { path: '/blueprints/b1/set-global', as: 'viewer', ...forbidden },
  },
  'v3.1 PATCH /blueprints/{blueprint_id}/set-visibility': {
    given: [upload('global2')],
    ok: { path: '/blueprints/global2/set-visibility', body: { visibility: 'global' } },
    fields: 'Blueprint',
    refused: { path: '/blueprints/b1/set-visibility', body: { visibility: 'private' }, ...bad },
  },
  'v3.1 PATCH /blueprints/{blueprint_id}': {
    ok: { path: '/blueprints/b1', body: { labels: [{ tier: 'web' }] } },
    fields: 'Blueprint',
    refused: { path: '/blueprints/b1', body: { labels: 'rubbish' }, ...bad },
  },
  'v3.1 GET /labels/blueprints': {
    given: [['PATCH', { path: '/blueprints/b1', body: { labels: [{ tier: 'web' }] } }]],
    ok: { path: '/labels/blueprints' },
    answer: 'list',
    refused: { path: '/labels/blueprints', ...noCredentials },
  },
  'v3.1 GET /labels/blueprints/{label_key}': {
    given: [['PATCH', { path: '/blueprints/b1', body: { labels: [{ tier: 'web' }] } }]],
    ok: { path: '/labels/blueprints/tier' },
    answer: 'list',
    refused: { path: '/labels/blueprints/tier?_size=-1', ...bad },
  },
};

const cluster: SpecCases = {
  'v3.1 GET /agents': {
    given: [
      [
        'PUT',
        {
          path: '/agents/agent1',
          body: {
            node_instance_id: '$instance',
            state: 'started',
            create_rabbitmq_user: false,
            ip: '10.0.0.1',
          },
        },
      ],
    ],
    ok: { path: '/agents?node_ids=n1' },
    answer: 'list',
    fields: 'Agent',
    refused: { path: '/agents?rubbish=1', ...bad },
  },
  'v3.1 GET /managers': {
    ok: { path: '/managers' },
    answer: 'list',
    fields: 'Manager',
    refused: { path: '/managers?_include=rubbish', ...badInclude },
  },
  'v3.1 GET /managers/{hostname}': {
    ok: { path: '/managers/$hostname' },
    fields: 'Manager',
    refused: { path: '/managers/nosuch', ...nothingThere },
  },
  'v3.1 DELETE /managers/{hostname}': {
    given: [
      [
        'POST',
        {
          path: '/managers',
          body: {
            hostname: 'second',
            private_ip: '10.0.0.2',
            public_ip: '10.0.0.2',
            version: '7.0.0',
            edition: 'premium',
            distribution: 'linux',
            distro_release: '1',
            networks: { default: '10.0.0.2' },
          },
        },
      ],
    ],
    ok: { path: '/managers/second' },
    status: 204,
    answer: 'empty',
    refused: { path: '/managers/nosuch', as: 'viewer', ...forbidden },
  },
  'v3.1 GET /cluster-status': {
    ok: { path: '/cluster-status' },
    fields: 'ClusterStatus',
    refused: { path: '/cluster-status', ...noCredentials },
  },
  'v3.1 GET /cluster-status?summary=true': {
    ok: { path: '/cluster-status?summary=true' },
    fields: 'ClusterStatus',
    refused: { path: '/cluster-status?summary=perhaps', ...bad },
  },
};

const deployments: SpecCases = {
  'v3.1 GET /deployments': page('/deployments', 'DeploymentInList'),
  'v3.1 GET /deployments?id=<deployment_id>': {
    ok: { path: '/deployments?id=d1&all_sub_deployments=false' },
    answer: 'list',
    fields: 'DeploymentInList',
    refused: { path: '/deployments?id=d1&rubbish=1', ...bad },
  },
  'v3.1 PUT /deployments/{deployment_id}': {
    ok: {
      path: '/deployments/new',
      body: {
        blueprint_id: 'b1',
        inputs: {},
        site_name: 'site1',
        labels: [{ k: 'v' }],
        private_resource: false,
        skip_plugins_validation: false,
      },
    },
    status: 201,
    fields: 'Deployment',
    refused: { path: '/deployments/other', body: { blueprint_id: 'nosuch' }, ...nothingThere },
  },
  'v3.1 DELETE /deployments/{deployment_id}': {
    given: [deployment('gone')],
    ok: { path: '/deployments/gone?force=true&delete_logs=true' },
    status: 204,
    answer: 'empty',
    refused: { path: '/deployments/d1', status: 400, code: 'dependent_exists_error' },
  },
  'v3.1 PATCH /deployments/{deployment_id}/set-visibility': {
    given: [
      upload('global3'),
      ['PATCH', { path: '/blueprints/global3/set-global' }],
      ['PUT', { path: '/deployments/wide', body: { blueprint_id: 'global3' } }],
    ],
    ok: { path: '/deployments/wide/set-visibility', body: { visibility: 'global' } },
    fields: 'Deployment',
    refused: { path: '/deployments/d1/set-visibility', body: {}, ...bad },
  },
  'v3.1 POST /deployments/{deployment_id}/set-site': {
    ok: { path: '/deployments/d1/set-site', body: { site_name: 'site1' } },
    fields: 'Deployment',
    refused: { path: '/deployments/d1/set-site', body: { site_name: 'site1', detach_site: true }, ...bad },
  },
  'v3.1 PATCH /deployments/{deployment_id}': {
    ok: { path: '/deployments/d1', body: { labels: [{ tier: 'web' }] } },
    fields: 'Deployment',
    refused: { path: '/deployments/d1', body: {}, status: 400, code: 'illegal_action_error' },
  },
  'v3.1 GET /deployments/{deployment_id}/outputs': {
    ok: { path: '/deployments/d1/outputs' },
    fields: 'Outputs',
    refused: { path: '/deployments/nosuch/outputs', ...nothingThere },
  },
  'v3.1 GET /deployments/{deployment_id}/capabilities': {
    ok: { path: '/deployments/d1/capabilities' },
    fields: 'Capabilities',
    refused: { path: '/deployments/nosuch/capabilities', ...nothingThere },
  },
  'v3.1 GET /labels/deployments': {
    given: [['PATCH', { path: '/deployments/d1', body: { labels: [{ tier: 'web' }] } }]],
    ok: { path: '/labels/deployments' },
    answer: 'list',
    refused: { path: '/labels/deployments', ...noCredentials },
  },
  'v3.1 GET /labels/deployments/{label_key}': {
    given: [['PATCH', { path: '/deployments/d1', body: { labels: [{ tier: 'web' }] } }]],
    ok: { path: '/labels/deployments/tier' },
    answer: 'list',
    refused: { path: '/labels/deployments/tier?_offset=x', ...bad },
  },
};

const update = { blueprint_id: 'b1', inputs: {}, skip_install: true, skip_uninstall: true, preview: true };
const dependency = { dependency_creator: 'nodes.n1', source_deployment: 'd1', target_deployment: 'd2' };
const dependencies = '/deployments/inter-deployment-dependencies';

const others: SpecCases = {
  'v3.1 PUT /deployment-updates/{deployment_id}/update/initiate': {
    ok: { path: '/deployment-updates/d2/update/initiate', body: update },
    fields: 'DeploymentUpdate',
    refused: { path: '/deployment-updates/nosuch/update/initiate', body: update, ...nothingThere },
  },
  'v3.1 GET /deployment-updates/{update_id}': {
    ok: { path: '/deployment-updates/$update' },
    fields: 'DeploymentUpdate',
    refused: { path: '/deployment-updates/nosuch', ...nothingThere },
  },
  'v3.1 GET /deployment-updates': {
    ok: { path: '/deployment-updates?deployment_id=d2' },
    answer: 'list',
    fields: 'DeploymentUpdate',
    refused: { path: '/deployment-updates?rubbish=1', ...bad },
  },
  [`v3.1 PUT ${dependencies}`]: {
    ok: { path: dependencies, body: dependency },
    fields: 'Dependency',
    refused: { path: dependencies, body: { ...dependency, target_deployment: 'nosuch' }, ...nothingThere },
  },
  [`v3.1 GET ${dependencies}`]: {
    given: [['PUT', { path: dependencies, body: { ...dependency, dependency_creator: 'nodes.seen' } }]],
    ok: { path: dependencies },
    answer: 'list',
    fields: 'Dependency',
    refused: { path: `${dependencies}?rubbish=1`, ...bad },
  },
  [`v3.1 DELETE ${dependencies}`]: {
    given: [['PUT', { path: dependencies, body: { ...dependency, dependency_creator: 'nodes.gone' } }]],
    ok: { path: dependencies, body: { ...dependency, dependency_creator: 'nodes.gone' } },
    fields: 'Dependency',
    refused: {
      path: dependencies,
      body: { ...dependency, dependency_creator: 'nodes.never' },
      ...nothingThere,
    },
  },
};

/** Rows of rest-v3.1-part1. */
export const part1: SpecCases = { ...blueprints, ...cluster, ...deployments, ...others };
