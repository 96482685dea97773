import { fillTemplate, refuseDoubles } from './id-template';

const values = { group_id: 'g', uuid: 'u-1', count: '3', blueprint_id: 'bp', site_name: 'here' };
const fill = (template: string, isStrict = true) => fillTemplate(template, values, 'id', isStrict);

it('fills every variable of the reference', () => {
  expect(fill('{group_id}-{uuid}.{count}.{blueprint_id}.{site_name}')).toBe('g-u-1.3.bp.here');
});

it('refuses another name in ids with what there is, and leaves it in display names', () => {
  expect(() => fill('{nope}')).toThrow(expect.objectContaining({ code: 'bad_parameters_error' }));
  expect(fill('{nope} {count}', false)).toBe('{nope} 3');
});

it('refuses an id that is asked for twice, naming the second', () => {
  expect(() => refuseDoubles(['a', 'b'], 'new_deployments')).not.toThrow();
  expect(() => refuseDoubles(['a', 'b', 'a'], 'new_deployments')).toThrow(
    expect.objectContaining({
      code: 'conflict_error',
      details: expect.objectContaining({ field: 'new_deployments.2.id' }),
    }),
  );
});
