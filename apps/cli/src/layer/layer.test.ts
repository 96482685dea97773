import type { OperationId } from '@baton/client';
import { quietIo } from '../testing-io';
import { createCli, noun } from './define';
import { listOptions, listQuery } from './list-options';
import { getCommand } from './resource';
import { rulesOf } from './rules';

test.each([
  ['env=prod', { key: 'env', values: ['prod'], operator: 'any_of' }],
  ['env=[prod, stage]', { key: 'env', values: ['prod', 'stage'], operator: 'any_of' }],
  ['env!=prod', { key: 'env', values: ['prod'], operator: 'not_any_of' }],
  ['env is-not prod', { key: 'env', values: ['prod'], operator: 'is_not' }],
  ['env is null', { key: 'env', values: [], operator: 'is_null' }],
  ['env is not null', { key: 'env', values: [], operator: 'is_not_null' }],
])('--labels-rule "%s"', (text, rule) =>
  expect(rulesOf({ labelsRule: [text] })).toEqual([{ ...rule, type: 'label' }]),
);

test.each([
  ['blueprint_id contains web', { key: 'blueprint_id', values: ['web'], operator: 'contains' }],
  ['id does-not-contain a=b', { key: 'id', values: ['a=b'], operator: 'not_contains' }],
  ['id starts-with x', { key: 'id', values: ['x'], operator: 'starts_with' }],
  ['id ends-with x', { key: 'id', values: ['x'], operator: 'ends_with' }],
  ['schedules is not empty', { key: 'schedules', values: [], operator: 'is_not_empty' }],
  ['site_name=lab', { key: 'site_name', values: ['lab'], operator: 'any_of' }],
])('--attrs-rule "%s"', (text, rule) =>
  expect(rulesOf({ attrsRule: [text] })).toEqual([{ ...rule, type: 'attribute' }]),
);

test('options of a list follow its contract', () => {
  const names = (id: OperationId) => listOptions(id).map(({ long }) => long);
  expect(names('listDeployments')).toEqual(
    expect.arrayContaining([
      '--search',
      '--where',
      '--sort',
      '--size',
      '--all-tenants',
      '--filter-id',
      '--group-id',
    ]),
  );
  expect(names('listExecutions')).toContain('--system');
  expect(names('listTenants')).not.toContain('--all-tenants');
});

test('values of one field are alternatives, and sorting keeps its order', () => {
  const where = ['status=failed', 'status=cancelled', 'error=a=b'];
  expect(listQuery('listExecutions', { where, sort: ['-created_at', 'id'], system: true })).toMatchObject({
    status: ['failed', 'cancelled'],
    error: ['a=b'],
    _sort: ['-created_at', 'id'],
    _include_system_workflows: true,
  });
});

test('a row of the table that names a wrong parameter cannot be built', () => {
  const cli = createCli(quietIo().io);
  const about = { operation: 'getSite', param: 'site', about: 'show a site', columns: ['name'] } as const;
  expect(() => getCommand(cli, noun(cli, 'sites', { about: 'sites' }), about)).toThrow(
    'getSite has no parameter site',
  );
});
