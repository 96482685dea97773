import * as z from 'zod';
import { keep, type Place, placeOf } from '../settings/place';
import { ANSIBLE_PROPERTIES } from '../settings/schema';
import type { TaskScope } from '../settings/task-scope';
import { build } from './build';
import { RECIPE } from './choose';
import { findAnsible } from './programs';
import { extended, type Recipe, recipeOf } from './recipe';

const list = z.array(z.string()).default([]);
const LISTS = z.object({ extra_packages: list, galaxy_collections: list, roles: list });

/** Installs Ansible, or finds the one that the node names (ansible.cloudify_ansible.tasks.install). */
export async function install(scope: TaskScope): Promise<void> {
  const place = await placeOf(scope.ctx);
  const properties = propertiesOf(place);
  const source = usesExisting(properties) ? '' : properties.installation_source;
  await make(scope, place, recipeOf(source, properties));
}

/** Adds packages, collections and roles (ansible.cloudify_ansible.tasks.update_venv). */
export async function updateVenv(scope: TaskScope): Promise<void> {
  const place = await placeOf(scope.ctx);
  const known = place.instance.runtimeProperties[RECIPE] as unknown as Recipe | undefined;
  const recipe = known ?? recipeOf('', propertiesOf(place));
  const given = Object.entries(scope.inputs).filter(([, value]) => value !== null);
  await make(scope, place, extended(recipe, LISTS.parse(Object.fromEntries(given))));
}

/** The recipe is stored first: another machine makes the same installation from it. */
async function make(scope: TaskScope, place: Place, recipe: Recipe): Promise<void> {
  keep(place.instance, {
    [RECIPE]: recipe,
    installed_packages: recipe.packages,
    installed_collections: recipe.collections,
    installed_roles: recipe.roles,
  });
  const base = recipe.source === '' ? await findAnsible(propertiesOf(place)) : null;
  const programs = await build(scope, recipe, base);
  scope.log.info(`Ansible is ${programs.playbook.file}`);
}

const propertiesOf = ({ node }: Place) => ANSIBLE_PROPERTIES.parse(node.properties);

const usesExisting = (properties: z.output<typeof ANSIBLE_PROPERTIES>): boolean =>
  properties.use_existing_resource ||
  properties.ansible_external_venv !== '' ||
  properties.ansible_playbook_executable_path !== '';
