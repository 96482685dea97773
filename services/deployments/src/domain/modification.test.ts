import { checkModified, type ModifiedNodes, mergeRelationships } from './modification';

const rel = (target_name: string, target_id: string, type = 'connected') => ({
  type,
  target_name,
  target_id,
});

it('puts new relationships where the template has them, none twice', () => {
  const template = [
    { type: 'contained', target_id: 'host' },
    { type: 'connected', target_id: 'db' },
    { type: 'connected', target_id: 'lb' },
  ];
  const current = [rel('host', 'host_1', 'contained'), rel('lb', 'lb_1')];
  expect(
    mergeRelationships(current, [rel('db', 'db_2'), rel('lb', 'lb_1'), rel('db', 'db_1')], template).map(
      (r) => r.target_id,
    ),
  ).toEqual(['host_1', 'db_2', 'db_1', 'lb_1']);
});

it('knows bounds, and that -1 is none', () => {
  const scalables = [
    { name: 'vm', isGroup: false, min: 1, max: 3 },
    { name: 'g', isGroup: true, min: 0, max: -1 },
  ];
  const check = (modified: ModifiedNodes, isBounded = true): void =>
    checkModified(modified, scalables, isBounded);
  expect(() => check({ vm: { instances: 3 }, g: { instances: 1000 } })).not.toThrow();
  expect(() => check({ vm: { instances: 0 } })).toThrow(
    expect.objectContaining({ code: 'illegal_action_error' }),
  );
  expect(() => check({ nope: { instances: 1 } })).toThrow(
    expect.objectContaining({ code: 'not_found_error' }),
  );
  expect(() => check({ vm: { instances: 0 }, g: { instances: 0 } }, false)).not.toThrow();
  expect(() => check({ vm: { instances: 4 } }, false)).not.toThrow();
  expect(() => check({ vm: { instances: -1 } }, false)).toThrow(
    expect.objectContaining({ code: 'illegal_action_error' }),
  );
});
