import { credentialsChanged, managerServices } from '@baton/contracts';
import { newId, Secret, silentLog } from '@baton/kernel';
import { ConfigError, loadConfig, runtimeConfig } from '@baton/service-runtime';
import { connectBroker } from '@baton/service-runtime/infra';
import { eventually, type RestartableRabbit, restartableRabbit } from '@baton/testkit';
import { createSeals, derivedTrust } from '@baton/trust';
import { ensureBrokerUsers } from './broker-users';
import { brokerUsersOf, migrateConfig } from './migrate-config';

const services = [...managerServices, 'worker'] as const;
type Service = (typeof services)[number];
let server: RestartableRabbit;
beforeAll(async () => {
  server = await restartableRabbit(undefined, { hasManagement: true });
}, 90_000);
afterAll(() => server.close());

const urlOf = (service: Service, password = `${service} & its password`): string => {
  const url = new URL(server.url);
  [url.username, url.password, url.pathname] = [`baton-${service}`, encodeURIComponent(password), '/baton'];
  return url.href;
};
const variable = (service: Service): string => `BATON_AMQP_URL_${service.toUpperCase().replace('-', '_')}`;
const migration = (more: Record<string, string> = {}) =>
  loadConfig(migrateConfig, {
    DATABASE_URL: 'postgres://owner@127.0.0.1/baton',
    BATON_NAMESPACE: 'n',
    BATON_RABBITMQ_API_URL: server.apiUrl!,
    ...Object.fromEntries(services.map((service) => [variable(service), urlOf(service)])),
    ...more,
  });
const internalKey = 'the internal key of this test';
const brokerOf = (service: 'identity' | 'gateway') => {
  const { identity, bundle } = derivedTrust(service, new Secret(internalKey));
  const config = loadConfig(runtimeConfig, {
    BATON_INTERNAL_KEY: internalKey,
    BATON_NAMESPACE: 'n',
    BATON_AMQP_TOPOLOGY: 'check',
    AMQP_URL: urlOf(service),
  });
  return connectBroker(config, silentLog, {
    service,
    seals: createSeals({ identityOf: () => identity, bundle }),
  });
};

test('services wait for the job that makes their users and queues, and then talk', async () => {
  const [identity, gateway] = [brokerOf('identity'), brokerOf('gateway')];
  const heard: string[] = [];
  const subscribed = gateway.subscribe(
    credentialsChanged,
    ({ payload }) => void heard.push(payload.username),
  );
  await ensureBrokerUsers(brokerUsersOf(migration())!, { namespace: 'n', log: silentLog });
  await subscribed;
  const envelope = {
    id: newId(),
    type: credentialsChanged.type,
    time: '2026-01-01T00:00:00.000Z',
    tenant: '',
    key: 'u',
  };
  await eventually(
    async () => {
      await identity.publish([{ ...envelope, payload: { username: 'u' } }]);
      expect(heard).toContain('u');
    },
    { deadlineMs: 30_000 },
  );
  await Promise.all([identity.close(), gateway.close()]);
}, 60_000);

test('a further run changes a password, and the old one opens nothing', async () => {
  const users = (password: string) =>
    brokerUsersOf(migration({ [variable('catalog')]: urlOf('catalog', password) }))!;
  for (const password of ['first', 'second'])
    await ensureBrokerUsers(users(password), { namespace: 'n', log: silentLog });
  await server.control(['authenticate_user', 'baton-catalog', 'second']);
  await expect(server.control(['authenticate_user', 'baton-catalog', 'first'])).rejects.toThrow();
});

test('a refusal of the server is told in its words', async () => {
  const strange = new URL(server.apiUrl!);
  strange.password = 'wrong';
  const users = brokerUsersOf(migration({ BATON_RABBITMQ_API_URL: strange.href }))!;
  await expect(ensureBrokerUsers(users, { namespace: 'n', log: silentLog })).rejects.toThrow(
    'RabbitMQ answered 401',
  );
});

test('a missing, shared or plain address ends the job, and no password is repeated', () => {
  const problemOf = (more: Record<string, string>): string => {
    try {
      brokerUsersOf(migration(more));
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as Error).message;
    }
    return '';
  };
  expect(problemOf({})).toBe('');
  expect(problemOf({ [variable('worker')]: '' })).toContain('BATON_AMQP_URL_WORKER must be an address');
  expect(problemOf({ [variable('worker')]: urlOf('gateway') })).toContain('a user of its own');
  expect(problemOf({ [variable('worker')]: urlOf('worker').replace(/baton$/, 'other') })).toContain(
    'one virtual host',
  );
  expect(problemOf({ BATON_TLS: 'required' })).toContain('BATON_RABBITMQ_API_URL: must begin with https://');
  expect(problemOf({ BATON_TLS: 'required' })).not.toContain('guest:');
});
