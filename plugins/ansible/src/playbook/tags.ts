import { FatalError, type InstanceContext } from '@baton/plugin-sdk';
import type { Settings } from '../settings/settings';
import type { TaskScope } from '../settings/task-scope';
import { playbookArguments } from './arguments';
import type { Workspace } from './workspace';

/** Runtime properties of the original: tags that remain, and tags that have run. */
const REMAINING = '___AVAILABLE_STEPS';
const COMPLETED = '___COMPLETED_TAGS';

/**
 * Runs `work` for each list of tags, one after another: those of the settings, or with `auto_tags` those of the playbook. Which tags
 * have run is stored after each, so that another try, or another worker, goes on behind it. Without tags `work` runs once.
 */
export async function forEachTag(
  scope: TaskScope,
  instance: InstanceContext,
  settings: Settings,
  workspace: Workspace,
  work: (tags: readonly string[]) => Promise<void>,
): Promise<void> {
  const all = await tagsOf(scope, settings, workspace);
  if (all.length === 0) return await work([]);
  const known = instance.runtimeProperties[COMPLETED];
  const done = (Array.isArray(known) ? known.map(String) : []).filter((tag) => all.includes(tag));
  for (const tag of all) {
    if (done.includes(tag)) continue;
    await work([tag]);
    done.push(tag);
    instance.runtimeProperties = {
      ...instance.runtimeProperties,
      [COMPLETED]: [...done],
      [REMAINING]: all.filter((one) => !done.includes(one)),
    };
    await instance.update();
  }
  // The next run begins with the first tag again.
  const { [COMPLETED]: _, [REMAINING]: __, ...others } = instance.runtimeProperties;
  instance.runtimeProperties = others;
}

/** The tags to run; none: the playbook runs as a whole. */
export async function tagsOf(scope: TaskScope, settings: Settings, workspace: Workspace): Promise<string[]> {
  if (settings.tags.length > 0) return requireTags(settings.tags);
  const { tags } = settings.options_config;
  if (Array.isArray(tags) && tags.length > 0) return requireTags([tags.map(String).join(',')]);
  if (typeof tags === 'string' && tags !== '') return requireTags([tags]);
  return settings.auto_tags ? await tagsOfPlaybook(scope, settings, workspace) : [];
}

function requireTags(tags: readonly string[]): string[] {
  const wrong = tags.find((tag) => !/^[^\s]/.test(tag));
  if (wrong !== undefined) throw new FatalError(`tags: ${JSON.stringify(wrong)} is no tag`);
  return [...tags];
}

/** The tags of the playbook in the order of its tasks. */
async function tagsOfPlaybook(scope: TaskScope, settings: Settings, workspace: Workspace): Promise<string[]> {
  const { args } = playbookArguments({ ...settings, debug_level: 0 }, workspace, {
    tags: [],
    isCheck: false,
  });
  const { file, before } = workspace.programs.playbook;
  const { stdout } = await scope.exec(file, [...before, '--list-tasks', ...args], {
    cwd: workspace.folder,
    env: { ...workspace.env, ANSIBLE_STDOUT_CALLBACK: 'default' },
    exitCodes: { 1: 'fatal', 2: 'fatal', 4: 'fatal', 5: 'fatal' },
  });
  return tagsIn(stdout);
}

/** Reads the answer of `--list-tasks`: each task ends with its tags. */
export function tagsIn(text: string): string[] {
  const found = [...text.matchAll(/TAGS: \[([^\]]*)\]/g)].flatMap(([, list]) => list!.split(','));
  return [...new Set(found.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
}
