import {
  bad,
  badInclude,
  conflict,
  forbidden,
  noCredentials,
  nothingThere,
  type SpecCase,
  type SpecCases,
} from './spec-case';

const page = (path: string, fields: SpecCase['fields']): SpecCase => ({
  ok: { path: `${path}?_size=5` },
  answer: 'list',
  fields,
  refused: { path: `${path}?_include=rubbish`, ...badInclude },
});
const schedule = { workflow_id: 'install', since: '2099-01-01 10:00:00', recurrence: '1 day' };

const schedules: SpecCases = {
  'v3.1 GET /events': {
    ok: { path: '/events?_range=timestamp,2020-01-01T00:00:00Z,&execution_id=$execution' },
    answer: 'list',
    fields: 'Event',
    refused: { path: '/events?_range=rubbish,,2020-01-01', ...bad },
  },
  'v3.1 GET /execution-schedules': {
    given: [['PUT', { path: '/execution-schedules/listed?deployment_id=d2', body: schedule }]],
    ...page('/execution-schedules', 'Schedule'),
  },
  'v3.1 GET /execution-schedules/{schedule_id}': {
    given: [['PUT', { path: '/execution-schedules/read?deployment_id=d2', body: schedule }]],
    ok: { path: '/execution-schedules/read?deployment_id=d2' },
    fields: 'Schedule',
    refused: { path: '/execution-schedules/nosuch?deployment_id=d2', ...nothingThere },
  },
  'v3.1 PUT /execution-schedules/{schedule_id}': {
    ok: { path: '/execution-schedules/new?deployment_id=d2', body: { ...schedule, weekdays: ['mo', 'tu'] } },
    status: 201,
    fields: 'Schedule',
    refused: {
      path: '/execution-schedules/wrong?deployment_id=d2',
      body: { ...schedule, rrule: 'FREQ=DAILY' },
      ...bad,
    },
  },
  'v3.1 PATCH /execution-schedules/{schedule_id}': {
    given: [['PUT', { path: '/execution-schedules/changed?deployment_id=d2', body: schedule }]],
    ok: { path: '/execution-schedules/changed?deployment_id=d2', body: { enabled: false, slip: 5 } },
    status: 201,
    fields: 'Schedule',
    refused: {
      path: '/execution-schedules/changed?deployment_id=d2',
      body: { recurrence: 'rubbish' },
      ...bad,
    },
  },
  'v3.1 DELETE /executions-schedules/{schedule_id}': {
    given: [['PUT', { path: '/execution-schedules/gone?deployment_id=d2', body: schedule }]],
    ok: { path: '/executions-schedules/gone?deployment_id=d2' },
    status: 204,
    answer: 'empty',
    refused: { path: '/executions-schedules/nosuch?deployment_id=d2', ...nothingThere },
  },
};

const executions: SpecCases = {
  'v3.1 GET /executions': page('/executions', 'Execution'),
  'v3.1 GET /executions/{execution_id}': {
    ok: { path: '/executions/$execution' },
    fields: 'Execution',
    refused: { path: '/executions/nosuch', ...nothingThere },
  },
  'v3.1 POST /executions': {
    ok: {
      path: '/executions',
      body: { workflow_id: 'check_status', deployment_id: 'd2', queue: true, force: true },
    },
    status: 201,
    fields: 'Execution',
    refused: {
      path: '/executions',
      body: { workflow_id: 'nosuch', deployment_id: 'd1' },
      status: 400,
      code: 'nonexistent_workflow_error',
    },
  },
  'v3.1 POST /executions/{execution_id}': {
    ok: { path: '/executions/$running2', body: { action: 'cancel', deployment_id: 'running2' } },
    fields: 'Execution',
    refused: {
      path: '/executions/$execution',
      body: { action: 'cancel' },
      status: 400,
      code: 'illegal_action_error',
    },
  },
  'v3.1 PATCH /executions/{execution_id}': {
    ok: { path: '/executions/$execution', body: { status: 'terminated' } },
    fields: 'Execution',
    refused: {
      path: '/executions/$execution',
      body: { status: 'started' },
      status: 400,
      code: 'invalid_exception_status_update',
    },
  },
  'v3.1 DELETE /executions': {
    ok: { path: '/executions', body: { keep_last: 1000 } },
    refused: { path: '/executions', body: { keep_last: -1 }, ...bad },
  },
};

