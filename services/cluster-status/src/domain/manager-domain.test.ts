import { Ajv } from 'ajv';
import { configDefinitions } from './config-items';
import { organisationOf } from './contact';
import { licenseProblem } from './license-check';
import { brokerItem, dbNodeItems } from './servers';

const definitions = configDefinitions({
  publicIp: '10.0.0.1',
  fileServerRoot: '/blobs',
  fileServerUrl: 'http://10.0.0.1/resources',
  fileServerType: 'local',
  s3Url: '',
  s3Bucket: 'baton',
  taskRetries: 60,
  taskRetryIntervalS: 15,
  subgraphRetries: 0,
});

test('every shipped value fits its schema, but for those that are not set and the log level of agents', () => {
  const ajv = new Ajv();
  const wrong = definitions
    .filter((one) => one.schema && one.shipped !== null && !ajv.validate(one.schema, one.shipped))
    .map((one) => `${one.scope}.${one.name}`);
  expect(wrong).toEqual(['agent.log_level']);
});

test('names are unique within their scope and sorted', () => {
  const full = definitions.map((one) => `${one.scope}.${one.name}`);
  expect(new Set(full).size).toBe(full.length);
  const names = definitions.map((one) => one.name);
  expect(names).toEqual([...names].sort());
});

test('only an expired trial is refused, and where a license is asked for that there is none', () => {
  expect(licenseProblem(null, true)?.code).toBe('missing_cloudify_license');
  expect(licenseProblem(null, false)).toBeNull();
  expect(licenseProblem({ trial: true, expired: true }, false)?.code).toBe('expired_cloudify_license');
  expect(licenseProblem({ trial: false, expired: true }, true)).toBeNull();
  expect(licenseProblem({ trial: true, expired: false }, true)).toBeNull();
});

test.each([
  ['ann@mail.example.org', 'example'],
  ['ann@Localhost', 'localhost'],
  ['ann@.', 'unknown'],
])('organisation of %s', (email, organisation) => expect(organisationOf(email)).toBe(organisation));

test('the broker in PostgreSQL has no management host; ports default by scheme', () => {
  expect(brokerItem('postgres://u@db/baton', true)).toMatchObject({
    management_host: null,
    port: 5432,
    username: 'u',
    password: null,
  });
  expect(brokerItem('amqps://u:p%40x@mq', true)).toMatchObject({ port: 5671, password: '********' });
});

test('one database node for every host of the URL', () => {
  expect(dbNodeItems('postgres://u:p@a:5432,b/baton?x=1').map((node) => node.host)).toEqual(['a', 'b']);
  expect(dbNodeItems('postgresql://[::1]:5432/baton').map((node) => node.host)).toEqual(['::1']);
});
