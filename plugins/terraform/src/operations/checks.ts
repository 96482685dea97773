import { FatalError } from '@baton/plugin-sdk';
import type { ModuleScope } from '../module/schema';
import { differencesOf } from '../state/drift';
import { managedAddresses, readState } from '../state/read-state';
import { inWorkspace, type Workspace } from '../workspace/workspace';
import { keepPlan } from './keep-results';
import { makePlan, savePlan } from './plan-file';

/** Makes a plan and stores it: the next apply carries out this plan and no other. Changes no resource. */
export async function plan(scope: ModuleScope): Promise<void> {
  const isFresh = ['source', 'source_path'].some(
    (name) => scope.inputs[name] !== undefined && scope.inputs[name] !== '',
  );
  await inWorkspace(scope, { state: 'reads', isFresh }, async (workspace) => {
    const made = await makePlan(workspace, ['-lock=false']);
    keepPlan(scope, made.plan, made.text);
    await savePlan(scope, workspace, made.path);
    scope.log.info(lastLine(made.text));
  });
}

const lastLine = (text: string): string =>
  text.split('\n').find((line) => /^(Plan:|No changes)/.test(line)) ?? 'The plan is stored';

/**
 * Compares the module with the world. Answers what differs as data: path, stored and present value; null: nothing differs.
 * Changes neither resources nor state.
 */
export async function checkDrift(scope: ModuleScope) {
  return await inWorkspace(scope, { state: 'reads' }, async (workspace) => {
    await requireState(workspace);
    const found = differencesOf((await makePlan(workspace, ['-lock=false'])).plan);
    scope.runtime.is_drifted = found.length > 0;
    scope.runtime.drifts = Object.fromEntries(
      found.map(({ path, stored, present }) => [path, { stored, present }]),
    );
    return found.length > 0 ? found.map((one) => ({ ...one })) : null;
  });
}

/** Fails when a resource that the state knows is gone, or when there is no state at all. */
export async function checkStatus(scope: ModuleScope): Promise<void> {
  await inWorkspace(scope, { state: 'reads' }, async (workspace) => {
    await requireState(workspace);
    const { plan: refreshed } = await makePlan(workspace, ['-refresh-only', '-lock=false']);
    const gone = refreshed.resource_drift.filter(({ change }) => change.actions.includes('delete'));
    if (gone.length > 0)
      throw new FatalError(`resources are gone: ${gone.map(({ address }) => address).join(', ')}`);
  });
}

async function requireState({ terraform }: Workspace): Promise<void> {
  const { stdout } = await terraform.run(['state', 'pull'], { isDocument: true });
  if (managedAddresses(readState(stdout)).length === 0)
    throw new FatalError(
      'the state of the module holds no resources: it was not applied, or all of them were destroyed',
    );
}
