/** The environment of programs: that of the process of the plugin, which has nothing of the worker's, and what the author adds. */
export const environmentWith = (added: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...added,
});
