import { workerEnvironment } from './worker-environment';

const SECRETS = {
  DATABASE_URL: 'postgres://baton:s3cret@db/baton',
  REDIS_URL: 'redis://:s3cret@cache',
  AMQP_URL: 'amqp://baton:s3cret@mq',
  BATON_ADMIN_PASSWORD: 's3cret',
  BATON_S3_SECRET_ACCESS_KEY: 's3cret',
  BATON_S3_ACCESS_KEY_ID: 's3cret',
  BATON_SECRETS_KEY_FILE: '/home/s3cret',
  AWS_SECRET_ACCESS_KEY: 's3cret',
  SOME_TOKEN: 's3cret',
  BATON_INTERNAL_KEY: 's3cret',
  BATON_WORKER_JOIN_TOKEN: 's3cret',
  BATON_TLS: 'required',
  BATON_TLS_KEY_FILE: '/keys/s3cret',
};

test('a worker gets what it reads and what scripts see, and no secret of the manager', () => {
  const env = workerEnvironment({
    ...SECRETS,
    BATON_BROKER: 'postgres',
    BATON_WORKER_SLOTS: '3',
    BATON_LOG_LEVEL: 'warn',
    BATON_HOME: '/home/x',
    PATH: '/bin',
    LC_ALL: 'C',
    NODE_OPTIONS: '--x',
    BATON_WORKER_PASS_ENV: 'MY_SETTING, OTHER',
    MY_SETTING: 'mine',
  });
  expect(Object.keys(env).sort()).toEqual([
    'BATON_LOG_LEVEL',
    'BATON_WORKER_PASS_ENV',
    'BATON_WORKER_SLOTS',
    'LC_ALL',
    'MY_SETTING',
    'NODE_OPTIONS',
    'PATH',
  ]);
  expect(JSON.stringify(env)).not.toContain('s3cret');
});

test('messages go through its parent, whichever broker there is', () => {
  for (const BATON_BROKER of ['rabbitmq', 'postgres'])
    expect(workerEnvironment({ ...SECRETS, BATON_BROKER })).not.toHaveProperty('AMQP_URL');
});
