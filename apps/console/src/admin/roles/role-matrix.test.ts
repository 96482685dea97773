import { permissionRows } from './role-matrix';

const authorization = {
  roles: [],
  permissions: {
    user_list: ['sys_admin'],
    agent_list: ['sys_admin', 'viewer'],
    widget_agents: ['viewer'],
    stage_configure: ['sys_admin'],
  },
};
const names = (text?: string, role?: string) =>
  permissionRows(authorization, text, role).map(({ permission }) => permission);

test('permissions are sorted; those of the old console are left out', () =>
  expect(names()).toEqual(['agent_list', 'user_list']));
test('a text narrows them', () => expect(names('USER')).toEqual(['user_list']));
test('a role narrows them', () => expect(names(undefined, 'viewer')).toEqual(['agent_list']));
