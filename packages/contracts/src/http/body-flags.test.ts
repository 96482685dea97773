import { initiateUpdateBody } from './deployment-updates';
import { logBundleRoutes } from './log-bundles';
import { putSecretBody } from './secrets';
import { usersRoutes } from './users';

test('flags of bodies may be written as words', () => {
  const update = initiateUpdateBody.parse({ force: 'True', skip_install: 'false', update_plugins: 'false' });
  expect(update).toMatchObject({ force: true, skip_install: false, update_plugins: false, preview: false });
  expect(
    putSecretBody.parse({ value: 'v', update_if_exists: 'true', is_hidden_value: 'FALSE' }),
  ).toMatchObject({
    update_if_exists: true,
    is_hidden_value: false,
  });
  expect(initiateUpdateBody.safeParse({ force: 'yes' }).success).toBe(false);
  expect(initiateUpdateBody.safeParse({ force: 1 }).success).toBe(false);
  const bodyOf = (routes: readonly { id: string }[], id: string) =>
    (routes.find((route) => route.id === id) as { body?: unknown }).body as {
      parse(value: unknown): unknown;
    };
  expect(bodyOf(logBundleRoutes, 'createLogBundle').parse({ queue: 'true' })).toEqual({ queue: true });
  const change = bodyOf(usersRoutes, 'updateUser').parse({ show_getting_started: 'false' });
  expect(change).toMatchObject({ show_getting_started: false });
});
