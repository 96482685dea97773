import { createHash } from 'node:crypto';
import { FatalError } from '@baton/plugin-sdk';

/** What an installation consists of. It is stored in place of a path: the next operation may run on another machine. */
export interface Recipe {
  /** What pip installs; empty: Ansible of the machine. */
  source: string;
  packages: readonly string[];
  collections: readonly string[];
  roles: readonly string[];
}

/** @throws FatalError for a name that a program would take for an option */
export function recipeOf(
  source: string,
  { extra_packages: packages, galaxy_collections: collections, roles }: Lists,
): Recipe {
  const recipe = { source, packages, collections, roles };
  for (const name of [...packages, ...collections, ...roles, source])
    if (name.startsWith('-') || /[\0\n]/.test(name))
      throw new FatalError(`${JSON.stringify(name)} is no name of a package, collection or role`);
  return recipe;
}

interface Lists {
  extra_packages: readonly string[];
  galaxy_collections: readonly string[];
  roles: readonly string[];
}

/** A recipe with further packages, collections and roles. */
export function extended(recipe: Recipe, more: Lists): Recipe {
  const all = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];
  return recipeOf(recipe.source, {
    extra_packages: all(recipe.packages, more.extra_packages),
    galaxy_collections: all(recipe.collections, more.galaxy_collections),
    roles: all(recipe.roles, more.roles),
  });
}

export const needsNothing = ({ source, packages, collections, roles }: Recipe): boolean =>
  source === '' && packages.length + collections.length + roles.length === 0;

/** The same recipe has the same name of its folder. */
export const recipeDigest = (recipe: Recipe, base: string): string =>
  createHash('sha256')
    .update(JSON.stringify([recipe, base]))
    .digest('hex')
    .slice(0, 16);
