/** The parent routes of all screens. In their own file, so that each area can define its own routes. */
import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { Shell } from './shell/shell';

export const rootRoute = createRootRoute({ component: Outlet });
export const tenantRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/$tenant',
  component: Shell,
});
