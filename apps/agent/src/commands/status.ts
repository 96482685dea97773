import { exitCodes } from '../exit-codes';
import type { Places } from '../places';
import { holderOf } from '../run/lock';
import { askStatus } from '../run/status-socket';
import { readUpgrade } from '../upgrade/versions';

/** Prints JSON. Exit code: 0 with a stream, 41 without one, 1 when the agent does not run. */
export async function showStatus(places: Places): Promise<number> {
  const status = await askStatus(places.socket);
  const shown = status ?? { isRunning: false, pid: holderOf(places.lock), upgrade: readUpgrade(places) };
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
  if (!status) return exitCodes.failed;
  return status.isConnected === true ? exitCodes.ok : exitCodes.unreachable;
}
