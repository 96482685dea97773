import { directOperation } from '@baton/plugin-sdk';
import { runScriptAt } from '@baton/plugin-sdk/ssh';
import { atHost } from '../host/at-host';
import { readScript } from './read-script';
import { readScriptInputs } from './script-inputs';

/**
 * Runs a script at a host. It may call `ctx` there: calls come back through a port that the host forwards to this process.
 * @returns what the script gave to `ctx returns`
 * @throws as its exit code says; FatalError after `ctx abort-operation`, OperationRetry after `ctx retry-operation`
 */
export const runScript = directOperation({
  run: async (scope) => {
    const { ctx, log, signal } = scope;
    const inputs = readScriptInputs(scope.inputs);
    const script = await readScript(ctx, inputs.path);
    return await atHost(scope, ({ connection, options }) =>
      runScriptAt(connection, {
        ...script,
        args: inputs.args,
        prefix: inputs.prefix,
        env: inputs.env,
        cwd: inputs.cwd,
        baseDir: inputs.baseDir,
        options,
        signal,
        serve: inputs.hasCtx ? (files) => ctx.remoteCtx(files) : null,
        onPlace: (file) => log.debug(`the script is ${file} at ${connection.name}`),
      }),
    );
  },
});
