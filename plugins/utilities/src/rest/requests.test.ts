import { crashEverywhere, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type Api, startApi } from '../testing/items-api';

let api: Api;
beforeEach(async () => {
  api = await startApi();
});
afterEach(async () => await api.close());

const TYPE = 'cloudify.nodes.rest.Requests';
const node = (template: string, properties: object = {}, runtime: object = {}) =>
  testNode(plugin, TYPE, {
    properties: { hosts: ['127.0.0.1'], port: api.port, ...properties } as never,
    files: { 't.yaml': template, 'body.json': '{"from": "file"}' },
    runtime: runtime as never,
  });
const FILE = { template_file: 't.yaml' };

it('runs the calls of a template, with results of earlier calls as variables', async () => {
  api.answer = ({ url }) => ({ body: url.startsWith('/users') ? { id: 10, name: 'Ann "A"' } : { id: '1' } });
  const posts = node(
    `rest_calls:
  - path: /users/10
    method: GET
    headers: { Content-type: application/json }
    payload:
    response_format: json
    recoverable_codes: [400]
    response_translation: [user]
    response_expectation:
      - ['id', '10']
  - path: /posts/{{ POST_ID }}
    method: PUT
    headers: { X-Token: '{{ TOKEN }}' }
    payload: { title: '{{ user.name }}-new', n: 3, list: [ '{{ POST_ID }}' ] }
    response_expectation: ['id', '{{ POST_ID }}']
`,
    { params: { POST_ID: '7', TOKEN: 'of the node' } },
  );
  await posts.run('start', { ...FILE, params: { POST_ID: '1', TOKEN: 'tok-secret-1' } });
  expect(api.lines()).toEqual(['GET /users/10', 'PUT /posts/1']);
  expect(JSON.parse(api.got[1]!.body)).toEqual({ title: 'Ann "A"-new', n: 3, list: ['1'] });
  expect(api.got[1]!.headers).toMatchObject({
    'x-token': 'tok-secret-1',
    'content-type': 'application/json',
  });
  const user = { id: 10, name: 'Ann "A"' };
  expect(posts.runtimeProperties).toMatchObject({
    user,
    result_properties: { user },
    calls: [{ path: '/users/10' }, { path: '/posts/1', headers: { 'X-Token': '********' } }],
  });
  expect(JSON.stringify([posts.log, posts.runtimeProperties])).not.toContain('tok-secret-1');
});

it('reads YAML as the original does: yes is true, y and dates are texts, and anchors are known', async () => {
  const one = node(`rest_calls:
  - &one { path: /a, method: POST, payload: { yes: yes, y: y, date: 2020-01-01, octal: 010 } }
  - { <<: *one, path: /b }`);
  await one.run('create', FILE);
  expect(api.lines()).toEqual(['POST /a', 'POST /b']);
  expect(JSON.parse(api.got[1]!.body)).toEqual({ true: true, y: 'y', date: '2020-01-01', octal: 8 });
});

it('runs an operation once, again with force_rerun, and start again after stop', async () => {
  const ping = node('rest_calls: [{ path: /ping, method: GET }]');
  await ping.run('start', FILE);
  await ping.run('start', FILE);
  expect(api.got).toHaveLength(1);
  await ping.run('start', { ...FILE, force_rerun: true });
  await ping.run('stop', FILE);
  await ping.run('start', FILE);
  expect(api.got).toHaveLength(4);
  await ping.run('delete', FILE);
  expect(ping.runtimeProperties).toEqual({});
  expect(api.got).toHaveLength(5);
});

it('without a template nothing is called', async () => {
  await node('').run('create');
  expect(api.got).toEqual([]);
});

it('keeps the result under a path, with or without the calls', async () => {
  api.answer = () => ({ body: { a: 1 } });
  const template = 'rest_calls: [{ path: /a, method: GET, response_translation: { a: [x, y] } }]';
  const kept = node(template);
  await kept.run('create', { ...FILE, save_path: 'saved' });
  expect(kept.runtimeProperties.saved).toEqual({
    result_properties: { x: { y: 1 } },
    calls: [expect.objectContaining({ path: '/a' })],
  });
  await kept.run('start', { ...FILE, save_path: 'saved', remove_calls: true });
  expect(kept.runtimeProperties.saved).toEqual({ x: { y: 1 } });
});

it('renders the whole template first when asked: loops make calls', async () => {
  const loops = node(
    `rest_calls:
{% for name in names if name %}
  - path: /names/{{ name }}
    method: POST
    payload: {{ payload | tojson }}
{% endfor %}`,
    { params: { names: ['a', '', 'b'], payload: { k: [1] } } },
  );
  await loops.run('create', { ...FILE, prerender: true });
  expect(api.lines()).toEqual(['POST /names/a', 'POST /names/b']);
  expect(api.got[0]!.body).toBe('{"k":[1]}');
});

it.each([
  [
    "'{% if USER is not string %}{{ USER | tojson }}{% endif %}'",
    { USER: { id: '10', ok: true } },
    '{"id":"10","ok":true}',
  ],
  [
    "'{% if true %}{{ USER }}{% endif %}'",
    { USER: { id: '1', ok: true, no: null } },
    '{"id":"1","ok":true,"no":null}',
  ],
  ["'{% if USER %}[1]{% endif %}'", { USER: '' }, ''],
  ["'{{ USER }}'", { USER: 7 }, '"7"'],
  ['"it\'s {{ USER }}"', { USER: 'a "quoted" \'text\'' }, JSON.stringify("it's a \"quoted\" 'text'")],
])('a block of a template becomes a value, a text stays one: %s', async (payload, params, body) => {
  const one = node(`rest_calls: [{ path: /a, method: POST, payload: ${payload} }]`);
  await one.run('create', { ...FILE, params });
  expect(api.got[0]!.body).toBe(body);
});

