import { type TcpProxy, tcpProxy } from '@baton/testkit';

/** A way to a server over a bad network: `delay`, `blackhole`, `cut` and the others of TcpProxy, and packets that get lost. */
export interface Relay extends TcpProxy {
  /** Address that hosts dial. */
  host: string;
}

/**
 * Starts a relay that hosts reach at `host` (the managerAddress of their run), in front of a server of this machine. It stands in for
 * netem, which not every kernel has.
 */
export async function relay(host: string, target: { host: string; port: number }): Promise<Relay> {
  const proxy = await tcpProxy(target, host);
  return { ...proxy, host };
}
