import { combineStatuses, type FamilyMember, isLaterExecution, latestStatus, ownStatus } from './statuses';

describe('latestStatus', () => {
  it.each([
    ['pending', 'in_progress'],
    ['started', 'in_progress'],
    ['queued', 'in_progress'],
    ['cancelling', 'in_progress'],
    ['force_cancelling', 'in_progress'],
    ['kill_cancelling', 'in_progress'],
    ['terminated', 'completed'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
    ['scheduled', null],
    [null, null],
  ])('%s is shown as %s', (engine, shown) => expect(latestStatus(engine)).toBe(shown));
});

describe('ownStatus', () => {
  it.each([
    ['started', 'inactive', 'in_progress'],
    ['failed', 'active', 'requires_attention'],
    ['terminated', 'inactive', 'requires_attention'],
    ['terminated', 'active', 'good'],
    ['cancelled', 'active', 'good'],
    [null, 'active', 'good'],
  ])('%s and %s is %s', (engine, installation, own) => expect(ownStatus(engine, installation)).toBe(own));
});

describe('combineStatuses', () => {
  const member = (
    key: number,
    own: FamilyMember['own'],
    isEnvironment: boolean,
    children: number[] = [],
  ): FamilyMember => ({ key, own, isEnvironment, children });

  it('takes the worst below, and counts each descendant once', () => {
    // 1 -> 2 (environment) -> 3, 4; 1 -> 3: a diamond.
    const family = [
      member(1, 'good', true, [2, 3]),
      member(2, 'good', true, [3, 4]),
      member(3, 'in_progress', false),
      member(4, 'requires_attention', false),
    ];
    expect(combineStatuses(family, [1, 2, 4])).toEqual([
      {
        key: 1,
        status: 'requires_attention',
        servicesStatus: 'requires_attention',
        environmentsStatus: 'requires_attention',
        servicesCount: 2,
        environmentsCount: 1,
      },
      {
        key: 2,
        status: 'requires_attention',
        servicesStatus: 'requires_attention',
        environmentsStatus: null,
        servicesCount: 2,
        environmentsCount: 0,
      },
      {
        key: 4,
        status: 'requires_attention',
        servicesStatus: null,
        environmentsStatus: null,
        servicesCount: 0,
        environmentsCount: 0,
      },
    ]);
  });

  it('ends on a cycle that the database should not hold', () => {
    expect(
      combineStatuses([member(1, 'good', false, [2]), member(2, 'good', false, [1])], [1])[0]!.status,
    ).toBe('good');
  });
});

describe('isLaterExecution', () => {
  const first = '019ab000-0000-7000-8000-000000000001';
  const second = '019ab000-0000-7000-8000-000000000002';
  const foreign = 'f0000000-0000-4000-8000-000000000000';
  it.each([
    [second, first, true],
    [first, second, false],
    [first, first, false],
    [first, foreign, true],
    [foreign, first, false],
    [first, '', true],
  ])('%s is later than %s: %s', (one, other, isLater) => {
    expect(isLaterExecution(one, other)).toBe(isLater);
  });
});