it('goes on with the next host when one does not answer', async () => {
  const dead = await startApi();
  const { port } = dead;
  await dead.close();
  const both = node('rest_calls: [{ path: /a, method: POST, payload: { a: 1 } }]', {
    hosts: ['127.0.0.2', '127.0.0.1'],
  });
  await both.run('create', FILE);
  expect(api.lines()).toEqual(['POST /a']);
  expect(both.log.some(({ message }) => message.includes('the next host is tried'))).toBe(true);

  const none = (more: string) =>
    node(`rest_calls: [{ path: /a, method: GET, port: ${port}${more} }]`).run('create', FILE);
  await expect(none('')).rejects.toMatchObject({ exceptionType: 'NonRecoverableError' });
  await expect(none(', retry_on_connection_error: true')).rejects.toMatchObject({
    exceptionType: 'RecoverableError',
  });
});

it.each([
  [404, '', 'NonRecoverableError', 'answered 404: no such thing'],
  [503, 'recoverable_codes: [503]', 'RecoverableError', 'response code 503 is defined as recoverable'],
  [404, 'successful_codes: [404]', null, ''],
])('the code %i with %j ends as %s', async (status, keys, type, message) => {
  api.answer = () => ({ status, body: 'no such thing', headers: { 'content-type': 'text/plain' } });
  const one = node(`rest_calls: [{ path: '/a?key=hidden', method: GET, response_format: raw, ${keys} }]`);
  const run = one.run('create', FILE);
  if (type === null) await run;
  else
    await expect(run).rejects.toMatchObject({
      exceptionType: type,
      message: expect.stringContaining(message),
    });
  expect(JSON.stringify(one.log)).not.toContain('hidden');
});

it('tries again in the operation as often as it is told, from the first call on', async () => {
  let calls = 0;
  api.answer = () => ({ body: { state: ++calls > 4 ? 'done' : 'busy' } });
  const template = `rest_calls:
  - { path: /begin, method: GET }
  - { path: /state, method: GET, response_expectation: [[state, done]], response_translation: [s] }`;
  await node(template).run('create', { ...FILE, retry_count: 3, retry_sleep: 0 });
  expect(api.lines()).toEqual([
    'GET /begin',
    'GET /state',
    'GET /begin',
    'GET /state',
    'GET /begin',
    'GET /state',
  ]);
  calls = -10;
  await expect(
    node(template).run('create', { ...FILE, retry_count: 2, retry_sleep: 0 }),
  ).rejects.toMatchObject({
    exceptionType: 'RecoverableError',
    message: expect.stringContaining('state is busy, which does not match done'),
  });
});

it.each([
  ['rest_calls: [{ path: /a }]', 't.yaml: call 1.method'],
  ['rest_calls: { path: /a }', 'rest_calls must be a list'],
  [
    'rest_calls: [{ path: /a, method: GET, response_format: csv }]',
    'response_format: "csv"; expected one of',
  ],
  ['rest_calls: [{ path: /a, method: GET, host: "evil.example/x" }]', null],
  ['rest_calls: [ : ', 't.yaml: '],
  ['rest_calls: [{ path: /a, method: POST, payload: {{ x }} }]', 'which needs prerender: true'],
  ['rest_calls: [{ path: \'/items/{{ "../admin" }}\', method: GET }]', 'path: a part of it is . or ..'],
  ["rest_calls: [{ path: '/items/%2E%2e/admin', method: GET }]", 'path: a part of it is . or ..'],
  ["rest_calls: [{ path: '{{ x', method: GET }]", '{{ has no end'],
  [
    "rest_calls: [{ path: '{% if x %}', method: '{% endif %}' }]",
    'begins in one value of a call and ends in another',
  ],
])('refuses the template %s', async (template, message) => {
  api.answer = () => ({ body: { a: 1 } });
  const run = node(template, message === null ? { hosts: [] } : {}).run('create', FILE);
  await expect(run).rejects.toThrow(message ?? 'the host "evil.example/x" is no name and no address');
});

it('after the loss of a worker it goes on behind the calls that were answered', async () => {
  api.answer = ({ url }) => ({ body: { url } });
  const calls = ['/a', '/b', '/c'].map(
    (path) => `{ path: ${path}, method: POST, response_translation: { url: [${path.slice(1)}] } }`,
  );
  const fresh = () => {
    api.got.length = 0;
    return node(`rest_calls: [${calls.join(', ')}, { path: '/last{{ a }}{{ c }}', method: POST }]`);
  };
  const crashes = await crashEverywhere(fresh, 'create', { inputs: FILE, effects: () => api.lines() });
  expect(crashes).toHaveLength(4);
  for (const { node: after } of crashes)
    expect(after.runtimeProperties.result_properties).toEqual({ a: '/a', b: '/b', c: '/c' });
  expect(api.lines().at(-1)).toBe('POST /last/a/c');
});
