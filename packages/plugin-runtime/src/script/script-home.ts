import { join } from 'node:path';
import type { Confinement } from '@baton/isolation';
import type { OperationSession } from '../context/session';
import { confinementIn, confinementOf, deploymentFolders } from './operation-places';
import { removeScript } from './place-script';
import { pythonEnv } from './process-run';
import { makeRunDir, type RunDir, type ScriptSettings } from './settings';
import type { WarmPython } from './warm-python';
import { startWarmServer, type WarmServer } from './warm-server';

/** Where a script runs. */
interface ScriptHome {
  runDir: RunDir;
  confinement: Confinement;
  /** Null: the processes of the script are started from the worker. */
  server: WarmServer | null;
  /** The file of the script once it is there; it is removed at the end. */
  placed: string | null;
  leave(): Promise<void>;
}

/** Returns the folders of a waiting server of the deployment, else fresh ones (docs/adr/0043-warm-scripts.md). */
export async function scriptHome(
  session: OperationSession,
  settings: ScriptSettings,
  warm: WarmPython | null,
): Promise<ScriptHome> {
  const server = warm && (await takeServer(session, settings, warm));
  if (server) {
    const home: ScriptHome = {
      runDir: server.runDir,
      confinement: server.confinement,
      server,
      placed: null,
      leave: async () => {
        if (home.placed !== null) await removeScript(home.placed);
        await warm.leave(server);
      },
    };
    return home;
  }
  const runDir = await makeRunDir(settings.workRoot, settings.isolation.accountOf(session.task.tenant));
  const confinement = await confinementOf(session, settings, runDir);
  return { runDir, confinement, server: null, placed: null, leave: runDir.remove };
}

async function takeServer(
  session: OperationSession,
  settings: ScriptSettings,
  warm: WarmPython,
): Promise<WarmServer | null> {
  const { tenant, deploymentId } = session.task;
  const folders = await deploymentFolders(session, settings.isolation);
  const place = { tenant, deploymentId, prefix: null, folders, module: '' };
  return warm.take(place, () => startServer(tenant, folders, settings), 'soon');
}

/** Starts a server for operations to come: it does not belong to the operation that asked for it. */
async function startServer(
  tenant: string,
  folders: readonly string[],
  settings: ScriptSettings,
): Promise<WarmServer | null> {
  const runDir = await makeRunDir(settings.workRoot, settings.isolation.accountOf(tenant));
  const spec = {
    command: {
      program: settings.python,
      args: ['-u', '-B', join(settings.assetsDir, 'python', 'baton_server.py')],
    },
    env: pythonEnv({ settings, runDir, ctxUrl: '' }),
  };
  return startWarmServer(spec, confinementIn(tenant, runDir, folders), runDir, settings);
}
