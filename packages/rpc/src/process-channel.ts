import type { ChildProcess } from 'node:child_process';
import type { RpcChannel } from './relay';

/**
 * Returns the channel to a forked child process, as its parent; with `process`, the channel to the parent. A message that can no
 * longer be sent is dropped: the close follows.
 */
export function processChannel(end: ChildProcess | NodeJS.Process): RpcChannel {
  const receivers: ((message: unknown) => void)[] = [];
  const receive = (message: unknown): void => {
    for (const call of receivers) call(message);
  };
  end.on('message', receive);
  return {
    isOpen: () => end.connected === true,
    send: (message) => void end.send?.(message, undefined, undefined, () => undefined),
    onMessage: (call) => void receivers.push(call),
    onClose: (call) => void end.once('disconnect', call),
    // Without a listener the channel no longer keeps the process alive.
    close: () => void end.off('message', receive),
  };
}
