import { type ProxySettings, proxyOfEnvironment } from '@baton/agent-link';
import type { AgentConfig } from '../config';

/** Returns the proxy of the configuration, else that of the environment. */
export function proxyOf(
  { proxy, noProxy }: Pick<AgentConfig, 'proxy' | 'noProxy'>,
  env: Record<string, string | undefined> = process.env,
): ProxySettings {
  const given = proxyOfEnvironment(env);
  return { url: proxy ?? given.url, except: noProxy ?? given.except };
}
