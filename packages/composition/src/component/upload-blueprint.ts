import type { Json } from '@baton/kernel';
import { provideBlueprint } from '../blueprints';
import type { Scope } from '../scope';
import { componentConfigOf } from '../settings';

/** `create` of a component: its blueprint (reference/workflows.md 8.1). */
export async function uploadBlueprint(scope: Scope): Promise<Json> {
  await provideBlueprint(scope, componentConfigOf(scope).blueprint);
  return true;
}
