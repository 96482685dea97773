import type { BaseScope } from '@baton/plugin-sdk';
import { readInstance, readNode } from '../inventory/manager-reads';
import type { Place } from '../settings/place';
import type { Settings } from '../settings/settings';
import { build } from './build';
import { type AnsiblePrograms, findAnsible } from './programs';
import { extended, type Recipe, recipeOf } from './recipe';

const ANSIBLE_TYPE = 'cloudify.nodes.ansible.Ansible';
/** Runtime property of an installation: its recipe. */
export const RECIPE = 'ansible_installation';

/**
 * The Ansible of a run: the named program or venv; else that of the node of the type Ansible that the node is related to; else that
 * of the machine. Packages, collections and roles of the settings are added.
 */
export async function chooseAnsible(
  scope: BaseScope,
  place: Place,
  settings: Settings,
): Promise<AnsiblePrograms> {
  const isNamed = settings.ansible_playbook_executable_path !== '' || settings.ansible_external_venv !== '';
  const related = isNamed ? null : await relatedRecipe(scope, place);
  const recipe = extended(related ?? EMPTY, settings);
  return await build(scope, recipe, recipe.source === '' ? await findAnsible(settings) : null);
}

const EMPTY: Recipe = { source: '', packages: [], collections: [], roles: [] };

async function relatedRecipe(scope: BaseScope, { instance }: Place): Promise<Recipe | null> {
  for (const { targetNodeId, targetInstanceId } of instance.relationships) {
    const node = await readNode(scope, targetNodeId);
    if (!node?.type_hierarchy.includes(ANSIBLE_TYPE)) continue;
    const kept = (await readInstance(scope, targetInstanceId)).runtime_properties?.[RECIPE];
    if (typeof kept !== 'object' || kept === null) continue;
    const { source = '', packages = [], collections = [], roles = [] } = kept as Partial<Recipe>;
    return recipeOf(source, { extra_packages: packages, galaxy_collections: collections, roles });
  }
  return null;
}
