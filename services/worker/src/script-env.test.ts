import { scriptEnv, type WorkerConfig } from './config';

const envWith = (more: object) =>
  scriptEnv(
    { BATON_WORKER_PASS_ENV: [], BATON_WORKER_DOWNLOADS: 'allowed', ...more } as unknown as WorkerConfig,
    {
      PATH: '/opt/bin',
      BATON_SECRET_KEY: 'hidden',
      BATON_DOWNLOADS: 'allowed',
    },
  );

it('operations see no setting of the worker but whether they may download', () => {
  expect(envWith({})).toEqual({ PATH: '/opt/bin' });
  expect(envWith({ BATON_WORKER_DOWNLOADS: 'refused' })).toEqual({
    PATH: '/opt/bin',
    BATON_DOWNLOADS: 'refused',
  });
  // Who passes the variable on does not change the setting.
  const passed = { BATON_WORKER_PASS_ENV: ['BATON_DOWNLOADS'], BATON_WORKER_DOWNLOADS: 'refused' };
  expect(envWith(passed).BATON_DOWNLOADS).toBe('refused');
});
