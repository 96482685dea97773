import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';
import { LINTERS, type ModuleScope } from '../module/schema';
import { inWorkspace, type Workspace } from '../workspace/workspace';
import { makePlan } from './plan-file';

/** Programs that look at a module. Each is run when the node gives it, or the machine has it; nothing is downloaded. */
export type Linter = keyof typeof LINTERS;

interface Checked {
  executable_path?: string | undefined;
  enable: boolean;
  flags_override?: readonly (string | Record<string, unknown>)[];
  config?: unknown;
  env?: Record<string, unknown> | undefined;
  tags?: Record<string, unknown>;
  api_key?: string;
}

/** Runs the linters that look at the module before an apply: terratag, tflint, tfsec, in this order. */
export async function runEnabledLinters(scope: ModuleScope, workspace: Workspace): Promise<void> {
  for (const linter of ['terratag', 'tflint', 'tfsec'] as const) {
    const config = scope.properties[`${linter}_config`];
    if (config?.enable) await runLinter(scope, workspace, linter, config);
  }
}

/** The operation of one linter; its input `<linter>_config` goes before the property. */
export const lint =
  (linter: Linter) =>
  async (scope: ModuleScope): Promise<void> => {
    const given = scope.inputs[`${linter}_config`] ?? scope.properties[`${linter}_config`] ?? {};
    const parsed = LINTERS[linter].safeParse(given);
    if (!parsed.success)
      throw new FatalError(
        `${linter}_config.${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`,
      );
    await inWorkspace(scope, { state: 'reads' }, (workspace) =>
      runLinter(scope, workspace, linter, parsed.data as Checked),
    );
  };

async function runLinter(
  scope: ModuleScope,
  workspace: Workspace,
  linter: Linter,
  config: Checked,
): Promise<void> {
  const program = config.executable_path ?? linter;
  const place = await mkdtemp(join(tmpdir(), 'linter-'));
  try {
    const args = await argumentsOf(scope, workspace, linter, config, place);
    const { stdout } = await scope.exec(program, args, {
      cwd: workspace.folder,
      env: { ...workspace.settings.environment, ...environmentOf(config) },
      exitCodes: LINT_CODES,
      onLine: (line) => scope.log.info(line),
    });
    if (linter === 'infracost') scope.runtime.infracost = parsedOr(stdout);
    if (linter === 'opa') judge(scope, stdout);
  } catch (cause) {
    if (cause instanceof FatalError && cause.message.includes('cannot be run'))
      throw new FatalError(
        `${linter} is not on this machine: give its path as ${linter}_config.executable_path, nothing is downloaded`,
        { cause },
      );
    throw cause;
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** What a linter finds is no passing failure. */
const LINT_CODES = Object.fromEntries(Array.from({ length: 255 }, (_, code) => [code + 1, 'fatal' as const]));

const environmentOf = ({ env = {}, api_key: key = '' }: Checked): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
  ...(key === '' ? {} : { INFRACOST_API_KEY: key }),
});

const flagsOf = (flags: Checked['flags_override'] = []): string[] =>
  flags.flatMap((flag) =>
    typeof flag === 'string'
      ? [`--${flag.replace(/^-+/, '').replaceAll('_', '-')}`]
      : Object.entries(flag).map(([name, value]) => `--${name}=${String(value)}`),
  );

async function argumentsOf(
  scope: ModuleScope,
  workspace: Workspace,
  linter: Linter,
  config: Checked,
  place: string,
): Promise<string[]> {
  const flags = flagsOf(config.flags_override);
  if (linter === 'tflint') return flags;
  if (linter === 'tfsec') return ['.', '--no-color', ...flags];
  if (linter === 'terratag') return [`-tags=${JSON.stringify(config.tags ?? {})}`, ...flags];
  const { path } = await makePlan(workspace, ['-lock=false']);
  const document = join(place, 'plan.json');
  await writeFile(document, JSON.stringify(await workspace.terraform.json(['show', '-json', path])), {
    mode: 0o600,
  });
  if (linter === 'infracost') return ['breakdown', `--path=${document}`, '--format=json', '--no-color'];
  const { decision = 'terraform/deny' } = scope.inputs;
  return ['exec', `--decision=${String(decision)}`, ...flags, document];
}

/** A decision that holds anything refuses the plan. */
function judge(scope: ModuleScope, stdout: string): void {
  const answer = parsedOr(stdout);
  scope.runtime.opa_evaluation_result = answer;
  const results = (answer as { result?: { result?: unknown }[] } | null)?.result ?? [];
  const refusals = results.flatMap(({ result }) => (Array.isArray(result) ? result : []));
  if (refusals.length > 0)
    throw new FatalError(`the policy refuses the plan: ${refusals.map(String).join('; ').slice(0, 1000)}`);
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.slice(0, 100_000);
  }
}