const rules = [{ key: 'tier', values: ['web'], operator: 'any_of', type: 'label' }];
const badRule = { status: 400, code: 'invalid_filter_rule' } as const;
const wrongRules = [{ key: 'tier', values: ['web'], operator: 'starts_with', type: 'label' }];

function filtersOf(kind: string): SpecCases {
  const path = `/filters/${kind}`;
  return {
    [`v3.1 GET ${path}`]: page(path, 'Filter'),
    [`v3.1 GET ${path}/{filter_id}`]: {
      ok: { path: `${path}/f1` },
      fields: 'Filter',
      refused: { path: `${path}/nosuch`, ...nothingThere },
    },
    [`v3.1 PUT ${path}/{filter_id}`]: {
      ok: { path: `${path}/new`, body: { filter_rules: rules, visibility: 'private' } },
      fields: 'Filter',
      refused: { path: `${path}/wrong`, body: { filter_rules: wrongRules }, ...badRule },
    },
    [`v3.1 PATCH ${path}/{filter_id}`]: {
      ok: { path: `${path}/f1`, body: { filter_rules: rules, visibility: 'global' } },
      fields: 'Filter',
      refused: { path: `${path}/f1`, body: { filter_rules: wrongRules }, ...badRule },
    },
    [`v3.1 DELETE ${path}/{filter_id}`]: {
      given: [['PUT', { path: `${path}/gone`, body: { filter_rules: rules } }]],
      ok: { path: `${path}/gone` },
      status: 204,
      answer: 'empty',
      refused: { path: `${path}/nosuch`, ...nothingThere },
    },
    [`v3.1 POST /searches/${kind}`]: {
      ok: { path: `/searches/${kind}?_include=id&_search=1`, body: { filter_rules: [] } },
      answer: 'list',
      refused: { path: `/searches/${kind}`, body: { filter_rules: wrongRules }, ...badRule },
    },
  };
}

const manager: SpecCases = {
  'v3.1 PUT /license': {
    ok: { path: '/license', archive: 'license' },
    fields: 'License',
    refused: { path: '/license', archive: 'nothing', status: 400, code: 'unverified_cloudify_license' },
  },
  'v3.1 GET /license': {
    given: [['PUT', { path: '/license', archive: 'license' }]],
    ok: { path: '/license' },
    answer: 'list',
    fields: 'License',
    refused: { path: '/license', ...noCredentials },
  },
  'v3.1 DELETE /license': {
    ok: { path: '/license' },
    status: 204,
    answer: 'empty',
    refused: { path: '/license', as: 'viewer', ...forbidden },
  },
  'v3.1 GET /status': {
    ok: { path: '/status' },
    fields: 'Status',
    refused: { path: '/status', ...noCredentials },
  },
  'v3.1 GET /status?summary=true': {
    ok: { path: '/status?summary=true' },
    fields: 'Status',
    refused: { path: '/status?summary=perhaps', ...bad },
  },
  'v3.1 GET /version': {
    ok: { path: '/version' },
    fields: 'Version',
    refused: { path: '/version?_include=rubbish', ...badInclude },
  },
};

const nodes: SpecCases = {
  'v3.1 GET /node-instances': page('/node-instances', 'NodeInstance'),
  'v3.1 GET /node-instances/{node_instance_id}': {
    ok: { path: '/node-instances/$instance' },
    fields: 'NodeInstance',
    refused: { path: '/node-instances/nosuch', ...nothingThere },
  },
  'v3.1 PATCH /node-instances/{node_instance_id}': {
    ok: {
      path: '/node-instances/$instance2',
      body: { version: 1000, runtime_properties: { a: 1 }, state: 'uninitialized' },
    },
    fields: 'NodeInstance',
    refused: { path: '/node-instances/$instance', body: { version: 1, state: 'starting' }, ...conflict },
  },
  'v3.1 GET /nodes': page('/nodes', 'Node'),
};

/** Rows of rest-v3.1-part2 up to the operations. */
export const part2: SpecCases = {
  ...schedules,
  ...executions,
  ...filtersOf('deployments'),
  ...filtersOf('blueprints'),
  ...manager,
  ...nodes,
};
