import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { ModuleScope } from '../module/schema';
import { PLAN, type Plan } from '../state/drift';
import { readState } from '../state/read-state';
import { FILES } from '../state/state-keeper';
import { textOfFile, type Workspace } from '../workspace/workspace';

/** What a saved plan was made for: a plan for an empty state would fit any other empty state, also after it was applied. */
const FACTS = z.object({ lineage: z.string().nullable(), serial: z.number().nullable() });
type Facts = z.output<typeof FACTS>;

/** Makes a plan. `exitCode` 2: there is something to do. */
export async function makePlan(
  { terraform, variables, scratch, flags }: Workspace,
  more: readonly string[] = [],
): Promise<{ path: string; plan: Plan; exitCode: number; text: string }> {
  const path = join(scratch, 'made.tfplan');
  const { exitCode, stdout } = await terraform.run(
    [
      'plan',
      '-no-color',
      '-input=false',
      '-detailed-exitcode',
      `-out=${path}`,
      ...variables,
      ...more,
      ...flags('plan'),
    ],
    { ok: [0, 2] },
  );
  const parsed = PLAN.safeParse(await terraform.json(['show', '-no-color', '-json', path]));
  if (!parsed.success) throw new FatalError('terraform show printed a plan that cannot be read');
  return { path, plan: parsed.data, exitCode, text: stdout };
}

/** Stores a plan, with the state that it was made for. The facts go last: a plan without them is none. */
export async function savePlan(scope: ModuleScope, workspace: Workspace, path: string): Promise<void> {
  await scope.files.remove(FILES.planFacts);
  await scope.files.write(FILES.plan, await readFile(path));
  await scope.files.write(FILES.planFacts, JSON.stringify(await factsNow(workspace)));
}

/** Puts the saved plan beside the module; null: there is none. @throws FatalError when the state has changed since it was made */
export async function placeSavedPlan(scope: ModuleScope, workspace: Workspace): Promise<string | null> {
  const [facts, plan] = [await textOfFile(scope, FILES.planFacts), await scope.files.read(FILES.plan)];
  if (facts === null || plan === null) return null;
  const wanted = FACTS.parse(JSON.parse(facts));
  const now = await factsNow(workspace);
  if (wanted.lineage !== now.lineage || wanted.serial !== now.serial)
    throw new FatalError(
      `the saved plan does not fit any more: it was made for ${shown(wanted)}, and there is ${shown(now)}. ` +
        'Run terraform_plan again, or give force: true',
    );
  const path = join(workspace.scratch, 'saved.tfplan');
  await writeFile(path, plan, { mode: 0o600 });
  return path;
}

export async function forgetPlan({ files }: Pick<ModuleScope, 'files'>): Promise<void> {
  await files.remove(FILES.planFacts);
  await files.remove(FILES.plan);
}

async function factsNow({ terraform }: Workspace): Promise<Facts> {
  const { stdout } = await terraform.run(['state', 'pull'], { isDocument: true });
  const state = readState(stdout);
  return { lineage: state?.lineage ?? null, serial: state?.serial ?? null };
}

const shown = ({ serial }: Facts): string =>
  serial === null ? 'no state' : `the state with serial ${serial}`;
