import type { AgentSettings } from '@baton/contracts';
import { type Log, Secret } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { TextSealPort } from '../../adapters/agents/text-seal.client';
import { settingsOf } from '../../domain/agents/agent-settings';
import { writeResealedEnv } from '../../store/agents/certificates.sql';
import type { DB } from '../../store/tables.gen';

export interface SettingsDeps {
  db: Db<DB>;
  seals: TextSealPort;
  log: Log;
  /** How long operations of an agent go on without a stream. */
  graceMs: number;
}

/** Settings as they are stored: the environment may hold secrets. */
export interface StoredSettings {
  tenant: string;
  name: string;
  /** AgentSettings without its environment; null: the agent was never given any. */
  settings: unknown;
  env_sealed: Buffer | null;
}

const useOf = ({ tenant, name }: Pick<StoredSettings, 'tenant' | 'name'>): string =>
  `agents/${JSON.stringify([tenant, name])}/env`;

/** Returns the settings in the form in which they are stored. Not in a transaction. */
export async function sealSettings(
  { seals }: Pick<SettingsDeps, 'seals'>,
  { tenant, name }: Pick<StoredSettings, 'tenant' | 'name'>,
  settings: AgentSettings,
): Promise<StoredSettings> {
  const { env } = settings;
  const isEmpty = Object.keys(env).length === 0;
  const env_sealed = isEmpty
    ? null
    : await seals.seal(useOf({ tenant, name }), new Secret(JSON.stringify(env)));
  return { tenant, name, settings: { ...settings, env: {} }, env_sealed };
}

/**
 * Returns AgentSettings as JSON. An environment that no configured master key opens is left out, which is logged: the next enrolment
 * gives it again. Not in a transaction.
 */
export async function settingsText(
  { db, seals, log, graceMs }: SettingsDeps,
  { tenant, name, settings, env_sealed: sealed }: StoredSettings,
): Promise<string> {
  const stored = (settings ?? settingsOf(undefined, graceMs)) as AgentSettings;
  if (sealed === null) return JSON.stringify(stored);
  const use = useOf({ tenant, name });
  const opened = await seals.open(use, sealed);
  if (opened === null) log.error({ tenant, agent: name }, 'the environment of an agent cannot be opened');
  if (opened?.isOutdated)
    await writeResealedEnv(db.query, tenant, name, sealed, await seals.seal(use, opened.text));
  return JSON.stringify({ ...stored, env: opened ? JSON.parse(opened.text.expose()) : {} });
}
