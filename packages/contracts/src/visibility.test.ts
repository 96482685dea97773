import type { Principal } from './principal';
import { visibilityOfNew, widensVisibility } from './visibility';

const user = { username: 'bob', permissions: [], isBootstrapAdmin: false } as unknown as Principal;
const admin = {
  username: 'admin',
  permissions: ['create_global_resource'],
  isBootstrapAdmin: false,
} as unknown as Principal;

it('lets visibility only widen, and global only with the permission', () => {
  expect(widensVisibility(user, 'private', 'tenant')).toBe(true);
  expect(widensVisibility(user, 'global', 'global')).toBe(false);
  expect(widensVisibility(admin, 'tenant', 'global')).toBe(true);
  expect(() => widensVisibility(user, 'tenant', 'global')).toThrow(
    expect.objectContaining({ code: 'forbidden_error' }),
  );
  expect(() => widensVisibility(admin, 'global', 'tenant')).toThrow(
    expect.objectContaining({ code: 'illegal_action_error' }),
  );
});

it('knows the old way to say private, but not both ways', () => {
  expect(visibilityOfNew(user, undefined, undefined)).toBe('tenant');
  expect(visibilityOfNew(user, undefined, true)).toBe('private');
  expect(() => visibilityOfNew(user, 'tenant', false)).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error' }),
  );
  expect(() => visibilityOfNew(user, 'global', undefined)).toThrow(
    expect.objectContaining({ code: 'forbidden_error' }),
  );
});
