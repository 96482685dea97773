import { faultOf, screenOf, viewsOf } from './view-rules';
import type { SavedView } from './views';

const view = (name: string, more: Partial<SavedView> = {}): SavedView => ({
  name,
  screen: 'deployments',
  query: '',
  is_shared: false,
  created_by: 'ann',
  ...more,
});

test('a screen is what stands after the tenant', () => {
  expect(screenOf('/default_tenant/deployments')).toBe('deployments');
  expect(screenOf('/a%20b/filters/blueprints')).toBe('filters/blueprints');
});

test('a screen shows its own views, one’s own before those of others', () => {
  const views = [view('b'), view('a', { created_by: 'bob' }), view('a'), view('c', { screen: 'secrets' })];
  expect(viewsOf(views, 'deployments', 'ann').map(({ name, created_by }) => [name, created_by])).toEqual([
    ['a', 'ann'],
    ['a', 'bob'],
    ['b', 'ann'],
  ]);
});

test('a name of another screen would be lost there', () => {
  const views = [
    view('mine', { screen: 'secrets' }),
    view('theirs', { screen: 'secrets', created_by: 'bob' }),
  ];
  expect(faultOf(' mine ', views, 'deployments', 'ann')).toContain('secrets');
  expect(faultOf('mine', views, 'secrets', 'ann')).toBeNull();
  expect(faultOf('theirs', views, 'deployments', 'ann')).toBeNull();
});
