/** Runs the client of ctx that has no needs besides this program; it sets the exit code itself. */
export async function runCtx(args: readonly string[]): Promise<null> {
  process.argv = [process.execPath, 'ctx', ...args];
  // @ts-expect-error: a script without types.
  await import('../../../../packages/plugin-runtime/bin/ctx-client.cjs');
  return null;
}
