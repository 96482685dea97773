/** The environment of programs: that of the process of the plugin, which has nothing of the worker's, and what the author adds. */
export const environmentWith = (added: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...added,
});

/** Address of the API of the manager, from the variables that every operation has; null: there are none. */
export function managerAddress(): string | null {
  const { REST_PROTOCOL: protocol, REST_HOST: host, REST_PORT: port } = process.env;
  if (!protocol || !host || !port) return null;
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}/api/v3.1`;
}

/** Folders in which programs are looked for. */
export const searchPath = (): string => process.env.PATH ?? '';

/** Whether the worker lets plugins download programs (BATON_WORKER_DOWNLOADS). */
export const downloadsAreRefused = (): boolean => process.env.BATON_DOWNLOADS === 'refused';
